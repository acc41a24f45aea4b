//! The order in which the commands of one tick run.

use crate::kit::{self, Game, Setup};
use ugas_core::{AbilityGrant, ControllerId, FactKind, Facts, Op, Target};
use ugas_doc::Ability;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;

#[test]
fn commands_of_one_tick_run_in_turns() {
    let builder = kit::builder().add(Ability::new("GA_Tap"));
    let mut g = Game::new(Setup { builder, ben: true, profile: LinkProfile::round_trip(60, 0), ..Setup::default() });
    let (tap, [ana, ben]) = (g.ability("GA_Tap"), [g.hero, g.other]);
    for who in [ana, ben] {
        // Granted already, if the kit grants every ability.
        let _ = g.net.server_mut().sim_mut().run(Op::Grant { who, grant: AbilityGrant::new(tap) });
    }
    g.net.run(60);
    let (mut facts, mut first) = (Facts::default(), [0i32, 0]);
    g.net.server_mut().take_facts(&mut facts);
    for _ in 0..120 {
        for (name, who) in [("Ana", ana), ("Ben", ben)] {
            let _ = g.net.client_mut(name).command(Request::Activate { who, ability: tap, target: Target::None });
        }
        g.net.step();
        g.net.server_mut().take_facts(&mut facts);
        let is_tap = |kind: &FactKind| matches!(kind, FactKind::AbilityActivated { ability, .. } if *ability == tap);
        let order: Vec<ControllerId> = facts.list.iter().filter(|f| is_tap(&f.kind)).map(|f| f.who).collect();
        if order.contains(&ana) && order.contains(&ben) {
            first[usize::from(order[0] == ben)] += 1;
        }
    }
    let [ana, ben] = first;
    assert!(ana + ben > 60, "{first:?} ticks with commands of both");
    assert!((ana - ben).abs() <= 6, "{first:?}: each runs first in half of the ticks");
}
