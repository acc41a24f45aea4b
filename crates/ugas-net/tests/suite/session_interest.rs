//! Who hears of whom, how often and how it is shown, over whole sessions.

use crate::kit::{Game, LENGTH, Setup};
use ugas_core::{Anchor, Op, SimTime, SpawnSpec};
use ugas_net::client::Certainty;
use ugas_net::interest::{ActorKind, DistanceRelevance, Priority, RateTable, Viewer};
use ugas_net::link::LinkProfile;

fn game(round_trip: i64) -> Game {
    Game::new(Setup { profile: LinkProfile::round_trip(round_trip, 0), ..Setup::default() })
}

/// The foe stands at this point of the x axis.
fn stand(game: &mut Game, x: f64) {
    let (who, anchor) = (game.foe, Some(Anchor::at([x, 0.0, 0.0])));
    game.net.server_mut().sim_mut().run(Op::Move { who, anchor }).unwrap();
}

/// How many places Ana hears of in a second in which the foe moves in every tick.
fn heard_in_a_second(game: &mut Game) -> usize {
    let mut places = Vec::new();
    for i in 0..80 {
        stand(game, i as f64);
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
    // A player near by; the foe of nobody's stands far off until it moves.
    stand(&mut short, 0.0);
    stand(&mut long, 0.0);
    short.net.run(60);
    long.net.run(60);
    let (fast, slow) = (heard_in_a_second(&mut short), heard_in_a_second(&mut long));
    assert!(fast >= 59, "{fast} a second at 100 ms");
    assert!((20..=31).contains(&slow), "{slow} a second at 200 ms");
    assert!(
        long.ana().prediction_window() > short.ana().prediction_window(),
        "{} {}",
        long.ana().prediction_window(),
        short.ana().prediction_window()
    );
}

/// Everybody is sent at most ten times a second.
struct Slow;

impl Priority for Slow {
    fn weight(&self, _: &Viewer, _: ugas_core::ControllerId, _: Option<[f64; 3]>) -> u32 {
        1
    }
    fn kind(&self, _: &Viewer, _: ugas_core::ControllerId, _: Option<[f64; 3]>) -> ActorKind {
        ActorKind::Distant
    }
}

// covers: UGAS-13.6-04
#[test]
fn others_are_shown_on_the_way_between_places_a_tenth_of_a_second_apart() {
    let mut game = game(50);
    game.net.server_mut().set_priority(Slow);
    game.net.server_mut().set_rates(RateTable { distant: 10..=10, ..RateTable::default() });
    let start = game.net.server().tick().time(LENGTH);
    let mut between = 0;
    for i in 0..120 {
        stand(&mut game, i as f64);
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
fn who_goes_out_of_sight_is_gone_and_comes_back_whole() {
    let mut game = game(50);
    game.net.server_mut().set_relevance(DistanceRelevance::new(500.0, 600.0));
    game.net.run(30);
    game.facts();
    stand(&mut game, 601.0);
    game.net.run(30);
    assert!(!game.ana().sim().exists(game.foe));
    let told = |facts: &[(ugas_core::Fact, Certainty)], game: &Game| {
        facts.iter().filter(|(f, _)| f.who == game.foe && f.kind == ugas_core::FactKind::Despawned).count()
    };
    let facts = game.facts();
    assert_eq!(told(&facts, &game), 1);
    let (foe, ward) = (game.foe, game.effect("GE_Ward"));
    game.net.server_mut().sim_mut().run(Op::Apply(ugas_core::Spec::new(ward, foe))).unwrap();
    game.net.run(30);
    assert!(!game.ana().sim().exists(foe), "what happens out of sight is not told");
    stand(&mut game, 10.0);
    game.net.run(30);
    let sim = game.ana().sim();
    assert_eq!(sim.anchor(foe).unwrap().unwrap().position, [10.0, 0.0, 0.0]);
    assert!(sim.has_tag(foe, game.tag("State.Warded")).unwrap());
    assert!(game.ana().sim().exists(game.hero), "one's own is always in sight");
}

#[test]
fn what_is_longer_than_a_packet_arrives_and_so_does_what_follows() {
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
fn a_hit_that_was_played_ahead_never_flickers_whatever_is_lost() {
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
fn a_client_is_sent_no_more_than_its_line_takes_and_hears_everything_in_the_end() {
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
