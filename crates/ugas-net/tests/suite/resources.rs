//! Resources over the network: a client reports a resource when it arrives, predicts costs, and leaves all other changes
//! to the server.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AttributeId, ControllerId, Fact, FactKind, Op, Refusal, ResourceStep, Rules, Sim, SimConfig,
    SpawnSpec, Target,
};
use ugas_doc::{
    Ability, Attribute, AttributeSet, Controller, ControllerReplication, Effect, ReplicationMode, Resource,
    ResourceValues,
};
use ugas_net::client::{Certainty, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

fn rules() -> Arc<Rules> {
    let secret = Resource { replication_mode: ReplicationMode::None, ..Resource::new("Doom", 3.0).max(9.0) };
    let hero = Controller::new("Hero").set("Vitals").resource(ResourceValues::new("Mana"));
    let hero = hero.resource(ResourceValues::new("Doom"));
    Rules::builder()
        .add(Controller { replication_mode: ControllerReplication::Full, ..hero })
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0)))
        .add(Resource::new("Mana", 80.0).max(100.0))
        .add(Resource::new("Rage", 0.0).max(100.0))
        .add(secret)
        .add(Effect::instant("GE_Cost").add("Mana", -30.0))
        .add(Ability { cost: Some("GE_Cost".into()), ..Ability::new("GA_Spark") })
        .build()
        .unwrap()
}

fn session() -> (Harness, ControllerId, Arc<Rules>) {
    let rules = rules();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let hero = sim.spawn(SpawnSpec::template(rules.template("Hero").unwrap())).unwrap();
    let grant = AbilityGrant::new(rules.ability("GA_Spark").unwrap());
    sim.run(Op::Grant { who: hero, grant }).unwrap();
    let net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
    (net, hero, rules)
}

/// The facts about resources that a client emitted since the last call.
fn reported(net: &mut Harness, client: &str) -> Vec<(AttributeId, ResourceStep, f64, f64, Certainty)> {
    let mut facts = NetFacts::default();
    net.client_mut(client).take_facts(&mut facts);
    let step = |(fact, certainty): (&Fact, Certainty)| match fact.kind {
        FactKind::Resource { attribute, step, old, new } => Some((attribute, step, old, new, certainty)),
        _ => None,
    };
    facts.iter().filter_map(step).collect()
}

// covers: SAI-3.1-05
#[test]
fn a_resource_is_reported_once_on_the_server_and_once_on_its_client_when_it_arrives() {
    use ResourceStep::{Added, Changed, Removed};
    let (mut net, hero, rules) = session();
    let (mana, rage, doom) =
        (rules.attribute("Mana").unwrap(), rules.attribute("Rage").unwrap(), rules.attribute("Doom").unwrap());
    let mut log = ugas_core::Facts::default();
    net.server_mut().sim_mut().take_facts(&mut log);
    let added = |log: &ugas_core::Facts, of| {
        let is = |f: &&Fact| matches!(f.kind, FactKind::Resource { attribute, step: Added, .. } if attribute == of);
        log.iter().filter(is).count()
    };
    assert_eq!((added(&log, mana), added(&log, doom)), (1, 1), "on the server, at spawn");
    net.join("Ana", LinkProfile::round_trip(100, 0), &[hero]).unwrap();
    assert_eq!(reported(&mut net, "Ana"), vec![], "nothing has arrived");
    net.run(60);
    let arrived = vec![(mana, Added, 0.0, 80.0, Certainty::Server)];
    assert_eq!(reported(&mut net, "Ana"), arrived);

    // A change by the server, and a resource that comes and goes.
    let change = Op::ModifyResource { who: hero, attribute: mana, by: -5.0, source: None, tags: vec![], plain: false };
    net.server_mut().sim_mut().run(change).unwrap();
    net.run(30);
    let changed = vec![(mana, Changed, 80.0, 75.0, Certainty::Server)];
    assert_eq!(reported(&mut net, "Ana"), changed);
    let set = rules.set("Rage").unwrap();
    net.server_mut().sim_mut().run(Op::AddSet { who: hero, set }).unwrap();
    net.run(30);
    let came = vec![(rage, Added, 0.0, 0.0, Certainty::Server)];
    assert_eq!(reported(&mut net, "Ana"), came);
    net.server_mut().sim_mut().run(Op::RemoveSet { who: hero, set, force: false }).unwrap();
    net.run(30);
    let gone = vec![(rage, Removed, 0.0, 0.0, Certainty::Server)];
    assert_eq!(reported(&mut net, "Ana"), gone);
    // A hidden resource is never reported.
    let change = Op::ModifyResource { who: hero, attribute: doom, by: 1.0, source: None, tags: vec![], plain: false };
    net.server_mut().sim_mut().run(change).unwrap();
    net.run(30);
    assert_eq!(reported(&mut net, "Ana"), vec![]);
}

// covers: SAI-3.3-02
#[test]
fn a_client_cannot_modify_a_resource_and_predicts_only_costs() {
    use ResourceStep::Changed;
    let (mut net, hero, rules) = session();
    let mana = rules.attribute("Mana").unwrap();
    net.join("Ana", LinkProfile::round_trip(100, 0), &[hero]).unwrap();
    net.run(60);
    reported(&mut net, "Ana");
    let change = Op::ModifyResource { who: hero, attribute: mana, by: 20.0, source: None, tags: vec![], plain: true };
    let mut sim = net.client("Ana").sim().clone();
    let before = sim.row_hash(hero);
    assert_eq!(sim.run(change), Err(Refusal::Authority));
    assert_eq!((sim.get(hero, mana), sim.row_hash(hero)), (Ok(80.0), before), "the value is unchanged");
    // A cost is predicted at once and confirmed once.
    let ability = rules.ability("GA_Spark").unwrap();
    net.client_mut("Ana").command(Request::Activate { who: hero, ability, target: Target::None }).unwrap();
    let predicted = vec![(mana, Changed, 80.0, 50.0, Certainty::Predicted)];
    assert_eq!(reported(&mut net, "Ana"), predicted);
    net.run(60);
    assert_eq!(reported(&mut net, "Ana"), [(mana, Changed, 80.0, 50.0, Certainty::Confirmed)]);
    assert_eq!(net.server().sim().get(hero, mana), Ok(50.0));
}
