//! Relevance, update rates and interpolation over whole sessions.

use crate::kit::{Game, LENGTH, Setup};
use ugas_core::{Anchor, ControllerId, Op, SimTime, SpawnSpec};
use ugas_net::client::Certainty;
use ugas_net::interest::{ActorKind, DistanceRelevance, Priority, RateTable, Viewer};
use ugas_net::link::LinkProfile;

fn game(round_trip: i64) -> Game {
    Game::new(Setup { profile: LinkProfile::round_trip(round_trip, 0), ..Setup::default() })
}

/// Moves the foe to this point of the x axis.
fn move_foe(game: &mut Game, x: f64) {
    let (who, anchor) = (game.foe, Some(Anchor::at([x, 0.0, 0.0])));
    game.net.server_mut().sim_mut().run(Op::Move { who, anchor }).unwrap();
}

/// The positions that Ana receives in a second in which the foe moves every tick.
fn updates_in_a_second(game: &mut Game) -> usize {
    let mut places = Vec::new();
    for i in 0..80 {
        move_foe(game, i as f64);
        game.net.step();
        if i < 20 {
            continue;
        }
        places.push(game.ana().sim().anchor(game.foe).unwrap().unwrap().position[0] as u32);
    }
    places.dedup();
    places.len()
}

// covers: UGAS-13.6-02
#[test]
fn a_long_round_trip_lowers_the_rate_and_deepens_the_window() {
    let (mut short, mut long) = (game(100), game(200));
    // A player is near; the foe without an owner is far away until it moves.
    move_foe(&mut short, 0.0);
    move_foe(&mut long, 0.0);
    short.net.run(60);
    long.net.run(60);
    let (fast, slow) = (updates_in_a_second(&mut short), updates_in_a_second(&mut long));
    assert!(fast >= 59, "{fast} a second at 100 ms");
    assert!((20..=31).contains(&slow), "{slow} a second at 200 ms");
    let window = |round_trip| {
        let profile = LinkProfile::round_trip(round_trip, 0);
        Game::new(Setup { profile, window: SimTime::seconds(2.0), ..Setup::default() }).ana().prediction_window()
    };
    assert!(window(200) > window(140), "{} {}", window(200), window(140));
    assert_eq!(window(140), window(100));
}

/// Every actor is sent at most ten times a second.
struct Slow;

impl Priority for Slow {
    fn weight(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>) -> u32 {
        1
    }
    fn kind(&self, _: &Viewer, _: ControllerId, _: Option<[f64; 3]>) -> ActorKind {
        ActorKind::Distant
    }
}

// covers: UGAS-13.6-04
#[test]
fn remote_positions_are_interpolated_between_samples_a_tenth_of_a_second_apart() {
    let mut game = game(50);
    game.net.server_mut().set_priority(Slow);
    game.net.server_mut().set_rates(RateTable { distant: 10..=10, ..RateTable::default() });
    let start = game.net.server().tick().time(LENGTH);
    let mut between = 0;
    for i in 0..120 {
        move_foe(&mut game, i as f64);
        game.net.step();
        if i < 60 {
            continue;
        }
        let ana = game.ana();
        let at = (ana.render_time() - start).0 as f64 / LENGTH.0 as f64;
        let x = ana.render_anchor(game.foe).unwrap().position[0];
        // A place that is set before tick n is that of the end of tick n.
        assert!((x - (at - 1.0)).abs() < 0.05, "shown at {x} when it was at {}", at - 1.0);
        between += (x.fract().abs() > 0.01) as u32;
        assert!((ana.render_time()) < game.net.server().tick().time(LENGTH) - SimTime::millis(100));
    }
    assert!(between > 0);
    assert_eq!(
        game.ana().render_anchor(game.hero),
        game.ana().sim().anchor(game.hero).unwrap(),
        "one's own is not delayed"
    );
}

#[test]
fn an_actor_that_leaves_relevance_is_removed_and_returns_completely() {
    let mut game = game(50);
    game.net.server_mut().set_relevance(DistanceRelevance::new(500.0, 600.0));
    game.net.run(30);
    game.facts();
    move_foe(&mut game, 601.0);
    game.net.run(30);
    assert!(!game.ana().sim().exists(game.foe));
    let despawns = |facts: &[(ugas_core::Fact, Certainty)], game: &Game| {
        facts.iter().filter(|(f, _)| f.who == game.foe && f.kind == ugas_core::FactKind::Despawned).count()
    };
    let facts = game.facts();
    assert_eq!(despawns(&facts, &game), 1);
    let (foe, ward) = (game.foe, game.effect("GE_Ward"));
    game.net.server_mut().sim_mut().run(Op::Apply(ugas_core::Spec::new(ward, foe))).unwrap();
    game.net.run(30);
    assert!(!game.ana().sim().exists(foe), "changes of irrelevant actors are not sent");
    move_foe(&mut game, 10.0);
    game.net.run(30);
    let sim = game.ana().sim();
    assert_eq!(sim.anchor(foe).unwrap().unwrap().position, [10.0, 0.0, 0.0]);
    assert!(sim.has_tag(foe, game.tag("State.Warded")).unwrap());
    assert!(game.ana().sim().exists(game.hero), "one's own is always in sight");
}

#[test]
fn a_state_longer_than_a_packet_and_later_updates_arrive() {
    let lossy = LinkProfile { loss: 0.2, ..LinkProfile::round_trip(100, 0) };
    for profile in [LinkProfile::round_trip(50, 0), lossy] {
        let mut game = Game::new(Setup { profile, ..Setup::default() });
        let (foe, ward) = (game.foe, game.effect("GE_Ward"));
        for _ in 0..150 {
            game.net.server_mut().sim_mut().run(Op::Apply(ugas_core::Spec::new(ward, foe))).unwrap();
        }
        game.net.run(20);
        let other = game.effect("GE_Other");
        for _ in 0..10 {
            game.net.server_mut().sim_mut().run(Op::Apply(ugas_core::Spec::new(other, foe))).unwrap();
            game.net.run(3);
        }
        game.net.run(180);
        assert_eq!(game.ana().proxies().get(foe).unwrap().effects().count(), 150);
        assert_eq!(game.seen(foe, "Health"), game.truth(foe, "Health"));
        assert_eq!(game.ana().counts().malformed, 0, "nothing came that could not be read");
    }
}

#[test]
fn a_predicted_hit_never_flickers_under_packet_loss() {
    for seed in 0..6 {
        let mut game = Game::new(Setup { profile: LinkProfile::BAD, seed, ..Setup::default() });
        game.net.run(120);
        let mut least = game.seen(game.foe, "Health");
        let (mut hits, mut shown) = (0, Vec::new());
        for i in 0..400 {
            if i % 45 == 0 {
                let target = ugas_core::Target::Controller(game.foe);
                hits += game.cast("GA_Bolt", target).is_ok() as u32;
            }
            game.net.step();
            let now = game.seen(game.foe, "Health");
            if now > least {
                shown.push((i, least, now));
            }
            least = least.min(now);
        }
        assert!(hits > 2, "{hits}");
        assert!(game.ana().counts().rejected == 0 && shown.is_empty(), "seed {seed}: health rose {shown:?}");
    }
}

#[test]
fn a_client_receives_at_most_its_bandwidth_and_eventually_all_updates() {
    let mut game = game(50);
    let vitals = game.rules.set("Vitals").unwrap();
    let crowd: Vec<_> =
        (0..200).map(|_| game.net.server_mut().sim_mut().spawn(SpawnSpec::sets([vitals])).unwrap()).collect();
    let peer = game.net.player("Ana").peer().unwrap();
    game.net.server_mut().set_bandwidth(peer, 4_000);
    game.net.run(240);
    let before = game.net.player("Ana").down.counts().bytes;
    let hurt = game.effect("GE_Other");
    for _ in 0..240 {
        for &who in &crowd {
            game.net.server_mut().sim_mut().run(Op::Apply(ugas_core::Spec::new(hurt, who))).unwrap();
        }
        game.net.step();
    }
    let sent = game.net.player("Ana").down.counts().bytes - before;
    assert!(sent < 4 * 4_000 + 1_200, "{sent} bytes in four seconds");
    game.net.run(240);
    for &who in &crowd {
        assert_eq!(game.seen(who, "Health"), game.truth(who, "Health"));
    }
}

/// A game in which actors farther than 50 units are not relevant, with the foe at 400 units.
fn near_game() -> Game {
    let mut game = game(50);
    game.net.server_mut().set_relevance(DistanceRelevance::new(50.0, 60.0));
    game.net.run(30);
    game
}

/// Adds a client that owns these controllers, and waits until it has joined.
fn add_client(game: &mut Game, owns: &[ControllerId]) {
    game.net.join("Cleo", LinkProfile::round_trip(50, 0), owns).unwrap();
    game.net.run(60);
}

fn spawn(game: &mut Game, x: Option<f64>) -> ControllerId {
    let anchor = x.map(|x| Anchor::at([x, 0.0, 0.0]));
    let sets = SpawnSpec::sets([game.rules.set("Vitals").unwrap()]);
    game.net.server_mut().sim_mut().spawn(SpawnSpec { anchor, ..sets }).unwrap()
}

#[test]
fn the_nearest_own_controller_decides_what_is_relevant() {
    let mut game = near_game();
    let (away, near) = (spawn(&mut game, Some(5000.0)), spawn(&mut game, Some(390.0)));
    add_client(&mut game, &[away, near]);
    let sees = |game: &Game, who| game.net.client("Cleo").sim().exists(who);
    assert!(sees(&game, game.foe), "it is ten units from the second own controller");
    assert!(!sees(&game, game.hero) && !sees(&game, game.other));
    let (hero, anchor) = (game.hero, Some(Anchor::at([5010.0, 0.0, 0.0])));
    game.net.server_mut().sim_mut().run(Op::Move { who: hero, anchor }).unwrap();
    game.net.run(30);
    assert!(sees(&game, game.hero) && sees(&game, game.foe), "each is near one of the two");
    let anchor = Some(Anchor::at([20_000.0, 0.0, 0.0]));
    game.net.server_mut().sim_mut().run(Op::Move { who: near, anchor }).unwrap();
    game.net.run(30);
    assert!(sees(&game, game.hero) && !sees(&game, game.foe), "the second own controller left");
}

#[test]
fn a_client_without_a_position_sees_only_what_is_always_relevant() {
    let mut game = near_game();
    let (own, state) = (spawn(&mut game, None), spawn(&mut game, None));
    add_client(&mut game, &[own]);
    let sees = |game: &Game, who| game.net.client("Cleo").sim().exists(who);
    assert!(sees(&game, own) && sees(&game, state), "actors without a position are always relevant");
    for who in [game.hero, game.other, game.foe] {
        assert!(!sees(&game, who), "{who}");
    }
    let foe = game.foe;
    game.net.server_mut().set_always_relevant(foe, true);
    game.net.run(30);
    assert!(sees(&game, foe) && !sees(&game, game.hero));
    game.net.server_mut().set_always_relevant(foe, false);
    game.net.run(30);
    assert!(!sees(&game, foe));
}

#[test]
fn an_actor_that_is_always_relevant_is_seen_from_afar() {
    let mut game = near_game();
    assert!(!game.ana().sim().exists(game.foe));
    let foe = game.foe;
    game.net.server_mut().set_always_relevant(foe, true);
    game.net.run(30);
    assert!(game.ana().sim().exists(foe));
}
