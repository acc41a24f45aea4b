//! Where abilities may run and who may cancel them.

use super::rig::{Rig, refused, refused_in};
use ugas_core::{AbilityGrant, InputId, Op, Target};
use ugas_net::authority::RejectReason;
use ugas_net::message::Request;

// covers: PEER-10
#[test]
fn abilities_of_the_server_and_of_the_client_are_not_run_at_a_clients_request() {
    refused(&[(RejectReason::Policy, 8)], |rig| {
        for name in ["GA_Server", "GA_Local"] {
            let (who, ability) = (rig.rogue, rig.ability(name));
            rig.ask(rig.activate(name, Target::Controller(rig.foe)));
            rig.ask(rig.apply(name, "GE_Bolt", rig.foe));
            rig.ask(Request::End { who, ability });
            rig.ask(Request::Commit { who, ability });
        }
    });
}

#[test]
fn an_input_does_not_activate_a_server_ability() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        let grant = AbilityGrant::new(rig.ability("GA_Server")).input(InputId(1));
        let who = rig.rogue;
        rig.server.sim_mut().run(Op::Grant { who, grant }).unwrap();
        rig
    });
    refused_in(pair, &[(RejectReason::Policy, 1)], |rig| {
        rig.ask(Request::Press { who: rig.rogue, input: InputId(1), target: Target::Controller(rig.foe) });
    });
}

#[test]
fn a_client_does_not_end_an_ability_that_it_may_not_cancel() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate("GA_Kept", Target::None));
        rig
    });
    refused_in(pair, &[(RejectReason::Policy, 1)], |rig| {
        let ability = rig.ability("GA_Kept");
        rig.ask(Request::End { who: rig.rogue, ability });
        assert_eq!(rig.server.sim().activations(rig.rogue).unwrap().count(), 1);
    });
}

// covers: PEER-10
#[test]
fn an_ability_that_a_client_may_not_cancel_stays_active() {
    let pair = [Rig::new(), Rig::new()].map(|mut rig| {
        rig.ask(rig.activate("GA_Kept", Target::None));
        assert_eq!(rig.server.sim().activations(rig.rogue).unwrap().count(), 1);
        rig
    });
    refused_in(pair, &[(RejectReason::Policy, 1)], |rig| {
        let ability = rig.ability("GA_Kept");
        rig.ask(Request::Cancel { who: rig.rogue, ability });
        assert_eq!(rig.server.sim().activations(rig.rogue).unwrap().count(), 1);
    });
}
