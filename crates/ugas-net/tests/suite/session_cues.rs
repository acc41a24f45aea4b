//! Cues and observers of a client: a predicted cue plays once, is not played again when it is confirmed, and is cancelled
//! when the prediction was wrong; over every link profile.

use crate::kit::{Game, Setup, builder};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use ugas::{BurstCue, CueContext, CueManager, LoopCue, Observers};
use ugas_core::{ControllerId, FactKind, Hit, SimTime, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Effect};
use ugas_net::client::NetFacts;
use ugas_net::link::LinkProfile;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    bursts: u32,
    cancelled: u32,
    added: u32,
    removed: u32,
}

type Record = Rc<RefCell<Calls>>;

struct Recorder(Record, Rc<RefCell<Option<[f64; 3]>>>);

impl BurstCue for Recorder {
    fn execute(&mut self, cx: &CueContext<'_>) {
        self.0.borrow_mut().bursts += 1;
        *self.1.borrow_mut() = cx.hit;
    }
    fn cancel(&mut self, _: &CueContext<'_>) {
        self.0.borrow_mut().cancelled += 1;
    }
}

impl LoopCue for Recorder {
    fn add(&mut self, _: &CueContext<'_>) {
        self.0.borrow_mut().added += 1;
    }
    fn remove(&mut self, _: &CueContext<'_>) {
        self.0.borrow_mut().removed += 1;
    }
}

const BURST: &str = "GameplayCue.Impact.Spark";
const REMOTE_LOOP: &str = "GameplayCue.Status.Burning";
const OWN_LOOP: &str = "GameplayCue.Status.Aura";

/// What the observers received.
#[derive(Debug, Default)]
struct Seen {
    mana: Vec<(f64, bool)>,
    health: Vec<f64>,
    aura: i32,
    confirmed: u32,
    undone: u32,
}

/// A client's cues and observers.
struct Host {
    cues: CueManager<'static>,
    observers: Observers<'static>,
    calls: [Record; 3],
    hit: Rc<RefCell<Option<[f64; 3]>>>,
    seen: Arc<Mutex<Seen>>,
}

impl Host {
    fn new(game: &Game) -> Host {
        let calls: [Record; 3] = Default::default();
        let hit: Rc<RefCell<Option<[f64; 3]>>> = Rc::default();
        let mut cues = CueManager::default();
        let recorder = |at: usize| (calls[at].clone(), Rc::clone(&hit));
        let (record, place) = recorder(0);
        cues.register_burst(game.tag(BURST), 1, move || Box::new(Recorder(record.clone(), place.clone())));
        for (at, tag) in [(1, REMOTE_LOOP), (2, OWN_LOOP)] {
            let (record, place) = recorder(at);
            cues.register_loop(game.tag(tag), 1, move || Box::new(Recorder(record.clone(), place.clone())));
        }
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut observers = Observers::default();
        let log = seen.clone();
        observers.on_attribute(game.attribute("Mana"), Some(game.hero), move |n| {
            let FactKind::AttributeChanged { new, .. } = n.fact.kind else { panic!("not a change") };
            log.lock().unwrap().mana.push((new, n.is_correction));
        });
        let log = seen.clone();
        observers.on_attribute(game.attribute("Health"), Some(game.foe), move |n| {
            let FactKind::AttributeChanged { new, .. } = n.fact.kind else { panic!("not a change") };
            log.lock().unwrap().health.push(new);
        });
        let log = seen.clone();
        observers.on_effect(game.effect("GE_Aura"), Some(game.hero), move |n| {
            log.lock().unwrap().aura += match n.fact.kind {
                FactKind::EffectApplied { .. } => 1,
                FactKind::EffectRemoved { .. } => -1,
                _ => 0,
            };
        });
        let log = seen.clone();
        observers.on_confirmed(None, move |_| log.lock().unwrap().confirmed += 1);
        let log = seen.clone();
        observers.on_undone(None, move |_| log.lock().unwrap().undone += 1);
        Host { cues, observers, calls, hit, seen }
    }

    fn calls(&self, at: usize) -> Calls {
        *self.calls[at].borrow()
    }

    /// One tick of the session, and what a host does after it.
    fn step(&mut self, game: &mut Game) {
        game.net.step();
        self.dispatch(game);
    }

    fn dispatch(&mut self, game: &mut Game) {
        let mut facts = NetFacts::default();
        let client = game.net.client_mut("Ana");
        client.take_facts(&mut facts);
        self.cues.dispatch(client.sim(), &facts);
        self.observers.dispatch(client.sim(), &facts);
    }

    fn run(&mut self, game: &mut Game, ticks: u32) {
        (0..ticks).for_each(|_| self.step(game));
    }

    /// Runs until the prediction window is open.
    fn wait(&mut self, game: &mut Game) {
        for _ in 0..600 {
            if game.ana().can_predict() {
                return;
            }
            self.step(game);
        }
        panic!("the prediction window never opens");
    }

    fn cast(&mut self, game: &mut Game, name: &str, target: Target) {
        game.cast(name, target).unwrap();
        self.dispatch(game);
    }
}

fn game(profile: LinkProfile, seed: u64) -> Game {
    let apply = |task: &str, effect: &str| AbilityTask::new(task).param("EffectClass", effect);
    let builder = builder()
        .add(Effect::instant("GE_Spark").add("Health", -5.0).cue(BURST))
        .add(Effect::lasting("GE_Burning", 2.0).grants("State.Burning").cue(REMOTE_LOOP))
        .add(Effect::lasting("GE_Aura", 2.0).add("Speed", 1.0).cue(OWN_LOOP))
        .add(Effect::instant("GE_Drain").add("Mana", -90.0))
        .add(
            Ability::new("GA_Blaze")
                .cost("GE_Cost")
                .task(apply("ApplyEffectToTarget", "GE_Spark"))
                .task(apply("ApplyEffectToTarget", "GE_Burning"))
                .task(apply("ApplyEffectToOwner", "GE_Aura")),
        );
    Game::new(Setup { builder, profile, seed, ..Setup::default() })
}

/// Activates the ability with all cues once; on the server it is affordable or not.
fn play(profile: LinkProfile, seed: u64, is_affordable: bool) -> (Game, Host) {
    let mut game = game(profile, seed);
    let mut host = Host::new(&game);
    host.run(&mut game, 60);
    host.wait(&mut game);
    *host.seen.lock().unwrap() = Seen::default();
    if !is_affordable {
        let drain = Spec::new(game.effect("GE_Drain"), game.hero);
        game.net.server_mut().sim_mut().apply(&drain).unwrap();
    }
    let target = Target::Controller(game.foe);
    host.cast(&mut game, "GA_Blaze", target);
    let started = Calls { added: 1, ..Calls::default() };
    assert_eq!(host.calls(0), Calls { bursts: 1, ..Calls::default() }, "it plays when it is predicted");
    assert_eq!([host.calls(1), host.calls(2)], [started; 2]);
    (game, host)
}

fn is_playing(host: &Host, game: &Game, who: ControllerId, tag: &str) -> bool {
    host.cues.is_playing(who, game.tag(tag))
}

/// Observers end at the values of the sim, whatever was predicted.
fn assert_observed(game: &Game, host: &Host, about: &str) {
    let seen = host.seen.lock().unwrap();
    assert_eq!(seen.mana.last().map(|m| m.0), Some(game.seen(game.hero, "Mana")), "{about}: {seen:?}");
    assert_eq!(seen.health.last(), Some(&game.seen(game.foe, "Health")), "{about}: {seen:?}");
    assert_eq!(seen.aura, 0, "{about}: applied and removed: {seen:?}");
}

#[test]
fn a_confirmed_cue_plays_once_over_every_link() {
    for (name, profile) in LinkProfile::ALL {
        for seed in 1..4 {
            let about = format!("{name}, seed {seed}");
            let (mut game, mut host) = play(profile, seed, true);
            host.run(&mut game, 90);
            // Where six of ten packets are lost a command may arrive too late: then it is rejected.
            let is_rejected = game.ana().counts().rejected > 0;
            if !is_rejected && game.ana().pending_commands() == 0 {
                assert!(is_playing(&host, &game, game.foe, REMOTE_LOOP), "{about}: the remote loop keeps playing");
                assert!(is_playing(&host, &game, game.hero, OWN_LOOP), "{about}: the own loop keeps playing");
                assert!(host.seen.lock().unwrap().confirmed > 0, "{about}: {:?}", host.seen);
            }
            game.net.restore_links();
            host.run(&mut game, 180);
            let is_rejected = game.ana().counts().rejected > 0;
            assert!(!is_rejected || profile == LinkProfile::TORTURE, "{about}");
            let bursts = Calls { bursts: 1, cancelled: u32::from(is_rejected), ..Calls::default() };
            assert_eq!(host.calls(0), bursts, "{about}");
            let once = Calls { added: 1, removed: 1, ..Calls::default() };
            assert_eq!([host.calls(1), host.calls(2)], [once; 2], "{about}: started once, stopped at the end");
            assert_eq!(host.cues.figures().active, 0, "{about}");
            assert_observed(&game, &host, &about);
            let seen = host.seen.lock().unwrap();
            assert_eq!(seen.undone > 0, is_rejected, "{about}: {seen:?}");
            assert_eq!(seen.mana.len(), 1 + usize::from(is_rejected), "{about}: {seen:?}");
        }
    }
}

#[test]
fn an_undone_cue_stops_over_every_link() {
    for (name, profile) in LinkProfile::ALL {
        for seed in 1..4 {
            let about = format!("{name}, seed {seed}");
            let (mut game, mut host) = play(profile, seed, false);
            let mut ticks = 0;
            while game.ana().pending_commands() > 0 && ticks < 600 {
                host.step(&mut game);
                ticks += 1;
            }
            assert_eq!((game.ana().pending_commands(), game.ana().counts().rejected), (0, 1), "{about}");
            let stopped = Calls { added: 1, removed: 1, ..Calls::default() };
            assert_eq!(host.calls(0), Calls { bursts: 1, cancelled: 1, ..Calls::default() }, "{about}");
            assert_eq!([host.calls(1), host.calls(2)], [stopped; 2], "{about}: with the verdict, not with their time");
            assert_eq!((host.cues.figures().active, host.cues.figures().cancelled), (0, 1), "{about}");
            game.net.restore_links();
            host.run(&mut game, 180);
            assert_eq!(host.calls(0), Calls { bursts: 1, cancelled: 1, ..Calls::default() }, "{about}");
            assert_eq!([host.calls(1), host.calls(2)], [stopped; 2], "{about}: nothing plays later");
            assert_observed(&game, &host, &about);
            let seen = host.seen.lock().unwrap();
            assert!(seen.undone > 0 && seen.mana.iter().any(|m| m.1), "{about}: {seen:?}");
        }
    }
}

#[test]
fn cues_of_the_server_play_on_own_and_remote_actors() {
    for (name, profile) in LinkProfile::ALL.into_iter().filter(|(_, p)| *p != LinkProfile::TORTURE) {
        let mut game = game(profile, 7);
        let mut host = Host::new(&game);
        host.run(&mut game, 60);
        let (aura, burning, spark) = (game.effect("GE_Aura"), game.effect("GE_Burning"), game.effect("GE_Spark"));
        let sim = game.net.server_mut().sim_mut();
        sim.apply(&Spec::new(aura, game.hero)).unwrap();
        sim.apply(&Spec::new(burning, game.foe)).unwrap();
        let hit = Hit { position: Some([3.0, 4.0, 5.0]), ..Hit::default() };
        sim.apply(&Spec::new(spark, game.foe).hit(hit)).unwrap();
        host.run(&mut game, 60);
        let started = Calls { added: 1, ..Calls::default() };
        assert_eq!([host.calls(1), host.calls(2)], [started; 2], "{name}");
        if host.calls(0).bursts > 0 {
            assert_eq!(*host.hit.borrow(), Some([3.0, 4.0, 5.0]), "{name}: a burst plays where it hit");
        }
        // A new manager starts the loops that are active.
        let mut late = Host::new(&game);
        late.cues.join_session(game.ana());
        assert_eq!([late.calls(1), late.calls(2)], [started; 2], "{name}");
        host.run(&mut game, 120);
        let stopped = Calls { added: 1, removed: 1, ..Calls::default() };
        assert_eq!([host.calls(1), host.calls(2)], [stopped; 2], "{name}");
        assert_eq!(host.seen.lock().unwrap().aura, 0, "{name}");
    }
}

#[test]
fn a_loop_of_the_server_outlives_a_wrong_prediction_of_it() {
    let mut game = game(LinkProfile::round_trip(100, 0), 3);
    let mut host = Host::new(&game);
    host.run(&mut game, 30);
    host.wait(&mut game);
    // The server starts both loops itself and will reject the ability; the client predicts them before that arrives.
    let (aura, burning, drain) = (game.effect("GE_Aura"), game.effect("GE_Burning"), game.effect("GE_Drain"));
    let sim = game.net.server_mut().sim_mut();
    sim.apply(&Spec::new(drain, game.hero)).unwrap();
    sim.apply(&Spec::new(aura, game.hero).lasting(SimTime::seconds(60.0))).unwrap();
    sim.apply(&Spec::new(burning, game.foe).lasting(SimTime::seconds(60.0))).unwrap();
    let target = Target::Controller(game.foe);
    host.cast(&mut game, "GA_Blaze", target);
    host.run(&mut game, 120);
    assert_eq!((game.ana().pending_commands(), game.ana().counts().rejected), (0, 1));
    assert!(is_playing(&host, &game, game.hero, OWN_LOOP), "{:?}", host.calls(2));
    assert!(is_playing(&host, &game, game.foe, REMOTE_LOOP), "{:?}", host.calls(1));
    assert_eq!(host.calls(2), Calls { added: 1, ..Calls::default() }, "the own loop does not even flicker");
}
