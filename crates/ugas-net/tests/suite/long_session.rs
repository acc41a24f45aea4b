//! A session that is longer than the range of the packet numbers.

use ugas_core::{AbilityGrant, Op, Rules, Sim, SimConfig, SpawnSpec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

#[test]
fn every_command_of_seventy_thousand_ticks_is_accepted() {
    let set = AttributeSet::new("S").with(Attribute::new("Mana", 1e9));
    let hit = Effect::instant("GE_Hit").add("Mana", -1.0);
    let ability = Ability::new("GA").task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Hit"));
    let rules = Rules::builder().add(set).add(hit).add(ability).build().unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
    let ability = rules.ability("GA").unwrap();
    sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
    let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
    net.join("Ana", LinkProfile::round_trip(60, 0), &[who]).unwrap();
    net.run(60);
    let sent = 70_000;
    for _ in 0..sent {
        net.client_mut("Ana").command(Request::Activate { who, ability, target: Target::None }).unwrap();
        net.run(1);
    }
    net.run(60);
    let mana = rules.attribute("Mana").unwrap();
    assert_eq!(1e9 - net.server().sim().get(who, mana).unwrap(), f64::from(sent));
    assert_eq!(net.client("Ana").counts().corrections, 0);
}
