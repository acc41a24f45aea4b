//! Controllers with capabilities that are saved, moved and restored while they run.

use crate::kit::Rng;
use crate::kit::capability::*;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, BlockSource, CapabilityCall, CapabilityCx, ControllerId, EffectFilter, Fact, FactKind, Facts, Op,
    OpId, Portable, RowImage, Rules, Sim, SimTime, Spec, Target, Watches,
};
use ugas_doc::{Ability, Capability, CapabilitySet, Effect, SetCapability, Side};

fn has(cx: &CapabilityCx<'_>, tag: &str) -> bool {
    cx.has(cx.rules().tag(tag).unwrap())
}

/// Rules with documents and code that read each other's tags and values, with intervals, blocks and requests.
fn rules() -> Arc<Rules> {
    let log = Log::default();
    let worker = Probe::new("Worker", &log).doing(|ticks, call, cx| {
        if matches!(call, CapabilityCall::Tick { .. }) {
            *ticks += 1;
            if *ticks % 4 == 0 {
                cx.apply_to_owner(cx.rules().effect("GE_Spend").unwrap());
                cx.apply_to_owner(cx.rules().effect("GE_Brief").unwrap());
            }
        }
    });
    let guard = Probe::new("Guard", &log).doing(|state, call, cx| {
        let tag = cx.rules().tag("Capability.Move").unwrap();
        if matches!(call, CapabilityCall::Tick { .. }) {
            *state += 1;
            if *state % 3 == 0 {
                cx.unblock(tag)
            } else {
                cx.block(tag)
            }
            if *state % 5 == 0 {
                cx.activate(cx.rules().ability("GA_Shout").unwrap(), Target::None);
            }
        }
    });
    let watcher = Probe::new("Watcher", &log)
        .activate_if(|_, cx| has(cx, "State.Go"))
        .deactivate_if(|_, cx| !has(cx, "State.Go") || has(cx, "State.Stop"))
        .doing(|count, call, cx| {
            if call == CapabilityCall::Activated {
                *count += 1;
                let class = cx.rules().capability("Worker").unwrap();
                cx.set_interval(class, SimTime::millis(100 * (*count % 3) as i64));
            }
        })
        .watching(Watches::new().tag("State"));
    let regen = Capability::new("Regen").query("!State.Stunned").when("Stamina < 30").until("Stamina > 60");
    let regen = regen.effect("GE_Haste").on_tick("GE_Rest").blocks("Capability.Look");
    let moving = |class: &str| SetCapability::new(class).tag("Capability.Move.Fly");
    let main = CapabilitySet::new("CS_Main")
        .data("Data")
        .capability(SetCapability::new("Watcher").side(Side::AllClients).tag("Capability.Look"))
        .capability(SetCapability::new("Regen").blocked_by("State.Stop"))
        .capability(SetCapability::new("Guard").interval(0.2))
        .capability(moving("Worker"));
    let extra = CapabilitySet::new("CS_Extra").capability(moving("Worker").interval(0.3)).capability(moving("Guard"));
    base()
        .add(Effect::lasting("GE_Brief", 0.35).grants("State.Go"))
        .add(Effect::instant("GE_Rest").add("Stamina", 4.0))
        .add(Ability::new("GA_Shout"))
        .add(regen)
        .add(main)
        .add(extra.data("Data"))
        .capability_code("Worker", worker)
        .capability_code("Guard", guard)
        .capability_code("Watcher", watcher)
        .build()
        .unwrap()
}

/// A random op of a host.
fn random_op(sim: &Sim, dice: &mut Rng, who: ControllerId) -> Op {
    let rules = sim.rules();
    let effects = ["GE_Go", "GE_Stop", "GE_Stun", "GE_Spend"];
    let effect = rules.effect(effects[dice.below(effects.len())]).unwrap();
    let tag = rules.tag(["Capability", "Capability.Move", "Capability.Look"][dice.below(3)]).unwrap();
    let source = BlockSource::host(["One", "Two"][dice.below(2)]);
    let capability = rules.capability(["Worker", "Guard", "Regen", "Watcher"][dice.below(4)]).unwrap();
    match dice.below(11) {
        0..=2 => Op::Apply(Spec::new(effect, who)),
        3 | 4 => Op::RemoveMatching { who, filter: EffectFilter { effect: Some(effect), ..EffectFilter::default() } },
        5 => Op::Block { who, tag, source },
        6 => Op::Unblock { who, tag, source },
        7 => Op::Enable { who, capability, on: dice.below(3) > 0 },
        8 => {
            let interval = Some(SimTime::millis(100 * dice.below(4) as i64));
            Op::SetTick { who, capability, ticks: Some(dice.below(4) > 0), interval }
        }
        9 => Op::GrantSet { who, set: rules.ability_set("CS_Extra").unwrap() },
        _ => {
            let extra = rules.ability_set("CS_Extra").unwrap();
            let handle = sim.capabilities(who).unwrap().iter().find(|v| v.set == extra).map_or(0, |v| v.handle);
            Op::RevokeSet { who, handle }
        }
    }
}

fn start(rules: &Arc<Rules>) -> (Sim, ControllerId) {
    let (mut sim, who) = sim_of(rules);
    sim.grant(who, AbilityGrant::new(rules.ability("GA_Shout").unwrap())).unwrap();
    add(&mut sim, who, "CS_Main");
    (sim, who)
}

/// Takes the facts without those of moving and without the places of causes, which belong to one sim.
fn plain_facts(sim: &mut Sim) -> Vec<Fact> {
    let mut facts = Facts::default();
    sim.take_facts(&mut facts);
    let moves = |f: &Fact| matches!(f.kind, FactKind::Despawned | FactKind::Restored);
    facts.list.into_iter().filter(|f| !moves(f)).map(|f| Fact { link: 0, ..f }).collect()
}

/// Runs one frame with the ops of this frame.
fn run_frame(sim: &mut Sim, frame: usize, ops: &[Op]) {
    for (n, op) in ops.iter().enumerate() {
        let _ = sim.run_as(OpId::new(3, (frame * 10 + n) as u32, 0), op);
    }
    frames(sim, 1);
}

const FRAMES: usize = 40;

/// A random run: the ops and the facts of each frame, and the sim before each frame.
struct Run {
    who: ControllerId,
    plan: Vec<Vec<Op>>,
    sims: Vec<Sim>,
    facts: Vec<Vec<Fact>>,
}

fn random_run(seed: u64) -> Run {
    let rules = rules();
    let (mut sim, who) = start(&rules);
    let mut dice = Rng(seed);
    plain_facts(&mut sim);
    let (mut plan, mut sims, mut facts) = (Vec::new(), Vec::new(), Vec::new());
    for frame in 0..FRAMES {
        sims.push(sim.clone());
        let ops: Vec<Op> = (0..dice.below(3)).map(|_| random_op(&sim, &mut dice, who)).collect();
        run_frame(&mut sim, frame, &ops);
        facts.push(plain_facts(&mut sim));
        plan.push(ops);
    }
    sims.push(sim);
    Run { who, plan, sims, facts }
}

/// Changes a copy of the sim before each frame of a random run, and checks that the rest of the run is unchanged.
fn changes_nothing(seed: u64, change: impl Fn(&mut Sim, ControllerId)) {
    let Run { who, plan, sims, facts } = random_run(seed);
    let steps = facts.iter().flatten().filter(|f| matches!(f.kind, FactKind::Capability { .. })).count();
    assert!(steps > 3, "seed {seed}: {steps} steps");
    for from in 0..FRAMES {
        let mut sim = sims[from].clone();
        change(&mut sim, who);
        assert_eq!(sim.row_hash(who), sims[from].row_hash(who), "seed {seed}, frame {from}");
        plain_facts(&mut sim);
        // Long enough for every interval to end.
        for frame in from..FRAMES.min(from + 12) {
            run_frame(&mut sim, frame, &plan[frame]);
            assert_eq!(plain_facts(&mut sim), facts[frame], "seed {seed}, changed at {from}, frame {frame}");
            let expected = sims[frame + 1].row_hash(who);
            assert_eq!(sim.row_hash(who), expected, "seed {seed}, changed at {from}, frame {frame}");
        }
    }
}

#[test]
fn a_controller_extracted_and_inserted_at_any_frame_evolves_like_one_that_stayed() {
    for seed in 0..12 {
        changes_nothing(seed, |sim, who| {
            let bytes = postcard::to_allocvec(&sim.extract(who).unwrap()).unwrap();
            let portable: Portable = postcard::from_bytes(&bytes).unwrap();
            sim.insert(&portable).unwrap();
        });
    }
}

#[test]
fn a_controller_written_as_json_at_any_frame_evolves_like_one_that_stayed() {
    for seed in 20..24 {
        changes_nothing(seed, |sim, who| {
            let text = serde_json::to_string(&sim.extract(who).unwrap()).unwrap();
            let portable: Portable = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&portable).unwrap(), text);
            sim.insert(&portable).unwrap();
        });
    }
}

#[test]
fn a_controller_captured_and_restored_at_any_frame_evolves_like_one_that_was_not() {
    for seed in 30..42 {
        changes_nothing(seed, |sim, who| {
            let mut image = RowImage::default();
            sim.capture(who, &mut image).unwrap();
            sim.restore(who, &image).unwrap();
        });
    }
}

#[test]
fn a_sleeping_capability_changes_nothing_but_cost() {
    for seed in 50..62 {
        // A change that wakes every capability of the row and has no other effect.
        changes_nothing(seed, |sim, who| {
            let (tag, source) = (sim.rules().tag("State.Go").unwrap(), BlockSource::host("Nobody"));
            sim.run(Op::Block { who, tag, source }).unwrap();
            sim.run(Op::Unblock { who, tag, source }).unwrap();
        });
    }
}

#[test]
fn a_restored_controller_repeats_its_run() {
    for seed in 70..76 {
        let Run { who, plan, sims, facts } = random_run(seed);
        let mut sim = sims[10].clone();
        let mut image = RowImage::default();
        sim.capture(who, &mut image).unwrap();
        (10..25).for_each(|frame| run_frame(&mut sim, frame, &plan[frame]));
        sim.restore(who, &image).unwrap();
        plain_facts(&mut sim);
        for frame in 10..35 {
            run_frame(&mut sim, frame, &plan[frame]);
            let kinds = |list: &[Fact]| -> Vec<String> {
                let capability = |f: &&Fact| matches!(f.kind, FactKind::Capability { .. });
                list.iter().filter(capability).map(|f| format!("{:?}", f.kind)).collect()
            };
            assert_eq!(kinds(&plain_facts(&mut sim)), kinds(&facts[frame]), "seed {seed}, frame {frame}");
        }
    }
}

#[test]
fn a_client_sees_no_state_of_a_capability_that_only_the_server_runs() {
    let log = Log::default();
    let counter = Probe::new("A", &log).doing(|count, _, _| *count += 1);
    let set = CapabilitySet::new("CS_Robot").capability(SetCapability::new("A").side(Side::AuthorityOnly));
    let rules = base().add(set).capability_code("A", counter).build().unwrap();
    let (mut server, who) = machine(&rules, ugas_core::Role::Authority, false);
    add(&mut server, who, "CS_Robot");
    let redacted = |sim: &Sim| {
        let snapshot = sim.remote().snapshot_without(who, &[], &|_, _| true).unwrap();
        let records = serde_json::to_value(&snapshot).unwrap()["row"]["side"]["play"]["capabilities"].clone();
        (records, sim.remote().hash_without(who, &[]).unwrap())
    };
    let first = redacted(&server);
    let whole = server.row_hash(who).unwrap();
    frames(&mut server, 5);
    assert_ne!(server.row_hash(who), Ok(whole), "the server counts");
    assert_eq!(redacted(&server).0, first.0, "the snapshot for the client does not change");
    enable(&mut server, who, "A", false);
    assert_ne!(redacted(&server).1, first.1, "the client knows whether it is enabled");
}
