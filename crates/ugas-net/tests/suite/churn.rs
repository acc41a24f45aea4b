//! Actors that are added and removed while clients play: a schedule evaluates only those, and clients end with the actors
//! of the server.

use crate::kit::LENGTH;
use crate::view::rig::{Rig, rules};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use ugas_core::{Anchor, ControllerId, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec};
use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
use ugas_net::harness::Harness;
use ugas_net::interest::{AllRelevant, DistanceRelevance, Relevance, RelevanceUpdate, Viewer};
use ugas_net::internals::{Interest, PacketPlan, Schedule, ScheduleRequest};
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

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

#[test]
fn only_added_actors_are_evaluated_and_visited() {
    for update in [RelevanceUpdate::Once, RelevanceUpdate::OnChange] {
        let mut rig = Rig::new(rules());
        let all: Vec<ControllerId> = (0..100).map(|_| rig.spawn(&["Vitals"], ControllerReplication::Full)).collect();
        let count = Arc::new(AtomicUsize::new(0));
        let interest = Interest { relevance: Arc::new(Counting(update, count.clone())), ..Interest::default() };
        let (mut schedule, mut plan) = (Schedule::default(), PacketPlan::default());
        let mut select = |rig: &mut Rig, plan: &mut PacketPlan| {
            let (tick, viewer) = (rig.tick, Viewer::default());
            let request = ScheduleRequest {
                viewer,
                tick,
                length: LENGTH,
                round_trip: SimTime::ZERO,
                room: 9000,
                packet: 1000,
                lossy: false,
            };
            schedule.select(&mut rig.store, &interest, &request, plan);
            plan.state.iter().for_each(|update| schedule.on_acked(update, tick));
            count.swap(0, Ordering::Relaxed)
        };
        rig.step();
        assert_eq!(select(&mut rig, &mut plan), 100);
        for (n, &gone) in all.iter().enumerate() {
            rig.store.remove(gone);
            rig.sim.despawn(gone).unwrap();
            let new = rig.spawn(&["Vitals"], ControllerReplication::Full);
            rig.step();
            let evaluated = select(&mut rig, &mut plan);
            // The new actor is recorded when it is added and each time its state is updated.
            assert!((1..=4).contains(&evaluated), "{update:?}, tick {n}: {evaluated} evaluations");
            assert_eq!((&plan.left[..], &plan.entered[..]), (&[gone][..], &[new][..]), "{update:?}, tick {n}");
            let sent: Vec<ControllerId> = plan.state.iter().map(|update| update.who).collect();
            assert_eq!(sent, [new], "{update:?}, tick {n}: unchanged actors are not sent again");
        }
    }
}

#[test]
fn a_slot_that_is_used_again_between_two_packets_is_another_actor() {
    let mut rig = Rig::new(rules());
    let old = rig.spawn(&["Vitals"], ControllerReplication::Full);
    let (interest, mut schedule, mut plan) = (Interest::default(), Schedule::default(), PacketPlan::default());
    let request = |rig: &Rig| ScheduleRequest {
        viewer: Viewer::default(),
        tick: rig.tick,
        length: LENGTH,
        round_trip: SimTime::ZERO,
        room: 9000,
        packet: 1000,
        lossy: false,
    };
    rig.step();
    let ask = request(&rig);
    schedule.select(&mut rig.store, &interest, &ask, &mut plan);
    let sent = plan.state[0];
    rig.store.remove(old);
    let new = rig.spawn(&["Vitals"], ControllerReplication::Full);
    assert_eq!(rig.store.slot(new), Some(sent.slot as usize), "the slot is used again");
    let ask = request(&rig);
    schedule.select(&mut rig.store, &interest, &ask, &mut plan);
    assert_eq!((&plan.left[..], &plan.entered[..]), (&[old][..], &[new][..]));
    // An ack or a loss of the old actor says nothing about the new one.
    schedule.on_acked(&sent, rig.tick);
    schedule.on_lost(&sent, rig.tick);
    assert!(!schedule.is_relevant(&rig.store, old) && schedule.is_relevant(&rig.store, new));
    assert!(schedule.is_missing(&rig.store, new, rig.tick), "nothing of the new actor is acknowledged");
}

/// A server with actors on a line, ten units apart.
struct Crowd {
    net: Harness,
    rules: Arc<Rules>,
    actors: Vec<ControllerId>,
}

impl Crowd {
    fn new(actors: usize, relevance: impl Relevance + 'static) -> Crowd {
        let set = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
        let rules = Rules::builder().add(set).build().unwrap();
        let sim = Sim::new(rules.clone(), SimConfig::default());
        let config =
            ServerConfig { tick_length: LENGTH, replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.set_relevance(relevance);
        let mut crowd = Crowd { net: Harness::new(server, 5), rules, actors: Vec::new() };
        crowd.actors = (0..actors).map(|n| crowd.spawn(n)).collect();
        crowd
    }

    fn spawn(&mut self, at: usize) -> ControllerId {
        let set = self.rules.set("Vitals").unwrap();
        let anchor = Some(Anchor::at([10.0 * at as f64, 0.0, 0.0]));
        self.net.server_mut().sim_mut().spawn(SpawnSpec { anchor, ..SpawnSpec::sets([set]) }).unwrap()
    }

    fn seen(&self, name: &str) -> Vec<ControllerId> {
        self.net.client(name).proxies().iter().map(|p| p.who()).collect()
    }
}

#[test]
fn clients_end_with_the_actors_of_the_server() {
    for profile in [LinkProfile::round_trip(100, 0), LinkProfile::BAD] {
        let mut crowd = Crowd::new(40, AllRelevant);
        let own = crowd.spawn(0);
        crowd.net.join("Ana", profile, &[own]).unwrap();
        crowd.net.run(60);
        for step in 0..200 {
            for at in [step % 40, step * 7 % 40] {
                crowd.net.server_mut().sim_mut().despawn(crowd.actors[at]).unwrap();
                crowd.actors[at] = crowd.spawn(at);
                let (who, x) = (crowd.actors[step * 3 % 40], step as f64);
                let anchor = Some(Anchor::at([x, 0.0, 0.0]));
                crowd.net.server_mut().sim_mut().run(Op::Move { who, anchor }).unwrap();
            }
            crowd.net.step();
        }
        crowd.net.restore_links();
        crowd.net.run(60);
        let mut expected = crowd.actors.clone();
        expected.sort_unstable();
        assert_eq!(crowd.seen("Ana"), expected);
        for &who in &expected {
            let [seen, truth] = [crowd.net.client("Ana").sim(), crowd.net.server().sim()].map(|sim| sim.anchor(who));
            assert_eq!(seen, truth);
        }
        assert_eq!(crowd.net.client("Ana").counts().malformed, 0);
    }
}

#[test]
fn clients_that_join_at_once_get_their_first_actors_in_turns() {
    let mut crowd = Crowd::new(20, DistanceRelevance::new(1000.0, 1000.0));
    let names: Vec<String> = (0..50).map(|n| format!("player {n}")).collect();
    for name in &names {
        let own = crowd.spawn(0);
        crowd.net.join(name, LinkProfile::round_trip(20, 0), &[own]).unwrap();
    }
    let (mut before, mut steps) = (0, Vec::new());
    for _ in 0..60 {
        crowd.net.step();
        let started = names.iter().filter(|name| !crowd.seen(name).is_empty()).count();
        steps.extend((started > before).then_some(started - before));
        before = started;
    }
    assert_eq!(before, names.len(), "every client gets its actors");
    assert!(steps.iter().all(|&count| count <= 16), "{steps:?} in each tick");
    assert!(names.iter().all(|name| crowd.seen(name).len() == 69), "20 actors and 49 players");
}
