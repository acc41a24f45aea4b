//! A client that disconnects with held inputs: the server releases them.

use std::sync::Arc;
use ugas_core::{AbilityGrant, ControllerId, FactKind, Facts, InputId, Op, Rules, Sim, SimConfig, SpawnSpec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

const FIRE: InputId = InputId(3);
const GUARD: InputId = InputId(4);

fn game(release: bool) -> (Harness, Arc<Rules>, ControllerId) {
    let own = |effect: &str| AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect);
    let rules = Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(Effect::instant("GE_Shot").add("Health", -1.0))
        .add(Ability::new("GA_Charge").task(AbilityTask::new("WaitInputRelease")).task(own("GE_Shot")))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let grant = AbilityGrant::new(rules.ability("GA_Charge").unwrap()).input(FIRE);
    sim.run(Op::Grant { who: hero, grant }).unwrap();
    let config = ServerConfig { release_inputs: release, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
    net.join("Ana", LinkProfile::GOOD, &[hero]).unwrap();
    net.run(60);
    for input in [FIRE, GUARD] {
        net.client_mut("Ana").command(Request::Press { who: hero, input, target: Target::None }).unwrap();
    }
    net.run(30);
    assert_eq!(net.server().sim().held_inputs(hero).unwrap(), [FIRE, GUARD]);
    (net, rules, hero)
}

#[test]
fn held_inputs_are_released_on_disconnect() {
    let (mut net, rules, hero) = game(true);
    let health = |net: &Harness| net.server().sim().get(hero, rules.attribute("Health").unwrap()).unwrap();
    net.server_mut().sim_mut().keep_journal(hero).unwrap();
    let noted = net.server().sim().remote().journal_len(hero);
    let mut facts = Facts::default();
    net.server_mut().take_facts(&mut facts);
    net.disconnect("Ana");
    assert_eq!(net.server().sim().remote().journal_len(hero), noted + 1, "one op like any other, in the journal too");
    net.run(1);
    assert!(net.server().sim().held_inputs(hero).unwrap().is_empty());
    assert_eq!(health(&net), 99.0, "the task that waited for the release continues");
    net.server_mut().take_facts(&mut facts);
    let up = facts.list.iter().filter(|f| matches!(f.kind, FactKind::Input { pressed: false, .. }));
    assert_eq!(up.count(), 2, "the releases are reported");
    net.reconnect("Ana").unwrap();
    net.run(60);
    assert_eq!(net.client("Ana").sim().held(hero, FIRE), Ok(None));
}

#[test]
fn held_inputs_stay_down_if_the_host_configures_it() {
    let (mut net, _, hero) = game(false);
    net.disconnect("Ana");
    net.run(30);
    assert_eq!(net.server().sim().held_inputs(hero).unwrap(), [FIRE, GUARD]);
}
