//! Threads: a sim runs on one thread, workers return results to it, and facts can be sent to other threads.

use crate::kit::*;
use std::sync::mpsc;
use std::thread;
use ugas_core::{
    ControllerId, CueType, Diagnostic, EffectKey, Fact, FactKind, Facts, Host, Op, OpId, Outcome, Progress, Refusal,
    Rules, Sim, SimTime, SpawnSpec, Spec, Trace,
};
use ugas_doc::{Effect, Magnitude};

// covers: UGAS-3.4-01
#[test]
fn changing_a_sim_requires_an_exclusive_reference() {
    // Each line compiles only because the method takes the sim by exclusive reference.
    type Applied = Result<EffectKey, Refusal>;
    let _: fn(&mut Sim, Op) -> Result<Outcome, Refusal> = Sim::run;
    let _: fn(&mut Sim, OpId, &Op) -> Result<Outcome, Refusal> = Sim::run_as;
    let _: fn(&mut Sim, SpawnSpec) -> Result<ControllerId, Refusal> = Sim::spawn;
    let _: fn(&mut Sim, ControllerId) -> Result<(), Refusal> = Sim::despawn;
    let _: fn(&mut Sim, &Spec) -> Applied = Sim::apply;
    let _: fn(&mut Sim, &Spec, &[ControllerId], &mut Vec<Applied>) -> u32 = Sim::apply_to_many;
    let _: fn(&mut Sim, &[Spec], &mut Vec<Applied>) -> u32 = Sim::apply_all;
    let _: fn(&mut Sim, EffectKey) -> Result<(), Refusal> = Sim::remove;
    let _: fn(&mut Sim, SimTime, &mut dyn Host) -> Progress = Sim::advance_with;
    let _: fn(&mut Sim) = Sim::reset;
    let _: fn(&mut Sim, &mut Facts) = Sim::take_facts;
    let _: fn(&mut Sim, &mut Vec<Diagnostic>) = Sim::take_diagnostics;
    let _: fn(&mut Sim, &mut Vec<Trace>) = Sim::take_trace;

    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Sim>();
    is_send_and_sync::<Rules>();
    is_send_and_sync::<Op>();
}

#[test]
fn many_threads_may_read_one_sim() {
    let rules = world().build().unwrap();
    let (sim, hero) = one(&rules);
    let health = attribute(&rules, "Health");
    thread::scope(|s| {
        let readers: Vec<_> = (0..4).map(|_| s.spawn(|| sim.get(hero, health).unwrap())).collect();
        for r in readers {
            assert_eq!(r.join().unwrap(), 100.0);
        }
    });
}

// covers: UGAS-3.4-03
#[test]
fn a_workers_result_is_applied_by_the_main_thread_at_the_next_tick() {
    let rules =
        world().add(Effect::instant("GE_Path").add("Health", Magnitude::set_by_caller("Data.Result"))).build().unwrap();
    let (mut sim, hero) = one(&rules);
    let (send, receive) = mpsc::channel::<(Op, thread::ThreadId)>();
    let main = thread::current().id();
    let spec = Spec::new(effect(&rules, "GE_Path"), hero).set(rules.key("Data.Result").unwrap(), -42.0);
    let worker = thread::spawn(move || send.send((Op::Apply(spec), thread::current().id())).unwrap());
    worker.join().unwrap();

    // The result is there, but no state has changed: nothing happens outside the tick.
    assert_eq!(get(&sim, hero, "Health"), 100.0);
    let tick = |sim: &mut Sim, frame: i64| {
        let mut applied_on = Vec::new();
        while let Ok((op, from)) = receive.try_recv() {
            sim.run(op).unwrap();
            applied_on.push((thread::current().id(), from));
        }
        go_to(sim, SimTime::frames(frame, 60));
        applied_on
    };
    let applied_on = tick(&mut sim, 1);
    assert_eq!(applied_on.len(), 1);
    assert_eq!(applied_on[0].0, main);
    assert_ne!(applied_on[0].1, main);
    assert_eq!(get(&sim, hero, "Health"), 58.0);
}

// covers: UGAS-3.4-06
#[test]
fn another_thread_receives_cues_in_the_order_they_were_triggered() {
    fn is_send<T: Send>() {}
    is_send::<Fact>();
    is_send::<Facts>();
    let rules = world()
        .add(Effect::instant("GE_Boom").cue("GameplayCue.Boom"))
        .add(Effect::lasting("GE_Burn", 1.0).every(0.25).add("Health", -1.0).cue("GameplayCue.Burn"))
        .build()
        .unwrap();
    let (mut sim, hero) = one(&rules);
    let (send, receive) = mpsc::channel::<Fact>();
    let renderer = thread::spawn(move || {
        let cue = |f: Fact| match f.kind {
            FactKind::Cue { tag, cue, .. } => Some((tag, cue)),
            _ => None,
        };
        receive.into_iter().filter_map(cue).collect::<Vec<_>>()
    });
    let mut expected = Vec::new();
    let (boom, burn) = (tag(&rules, "GameplayCue.Boom"), tag(&rules, "GameplayCue.Burn"));
    for round in 0..50 {
        apply(&mut sim, "GE_Burn", hero);
        expected.push((burn, CueType::Add));
        apply(&mut sim, "GE_Boom", hero);
        expected.push((boom, CueType::Execute));
        go(&mut sim, (round + 1) as f64 * 2.0);
        expected.extend([(burn, CueType::Execute); 4]);
        expected.push((burn, CueType::Remove));
        for f in facts(&mut sim) {
            send.send(f).unwrap();
        }
    }
    drop(send);
    assert_eq!(renderer.join().unwrap(), expected);
}
