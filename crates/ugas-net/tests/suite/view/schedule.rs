//! How often and in which order actors are sent.

use super::rig::{LENGTH, Rig, rules};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use ugas_core::{ControllerId, SimTime};
use ugas_doc::ControllerReplication;
use ugas_net::interest::{
    ActorKind, AllRelevant, Bandwidth, DistancePriority, DistanceRelevance, Priority, RateTable, Relevance,
    RelevanceUpdate, Viewer,
};
use ugas_net::internals::{Interest, PacketPlan, PlannedUpdate, Schedule, ScheduleRequest};
use ugas_net::types::Tick;

/// Sixty ticks a second.
const SIXTY: SimTime = SimTime::frames(1, 60);
const LAN: SimTime = SimTime::millis(2);

fn ask<'a>(rig: &Rig, viewer: Viewer<'a>) -> ScheduleRequest<'a> {
    ScheduleRequest { viewer, tick: rig.tick, length: LENGTH, round_trip: LAN, room: 1000, packet: 1000, lossy: false }
}

/// All actors are of one kind, with weights by id.
struct Kind(ActorKind, Vec<u32>);

impl Priority for Kind {
    fn weight(&self, _: &Viewer, who: ControllerId, _: Option<[f64; 3]>) -> u32 {
        self.1.get(who.index()).copied().unwrap_or(1)
    }
    fn kind(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>) -> ActorKind {
        self.0
    }
}

fn interest(kind: ActorKind) -> Interest {
    let (relevance, priority) = (Arc::new(AllRelevant), Arc::new(Kind(kind, Vec::new())));
    Interest { relevance, priority, rates: RateTable::default(), always_relevant: Vec::new() }
}

/// Returns how often an actor that moves and changes in every tick is sent per second: positions, sections.
fn sent_in_a_second(kind: ActorKind, round_trip: SimTime) -> (usize, usize) {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let (interest, mut schedule, mut plan) = (interest(kind), Schedule::default(), PacketPlan::default());
    let (mut poses, mut sections) = (0, 0);
    for i in 0..60 {
        rig.place(who, [i as f64, 0.0, 0.0]);
        rig.set(who, "A0", (i * 10) as f64);
        rig.step();
        let ask = ScheduleRequest { length: SIXTY, round_trip, ..ask(&rig, Viewer::default()) };
        schedule.select(&mut rig.store, &interest, &ask, &mut plan);
        poses += plan.poses.len();
        sections += plan.state.len();
    }
    (poses, sections)
}

// covers: UGAS-13.6-01
#[test]
fn each_kind_of_actor_has_its_rate() {
    let table = RateTable::default();
    let slow = SimTime::millis(200);
    assert_eq!(table.range(ActorKind::Player, LAN), Some(&(60..=100)));
    assert_eq!(table.range(ActorKind::Player, slow), Some(&(20..=30)));
    assert_eq!(table.range(ActorKind::Important, LAN), Some(&(30..=60)));
    assert_eq!(table.range(ActorKind::Distant, LAN), Some(&(10..=20)));
    assert_eq!(table.range(ActorKind::Static, LAN), None);
    for (kind, round_trip) in
        [(ActorKind::Player, LAN), (ActorKind::Player, slow), (ActorKind::Important, LAN), (ActorKind::Distant, slow)]
    {
        let (poses, _) = sent_in_a_second(kind, round_trip);
        assert!(table.range(kind, round_trip).unwrap().contains(&(poses as u32)), "{kind:?}: {poses} a second");
    }
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let (still, mut schedule, mut plan) = (interest(ActorKind::Static), Schedule::default(), PacketPlan::default());
    rig.place(who, [1.0; 3]);
    for i in 0..100 {
        if i == 50 {
            rig.set(who, "A0", 77.0);
        }
        rig.step();
        let ask = ask(&rig, Viewer::default());
        schedule.select(&mut rig.store, &still, &ask, &mut plan);
        assert_eq!(plan.state.len(), (i == 0 || i == 50) as usize, "after {i} ticks");
        assert_eq!(plan.poses.len(), (i == 0) as usize, "after {i} ticks");
    }
}

#[test]
fn a_rate_is_whole_ticks_and_never_above_its_range() {
    let table = RateTable::default();
    for hz in [10, 20, 30, 50, 60, 64, 100, 128, 144, 240] {
        let tick = SimTime::frames(1, hz);
        for kind in [ActorKind::Player, ActorKind::Important, ActorKind::Distant] {
            for round_trip in [LAN, SimTime::millis(200)] {
                let (poses, states) =
                    (table.pose_ticks(kind, round_trip, tick), table.state_ticks(kind, round_trip, tick));
                let range = table.range(kind, round_trip).unwrap();
                let rate = hz as f64 / poses as f64;
                assert!(rate <= *range.end() as f64 + 0.01, "{kind:?} at {hz} Hz: {rate}");
                assert!(poses == 1 || rate >= *range.start() as f64, "{kind:?} at {hz} Hz: {rate}");
                assert!(states > poses);
            }
        }
    }
}

// covers: UGAS-13.6-03
#[test]
fn attributes_are_sent_less_often_than_positions() {
    let (poses, sections) = sent_in_a_second(ActorKind::Player, LAN);
    assert_eq!((poses, sections), (60, 30));
}

#[test]
fn actors_enter_when_near_and_leave_when_clearly_away() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let interest = Interest { relevance: Arc::new(DistanceRelevance::new(50.0, 60.0)), ..Interest::default() };
    let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
    let viewer = Viewer { positions: &[[0.0; 3]], ..Viewer::default() };
    let mut transitions = Vec::new();
    for x in [70.0, 55.0, 50.0, 55.0, 60.0, 61.0, 55.0, 40.0] {
        rig.place(who, [x, 0.0, 0.0]);
        rig.step();
        let ask = ask(&rig, viewer);
        schedule.select(&mut rig.store, &interest, &ask, &mut plan);
        transitions.push((plan.entered.len(), plan.left.len()));
        if !plan.entered.is_empty() {
            assert_eq!(plan.state, [PlannedUpdate { who, slot: 0, since: Tick(0) }], "a full section is sent");
        }
    }
    let (enters, leaves, nothing) = ((1, 0), (0, 1), (0, 0));
    assert_eq!(transitions, [nothing, nothing, enters, nothing, nothing, leaves, nothing, enters]);
}

#[test]
fn an_owner_receives_observer_updates_only_without_exact_state() {
    let mut rig = Rig::new(rules());
    let modes = [ControllerReplication::Minimal, ControllerReplication::Mixed, ControllerReplication::Full];
    let own = modes.map(|m| rig.spawn(&["Vitals"], m));
    rig.step();
    let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
    let viewer = Viewer { owned: &own, ..Viewer::default() };
    let ask = ask(&rig, viewer);
    schedule.select(&mut rig.store, &Interest::default(), &ask, &mut plan);
    assert_eq!(plan.state, [PlannedUpdate { who: own[0], slot: 0, since: Tick(0) }]);
}

#[test]
fn full_sections_are_sent_until_the_shape_is_acknowledged() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let (interest, mut schedule, mut plan) = (interest(ActorKind::Static), Schedule::default(), PacketPlan::default());
    let mut since = |rig: &mut Rig, value: f64, confirm: bool| {
        rig.set(who, "A0", value);
        rig.step();
        let ask = ask(rig, Viewer::default());
        schedule.select(&mut rig.store, &interest, &ask, &mut plan);
        if confirm {
            schedule.on_acked(&plan.state[0], rig.tick);
        }
        (plan.state[0].since, rig.tick)
    };
    assert_eq!(since(&mut rig, 10.0, false).0, Tick(0));
    let (all, at) = since(&mut rig, 20.0, true);
    assert_eq!(all, Tick(0));
    assert_eq!(since(&mut rig, 30.0, false).0, at);
    let set = rig.set_id("Item");
    rig.sim.run(ugas_core::Op::AddSet { who, set }).unwrap();
    assert_eq!(since(&mut rig, 40.0, false).0, Tick(0));
    assert_eq!(since(&mut rig, 50.0, false).0, Tick(0));
}

#[test]
fn a_section_longer_than_a_packet_uses_the_reliable_stream() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    for _ in 0..100 {
        rig.apply(who, "GE_Mark").unwrap();
    }
    rig.step();
    let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
    let ask = ScheduleRequest { packet: 200, room: 200, ..ask(&rig, Viewer::default()) };
    schedule.select(&mut rig.store, &Interest::default(), &ask, &mut plan);
    assert_eq!((plan.state.len(), &plan.large[..]), (0, &[PlannedUpdate { who, slot: 0, since: Tick(0) }][..]));
    assert!(rig.store.size(who, Tick(0)) > 200 * 8);
}

/// Counts the evaluations of relevance.
struct Counting(RelevanceUpdate, Arc<AtomicUsize>);

impl Relevance for Counting {
    fn is_relevant(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>, _: bool) -> bool {
        self.1.fetch_add(1, Ordering::Relaxed);
        true
    }
    fn update(&self) -> RelevanceUpdate {
        self.0
    }
}

/// Returns how often relevance was evaluated in each of these ticks: nothing happens, one of a hundred actors moves, the client
/// moves, it targets one of them, nothing happens.
fn asks(when: RelevanceUpdate) -> [usize; 5] {
    let mut rig = Rig::new(rules());
    let all: Vec<ControllerId> = (0..100).map(|_| rig.spawn(&["Vitals"], ControllerReplication::Full)).collect();
    let count = Arc::new(AtomicUsize::new(0));
    let relevance = Arc::new(Counting(when, count.clone()));
    let interest = Interest { relevance, ..Interest::default() };
    let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
    let (here, there, aim) = ([[0.0; 3]], [[1.0; 3]], [all[7]]);
    let mut tick = |viewer: Viewer, moves: bool| {
        if moves {
            rig.place(all[3], [9.0; 3]);
        }
        rig.step();
        let ask = ScheduleRequest { room: 9000, ..ask(&rig, viewer) };
        schedule.select(&mut rig.store, &interest, &ask, &mut plan);
        plan.state.iter().for_each(|pick| schedule.on_acked(pick, rig.tick));
        count.swap(0, Ordering::Relaxed)
    };
    let still = Viewer { positions: &here, ..Viewer::default() };
    assert_eq!(tick(still, false), 100, "every actor is evaluated once");
    tick(still, false);
    let moved = Viewer { positions: &there, ..Viewer::default() };
    let aiming = Viewer { targets: &aim, ..moved };
    [tick(still, false), tick(still, true), tick(moved, false), tick(aiming, false), tick(aiming, false)]
}

#[test]
fn relevance_is_evaluated_when_its_inputs_change() {
    assert_eq!(asks(RelevanceUpdate::Once), [0, 0, 0, 1, 0]);
    assert_eq!(asks(RelevanceUpdate::OnChange), [0, 1, 100, 1, 0]);
    assert_eq!(asks(RelevanceUpdate::Every(1)), [100, 101, 100, 101, 100]);
    assert_eq!(asks(RelevanceUpdate::Every(20)), [5, 6, 100, 6, 5]);
}

#[test]
fn over_a_lossy_link_updates_are_resent_until_acknowledged() {
    let (mut rig, who) = Rig::with(&["Vitals"], ControllerReplication::Full);
    let (interest, mut schedule, mut plan) = (interest(ActorKind::Player), Schedule::default(), PacketPlan::default());
    let mut sent = |rig: &mut Rig, lossy: bool, arrives: bool| {
        rig.step();
        let ask = ScheduleRequest { length: SIXTY, lossy, ..ask(rig, Viewer::default()) };
        schedule.select(&mut rig.store, &interest, &ask, &mut plan);
        if arrives {
            plan.state.iter().for_each(|pick| schedule.on_acked(pick, rig.tick));
        }
        plan.state.first().map(|pick| pick.since)
    };
    for _ in 0..4 {
        sent(&mut rig, true, true);
    }
    rig.set(who, "A0", 5.0);
    let known = sent(&mut rig, true, false).expect("the change is sent");
    let again: Vec<_> = (0..4).map(|_| sent(&mut rig, true, false)).collect();
    assert_eq!(again, [None, Some(known), None, Some(known)], "at its rate, from what the client has");
    sent(&mut rig, true, true);
    assert!(sent(&mut rig, true, true).is_some(), "the one that arrived");
    assert!((0..9).all(|_| sent(&mut rig, true, true).is_none()), "it is known to have arrived");
    rig.set(who, "A0", 6.0);
    assert!(sent(&mut rig, false, false).is_some());
    assert!(
        (0..9).all(|_| sent(&mut rig, false, false).is_none()),
        "on a good link an update is resent only after a loss report"
    );
}

#[test]
fn resends_wait_for_new_updates() {
    let mut rig = Rig::new(rules());
    let [old, new] = [(); 2].map(|()| rig.spawn(&["Vitals"], ControllerReplication::Full));
    let interest = interest(ActorKind::Static);
    let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
    let mut sent = |rig: &mut Rig, room: usize| {
        rig.step();
        let ask = ScheduleRequest { room, lossy: true, ..ask(rig, Viewer::default()) };
        schedule.select(&mut rig.store, &interest, &ask, &mut plan);
        let list: Vec<ControllerId> = plan.state.iter().map(|pick| pick.who).collect();
        if room > 100 {
            plan.state.iter().for_each(|pick| schedule.on_acked(pick, rig.tick));
        }
        list
    };
    assert_eq!(sent(&mut rig, 1000), [old, new]);
    rig.set(old, "A0", 5.0);
    assert_eq!(sent(&mut rig, 4), [old]);
    assert_eq!(sent(&mut rig, 4), [old], "again, while there is room");
    rig.set(new, "A0", 5.0);
    assert_eq!(sent(&mut rig, 4), [new]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// With any weights and any space every changing actor is sent repeatedly, and its waiting time is bounded by the weights.
    #[test]
    fn no_actor_starves(
        weights in prop::collection::vec(0..40u32, 2..20),
        room in 40..120usize,
        lossy in any::<bool>(),
    ) {
        let mut rig = Rig::new(rules());
        let all: Vec<ControllerId> = weights.iter().map(|_| rig.spawn(&["Vitals"], ControllerReplication::Full)).collect();
        let priority = Arc::new(Kind(ActorKind::Static, weights.clone()));
        let interest = Interest { relevance: Arc::new(AllRelevant), priority, rates: RateTable::default(), always_relevant: Vec::new() };
        let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
        let longest = 40 * weights.len() as u32;
        let mut last = vec![rig.tick; all.len()];
        for i in 0..4 * longest {
            for &who in &all {
                rig.set(who, "A0", (i % 900) as f64);
                rig.set(who, "A1", (i % 800) as f64);
            }
            rig.step();
            let ask = ScheduleRequest { room, packet: 1000, lossy, ..ask(&rig, Viewer::default()) };
            schedule.select(&mut rig.store, &interest, &ask, &mut plan);
            for pick in &plan.state {
                last[all.binary_search(&pick.who).unwrap()] = rig.tick;
            }
            prop_assert!(plan.state.is_sorted_by_key(|p| p.who));
            for (who, last) in all.iter().zip(&last) {
                prop_assert!(rig.tick.0 - last.0 <= longest, "{:?} waits since {:?} at {:?}", who, last, rig.tick);
            }
        }
    }

    #[test]
    fn a_bandwidth_never_exceeds_its_rate(
        per_second in 100..100_000u32,
        sends in prop::collection::vec((0..3000usize, 1..50i64), 1..100),
    ) {
        let mut bandwidth = Bandwidth::new(per_second, 1200);
        let (mut spent, mut time) = (0usize, 0i64);
        for (want, millis) in sends {
            let sent = want.min(bandwidth.left());
            bandwidth.spend(sent);
            spent += sent;
            bandwidth.advance(SimTime::millis(millis));
            time += millis;
            prop_assert!(bandwidth.left() <= 1200);
            prop_assert!(spent as i64 <= 1200 + per_second as i64 * time / 1000 + 1);
        }
    }
}

#[test]
fn targets_have_priority_over_near_and_far_actors() {
    let order = DistancePriority::default();
    let target = [ControllerId(9)];
    let viewer = Viewer { targets: &target, positions: &[[0.0; 3]], ..Viewer::default() };
    let weight = |who: u32, x: f64| order.weight(&viewer, ControllerId(who), Some([x, 0.0, 0.0]));
    assert!(
        weight(9, 900.0) > weight(1, 1.0) && weight(1, 1.0) > weight(1, 50.0) && weight(1, 50.0) > weight(1, 900.0)
    );
}
