//! The duel of the demo over its default link: how often the predictions of its clients are corrected, and why.

use ugas_studio::recording::World;
use ugas_studio::session::{Action, Input, Keys, Session};

/// The default link of the demo has a round trip of 150 ms and loses 5 % of the packets. In a minute of play the two
/// exchange dozens of hits, and each of them changes the controller of the client that is hit. Only commands that the
/// server refused are corrected: a strike at the mage who had blinked away or died meanwhile, and an ability of a fighter
/// who had been stunned or killed.
#[test]
fn a_hit_by_the_other_player_is_no_correction() {
    for seed in [7, 1, 2, 3] {
        let mut duel = Session::duel(seed).unwrap();
        (0..60 * 60).for_each(|_| duel.step());
        for (player, most) in duel.net().players().iter().zip([8, 12]) {
            let (client, name) = (player.client(), player.name());
            let reasons: Vec<String> = client.correction_reasons().map(|r| r.describe(client.sim().rules())).collect();
            let counts = client.counts();
            assert!(counts.corrections <= most, "{name}, seed {seed}: {reasons:#?}");
            assert_eq!(reasons.len() as u64, counts.corrections, "each correction has a reason: {reasons:#?}");
            assert_eq!(duel.net().server().anomaly(player.peer().unwrap()).unwrap().0, 0.0, "{name}, seed {seed}");
        }
        let rival = duel.net().client("Rival").counts();
        assert!(rival.external_changes >= 30, "seed {seed}: {rival:?}");
    }
}

/// The player of the mage casts before the client knows that the mage has no mana: the cast is shown and taken back.
#[test]
fn a_cast_that_a_change_by_others_makes_impossible_is_a_correction() {
    let mut duel = Session::duel(7).unwrap();
    (0..10).for_each(|_| duel.step());
    duel.apply_input(&Input::Link { client: None, round_trip: 150, loss: 0.0 }).unwrap();
    duel.apply_input(&Input::Keys(Keys::default())).unwrap();
    (0..60).for_each(|_| duel.step());
    let before = duel.net().client("You").counts().corrections;
    let set = Action::Set { who: "Pyra".into(), attribute: "Mana".into(), value: 0.0 };
    duel.apply_input(&Input::Action(set)).unwrap();
    duel.apply_input(&Input::Keys(Keys { inputs: vec!["Ability1".into()], ..Keys::default() })).unwrap();
    (0..34).for_each(|_| duel.step());
    let you = duel.net().client("You");
    let reason = you.correction_reasons().last().unwrap().describe(you.sim().rules());
    assert_eq!(you.counts().corrections, before + 1, "{reason}");
    assert!(reason.contains("Mana"), "{reason}");
}
