//! Stats over the network: a client knows defaults before any state, and observes stats that have not arrived.

use std::sync::{Arc, Mutex};
use ugas::{Observers, StatError};
use ugas_core::{Rules, Sim, SimConfig, SpawnSpec, Spec};
use ugas_doc::{Effect, Stat, StatTable};
use ugas_net::client::NetFacts;
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

// covers: SAI-4.2-05, SAI-4.1-05, SAI-4.2-02
#[test]
fn an_observer_of_a_stat_that_has_not_arrived_is_called_once_when_it_arrives_and_then_at_each_change() {
    let stats = StatTable::new("Stats")
        .with(Stat::new("Stat.MaxMana", 120.0))
        .with(Stat { modifiable: false, ..Stat::new("Stat.Mass", 80.0) });
    let rules = Rules::builder().add(stats).add(Effect::infinite("GE_Mind").add("Stat.MaxMana", 30.0)).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let spec = SpawnSpec::default().stats([rules.set("Stats").unwrap()]);
    let hero = sim.spawn(spec).unwrap();
    let mind = rules.effect("GE_Mind").unwrap();
    sim.apply(&Spec::new(mind, hero)).unwrap();
    let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
    net.join("Ana", LinkProfile::round_trip(100, 0), &[hero]).unwrap();

    let mana = rules.attribute("Stat.MaxMana").unwrap();
    let client = net.client("Ana").sim();
    assert!(client.get(hero, mana).is_err(), "nothing has arrived");
    assert_eq!(client.rules().stat_default(mana), Some(120.0));

    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    let mut observers = Observers::default();
    let fixed = observers.on_stat(client, rules.attribute("Stat.Mass").unwrap(), hero, |_| {});
    assert_eq!(fixed.err(), Some(StatError::Fixed));
    observers.on_stat(client, mana, hero, move |notice| list.lock().unwrap().push((notice.old, notice.value))).unwrap();
    let mut run = |net: &mut Harness, ticks: u32| {
        let mut facts = NetFacts::default();
        for _ in 0..ticks {
            net.run(1);
            net.client_mut("Ana").take_facts(&mut facts);
            observers.dispatch(net.client("Ana").sim(), &facts);
        }
        std::mem::take(&mut *seen.lock().unwrap())
    };
    assert_eq!(run(&mut net, 60), [(None, 150.0)], "the value of the server, not the default");
    net.server_mut().sim_mut().apply(&Spec::new(mind, hero)).unwrap();
    assert_eq!(run(&mut net, 30), [(Some(150.0), 180.0)]);
    assert_eq!(run(&mut net, 30), []);
}
