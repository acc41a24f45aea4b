//! Which task lists a machine runs, and the setting that states which controllers a machine controls locally.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ControllerId, FactKind, Facts, Op, ReadError, Refusal, ResimulationStop, Role, RowImage, Rules, Sim,
    SimConfig, SimTime, SpawnSpec, Target, Which,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Cast, Effect};

/// An ability that casts for a second with a tick every half second, with lists for every side that write to
/// attributes.
fn rules() -> Arc<Rules> {
    let event = |tag: &str| AbilityTask::new("SendEvent").param("EventTag", tag);
    let apply = |effect: &str| AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect);
    let cast = Cast { length: 1.0, ticks: Some(2), initial_tick: true, ..Cast::default() };
    let mut beam = Ability::new("GA_Beam").cast_as(cast);
    beam.on_tick.push(event("Tick.Common"));
    beam.on_predicted_tick.extend([event("Tick.Predicted"), apply("GE_Predicted")]);
    beam.on_server_tick.extend([event("Tick.Server"), apply("GE_Server")]);
    beam.on_cancel.push(event("Cancel.Common"));
    beam.on_predicted_cancel.push(event("Cancel.Predicted"));
    beam.on_server_cancel.push(event("Cancel.Server"));
    Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Aim", 0.0)).with(Attribute::new("Heat", 0.0)))
        .add(Effect::instant("GE_Predicted").add("Aim", 1.0))
        .add(Effect::instant("GE_Server").add("Heat", 1.0))
        .add(beam)
        .build()
        .unwrap()
}

fn machine(rules: &Arc<Rules>, role: Role) -> (Sim, ControllerId) {
    let mut sim = Sim::new(rules.clone(), SimConfig { role, ..SimConfig::default() });
    let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    sim.grant(who, AbilityGrant::new(rules.ability("GA_Beam").unwrap())).unwrap();
    (sim, who)
}

fn which(sim: &Sim) -> Which {
    Which::Ability(sim.rules().ability("GA_Beam").unwrap())
}

fn start(sim: &mut Sim, who: ControllerId) {
    let which = which(sim);
    sim.run(Op::Activate { who, which, target: Target::None }).unwrap();
}

/// Takes the tags of the events since the last call.
fn events(sim: &mut Sim) -> Vec<String> {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let tag = |f: &ugas_core::Fact| match f.kind {
        FactKind::GameplayEvent { tag, .. } => sim.rules().tag_name(tag).map(str::to_owned),
        _ => None,
    };
    facts.list.iter().filter_map(tag).collect()
}

fn value(sim: &Sim, who: ControllerId, name: &str) -> f64 {
    sim.get(who, sim.rules().attribute(name).unwrap()).unwrap()
}

// covers: SAI-2.7-01, SAI-2.7-02
#[test]
fn a_machine_runs_predicted_lists_where_it_controls_locally_and_server_lists_after_them() {
    let rules = rules();
    let (common, predicted, server) = ("Tick.Common", "Tick.Predicted", "Tick.Server");
    let table = [
        (Role::Standalone, None, vec![common, predicted, server]),
        (Role::Standalone, Some(false), vec![common, server]),
        (Role::Authority, None, vec![common, server]),
        (Role::Authority, Some(true), vec![common, predicted, server]),
        (Role::Client, None, vec![common, predicted]),
    ];
    for (role, set, ticks) in table {
        let (mut sim, who) = machine(&rules, role);
        set.into_iter().for_each(|is_local| sim.set_local(who, is_local).unwrap());
        start(&mut sim, who);
        assert_eq!(events(&mut sim), ticks, "the first tick, {role:?} {set:?}");
        sim.advance_to(SimTime::seconds(0.75));
        assert_eq!(events(&mut sim), ticks, "the second tick, {role:?} {set:?}");
        let which = which(&sim);
        sim.run(Op::Cancel { who, which }).unwrap();
        let cancelled: Vec<String> = ticks.iter().map(|tag| tag.replace("Tick", "Cancel")).collect();
        assert_eq!(events(&mut sim), cancelled, "{role:?} {set:?}");
    }
}

#[test]
fn locality_is_state_of_the_sim_but_of_no_controller() {
    let rules = rules();
    let (mut sim, who) = machine(&rules, Role::Authority);
    let before = sim.hash();
    sim.set_local(who, true).unwrap();
    assert_eq!(sim.hash(), before, "not hashed");
    let mut copy = sim.clone();
    copy.set_local(who, false).unwrap();
    assert_eq!((copy.is_local(who), sim.is_local(who)), (Ok(false), Ok(true)), "a fork has its own setting");
    copy.clone_from(&sim);
    assert_eq!(copy.is_local(who), Ok(true), "restored by a rollback");
    copy.reload(rules.clone()).unwrap();
    assert_eq!(copy.is_local(who), Ok(true), "kept by a reload");
    let activate = Op::Activate { who, which: which(&sim), target: Target::None };
    let aim = rules.attribute("Aim").unwrap();
    let preview = sim.preview_op(&activate);
    assert_eq!(preview.attribute(who, aim).map(|a| a.after), Some(1.0), "a preview runs the same lists");

    let portable = sim.extract(who).unwrap();
    assert_eq!(sim.is_local(who), Err(ReadError::StaleHandle));
    sim.insert(&portable).unwrap();
    assert_eq!(sim.is_local(who), Ok(false), "a controller that returns has the default");
    sim.set_local(who, true).unwrap();
    sim.reset();
    assert_eq!(sim.set_local(who, true), Err(Refusal::StaleHandle));
    let again = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    assert_eq!((again, sim.is_local(again)), (who, Ok(false)), "a reset ends the setting");
}

#[test]
fn a_resimulation_knows_when_a_controller_was_local() {
    let rules = rules();
    // The setting changes between the first and the second tick, or between the second and the third.
    for (role, times) in
        [(Role::Authority, [0.25, 0.75]), (Role::Standalone, [0.75, 0.8]), (Role::Authority, [0.0, 0.1])]
    {
        let (mut sim, who) = machine(&rules, role);
        sim.keep_journal(who).unwrap();
        let first = sim.is_local(who).unwrap();
        let mut image = RowImage::default();
        sim.capture(who, &mut image).unwrap();
        start(&mut sim, who);
        for (at, is_local) in times.into_iter().zip([!first, first]) {
            sim.advance_to(SimTime::seconds(at));
            sim.set_local(who, is_local).unwrap();
        }
        sim.advance_to(SimTime::seconds(2.0));
        let (hash, aims) = (sim.hash(), value(&sim, who, "Aim"));
        assert_eq!(value(&sim, who, "Heat"), 3.0, "an initial tick and two others");
        sim.resimulate(&image, None, &mut [ResimulationStop::at(SimTime::seconds(2.0))]).unwrap();
        assert_eq!((sim.hash(), value(&sim, who, "Aim")), (hash, aims), "{role:?} {times:?}");
        assert_eq!(sim.is_local(who), Ok(first));
    }
}
