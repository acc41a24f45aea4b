//! Random play over a link that loses, delays, duplicates and reorders: after the link is restored, each client has exactly the
//! visible state that the slow model computes, of the relevant actors and no others.

use super::rig::{LENGTH, Rig, rules};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::{ControllerId, EffectKey, Op, Rate, SimTime};
use ugas_doc::ControllerReplication;
use ugas_net::interest::{AllRelevant, DistancePriority, DistanceRelevance, RateTable, Relevance, Viewer};
use ugas_net::internals::view::{Pose, Proxies, ProxyChange, Track, read_next};
use ugas_net::internals::wire::bits::{BitReader, BitWriter};
use ugas_net::internals::{Interest, PacketPlan, PlannedPose, PlannedUpdate, Schedule, ScheduleRequest};
use ugas_net::types::Tick;

const MODES: [ControllerReplication; 4] = [
    ControllerReplication::Full,
    ControllerReplication::Mixed,
    ControllerReplication::Minimal,
    ControllerReplication::None,
];
const EFFECTS: [&str; 5] = ["GE_Mark", "GE_Ward", "GE_Slow", "GE_Hit", "GE_Burn"];

#[derive(Clone, Debug)]
enum Action {
    Set { actor: usize, attribute: usize, value: u16 },
    Apply { actor: usize, effect: usize },
    Remove { which: usize },
    AddSet { actor: usize },
    RemoveSet { actor: usize },
    Rate { actor: usize, rate: u8 },
    Place { actor: usize, x: u8 },
    Spawn { mode: usize },
    Despawn { actor: usize },
    Mode { actor: usize, mode: usize },
    Look { x: u8 },
    Step { fates: [Fate; 4] },
}

/// The fate of a packet: when it arrives, whether twice, and when the server receives the ack.
#[derive(Clone, Copy, Debug)]
struct Fate {
    arrives: Option<u32>,
    again: Option<u32>,
    /// Whether the ack arrives; otherwise the packet counts as lost.
    is_acknowledged: bool,
    answer: u32,
}

const DELIVERED: Fate = Fate { arrives: Some(0), again: None, is_acknowledged: true, answer: 1 };

fn fate() -> impl Strategy<Value = Fate> {
    let late = prop_oneof![3 => Just(Some(0u32)), 2 => (0..9u32).prop_map(Some), 2 => Just(None)];
    let again = prop_oneof![4 => Just(None), 1 => (0..9u32).prop_map(Some)];
    (late, again, any::<bool>(), 1..9u32).prop_map(|(arrives, again, is_acknowledged, answer)| {
        let is_acknowledged = is_acknowledged && arrives.is_some();
        Fate {
            arrives,
            again: again.filter(|_| arrives.is_some()),
            is_acknowledged,
            answer: answer + arrives.unwrap_or(0),
        }
    })
}

fn action() -> impl Strategy<Value = Action> {
    let actor = 0..6usize;
    prop_oneof![
        6 => (actor.clone(), 0..12usize, 0..1000u16)
            .prop_map(|(actor, attribute, value)| Action::Set { actor, attribute, value }),
        3 => (actor.clone(), 0..EFFECTS.len()).prop_map(|(actor, effect)| Action::Apply { actor, effect }),
        2 => (0..64usize).prop_map(|which| Action::Remove { which }),
        1 => actor.clone().prop_map(|actor| Action::AddSet { actor }),
        1 => actor.clone().prop_map(|actor| Action::RemoveSet { actor }),
        1 => (actor.clone(), any::<u8>()).prop_map(|(actor, rate)| Action::Rate { actor, rate }),
        2 => (actor.clone(), any::<u8>()).prop_map(|(actor, x)| Action::Place { actor, x }),
        1 => (0..MODES.len()).prop_map(|mode| Action::Spawn { mode }),
        1 => actor.clone().prop_map(|actor| Action::Despawn { actor }),
        1 => (actor, 0..MODES.len()).prop_map(|(actor, mode)| Action::Mode { actor, mode }),
        1 => any::<u8>().prop_map(|x| Action::Look { x }),
        8 => [fate(), fate(), fate(), fate()].prop_map(|fates| Action::Step { fates }),
    ]
}

/// One client and its link.
struct Client {
    interest: Interest,
    schedule: Schedule,
    plan: PacketPlan,
    proxies: Proxies,
    places: BTreeMap<ControllerId, Track>,
    /// Sections and removals, by arrival. Removals arrive in order, as reliable messages do.
    in_flight: Vec<(Tick, Section)>,
    /// The acks on their way to the server, with their arrival.
    answers: Vec<Answer>,
    word_due: Tick,
    /// Its position.
    place: [f64; 3],
    /// Whether its link is lossy.
    lossy: bool,
}

/// The result of a packet, as the server receives it.
struct Answer {
    due: Tick,
    state: Vec<PlannedUpdate>,
    poses: Vec<PlannedPose>,
    of: Tick,
    /// Its tick if it arrived.
    arrived: Option<Tick>,
}

#[derive(Clone)]
enum Section {
    State { of: Tick, bytes: Vec<u8> },
    Left { at: Tick, who: Vec<ControllerId> },
}

impl Client {
    fn new(rig: &Rig, relevance: Arc<dyn Relevance>, lossy: bool) -> Client {
        let priority = Arc::new(DistancePriority::default());
        Client {
            interest: Interest { relevance, priority, rates: RateTable::default(), always_relevant: Vec::new() },
            schedule: Schedule::default(),
            plan: PacketPlan::default(),
            proxies: Proxies::new(rig.rules.clone(), LENGTH),
            places: BTreeMap::new(),
            in_flight: Vec::new(),
            answers: Vec::new(),
            word_due: Tick(0),
            place: [0.0; 3],
            lossy,
        }
    }

    /// The server writes, the link delivers, the client reads.
    fn tick(&mut self, rig: &mut Rig, fate: Fate) {
        let now = rig.tick;
        for Answer { state, poses, of, arrived, .. } in self.answers.extract_if(.., |a| a.due <= now) {
            match arrived {
                Some(tick) => {
                    state.iter().for_each(|p| self.schedule.on_acked(p, tick));
                    poses.iter().for_each(|p| self.schedule.on_pose_acked(p, tick));
                }
                None => {
                    state.iter().for_each(|p| self.schedule.on_lost(p, of));
                    poses.iter().for_each(|p| self.schedule.on_pose_lost(p));
                }
            }
        }
        let viewer = Viewer { positions: &[self.place], ..Viewer::default() };
        let (length, round_trip) = (LENGTH, SimTime::millis(50));
        let ask = ScheduleRequest { viewer, tick: now, length, round_trip, room: 150, packet: 1000, lossy: self.lossy };
        self.schedule.select(&mut rig.store, &self.interest, &ask, &mut self.plan);
        assert!(self.plan.large.is_empty());
        let mut out = BitWriter::new();
        self.plan.write_state(&mut rig.store, &mut out);
        assert!(out.byte_len() <= 151, "the space is not exceeded: {}", out.byte_len());
        self.plan.write_poses(&rig.store, &mut out);
        let section = Section::State { of: now, bytes: out.finish().to_vec() };
        for late in [fate.arrives, fate.again].into_iter().flatten() {
            self.in_flight.push((now.plus(late), section.clone()));
        }
        let PacketPlan { state, poses, .. } = self.plan.clone();
        let (due, arrived) = (now.plus(fate.answer), fate.is_acknowledged.then_some(now));
        self.answers.push(Answer { due, state, poses, of: now, arrived });
        if !self.plan.left.is_empty() {
            self.word_due = self.word_due.max(now.plus(fate.answer));
            self.in_flight.push((self.word_due, Section::Left { at: now, who: self.plan.left.clone() }));
        }
        for (_, section) in self.in_flight.extract_if(.., |l| l.0 <= now).collect::<Vec<_>>() {
            self.read(section);
        }
    }

    fn read(&mut self, section: Section) {
        match section {
            Section::Left { at, who } => who.into_iter().for_each(|who| self.proxies.remove(who, at)),
            Section::State { of, bytes } => {
                let (mut from, mut last) = (BitReader::new(&bytes), None);
                let mut changes: Vec<(ControllerId, ProxyChange)> = Vec::new();
                while let Some(who) = read_next(&mut from, &mut last).unwrap() {
                    self.proxies.read(&mut from, who, of, &mut changes).unwrap();
                }
                last = None;
                while let Some(who) = read_next(&mut from, &mut last).unwrap() {
                    let track = self.places.entry(who).or_default();
                    let pose = Pose::get(&mut from, |back| track.sample(of.minus(back).time(LENGTH))).unwrap();
                    track.push(of.time(LENGTH), pose.expect("the client has the baseline"));
                }
                assert!(from.left() < 8, "reader and writer disagree");
            }
        }
    }
}

fn play(rig: &mut Rig, actors: &mut Vec<ControllerId>, keys: &mut Vec<EffectKey>, action: &Action) {
    let at = |actor: usize| actors.get(actor % actors.len().max(1)).copied();
    let of = |actor: &usize| at(*actor).unwrap_or(ControllerId(u32::MAX - 1));
    match action {
        Action::Set { actor, attribute, value } => {
            let own = ["Hidden", "Own", "Exact", "Edge"].map(String::from);
            let name = own.get(attribute.wrapping_sub(8)).cloned().unwrap_or(format!("A{attribute}"));
            rig.set(of(actor), &name, *value as f64);
        }
        Action::Apply { actor, effect } => keys.extend(rig.apply(of(actor), EFFECTS[*effect])),
        Action::Remove { which } => {
            if let Some(key) = keys.get(which % keys.len().max(1)) {
                let _ = rig.sim.remove(*key);
            }
        }
        Action::AddSet { actor } => drop(rig.sim.run(Op::AddSet { who: of(actor), set: rig.set_id("Item") })),
        Action::RemoveSet { actor } => {
            drop(rig.sim.run(Op::RemoveSet { who: of(actor), set: rig.set_id("Item"), force: true }));
        }
        Action::Rate { actor, rate } => {
            drop(rig.sim.run(Op::SetRate { who: of(actor), rate: Rate::new(*rate as f64 / 100.0).unwrap() }));
        }
        Action::Place { actor, x } => {
            if let Some(who) = at(*actor) {
                rig.place(who, [*x as f64, 0.0, 0.0]);
            }
        }
        Action::Spawn { mode } if actors.len() < 12 => {
            actors.push(rig.spawn(&["Vitals", "Purse"], MODES[*mode]));
        }
        Action::Despawn { actor } => {
            if let Some(who) = at(*actor) {
                rig.sim.despawn(who).unwrap();
                rig.store.remove(who);
                actors.retain(|&a| a != who);
            }
        }
        Action::Mode { actor, mode } => {
            if let Some(who) = at(*actor) {
                rig.store.add(&rig.sim, who, MODES[*mode], rig.tick.plus(1)).unwrap();
            }
        }
        Action::Spawn { .. } | Action::Look { .. } | Action::Step { .. } => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn a_client_ends_with_the_visible_state_over_any_link(
        actions in prop::collection::vec(action(), 1..160),
    ) {
        let mut rig = Rig::new(rules());
        let mut actors: Vec<ControllerId> = MODES.iter().map(|&m| rig.spawn(&["Vitals", "Purse"], m)).collect();
        let mut keys = Vec::new();
        let near = || Arc::new(DistanceRelevance::new(100.0, 150.0));
        let mut clients = [
            Client::new(&rig, Arc::new(AllRelevant), false),
            Client::new(&rig, near(), false),
            Client::new(&rig, Arc::new(AllRelevant), true),
            Client::new(&rig, near(), true),
        ];
        for action in &actions {
            play(&mut rig, &mut actors, &mut keys, action);
            if let Action::Look { x } = action {
                clients.iter_mut().for_each(|c| c.place[0] = f64::from(*x));
            }
            if let Action::Step { fates } = action {
                rig.step();
                clients.iter_mut().zip(*fates).for_each(|(c, fate)| c.tick(&mut rig, fate));
            }
        }
        // At the usual clock rate all effects end before the comparison.
        actors.iter().for_each(|&who| drop(rig.sim.run(Op::SetRate { who, rate: Rate::ONE })));
        clients.iter_mut().for_each(|c| c.place = [0.0; 3]);
        for _ in 0..80 {
            rig.step();
            clients.iter_mut().for_each(|c| c.tick(&mut rig, DELIVERED));
        }
        for client in &clients {
            let seen: Vec<ControllerId> = client.proxies.iter().map(|p| p.who()).collect();
            let is_near = |who: ControllerId| {
                let place = rig.store.pose(who).map(|p| p.anchor().position);
                (place, seen.contains(&who))
            };
            for &who in rig.store.ids() {
                let (place, is_seen) = is_near(who);
                prop_assert_eq!(client.schedule.is_current(&rig.store, who), is_seen, "{:?}", who);
                match client.proxies.get(who) {
                    Some(proxy) => prop_assert_eq!(proxy.snapshot(), rig.truth(who), "{:?}", who),
                    None => prop_assert!(place.is_some_and(|p| p[0] > 100.0), "{:?} is unknown", who),
                }
                if let (true, Some(place)) = (is_seen, place) {
                    prop_assert_eq!(client.places[&who].last().unwrap().1.anchor().position, place);
                }
            }
            prop_assert!(seen.iter().all(|who| rig.store.ids().contains(who)), "a removed actor is still present");
        }
    }
}
