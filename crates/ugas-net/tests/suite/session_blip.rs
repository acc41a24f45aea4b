//! An accepted prediction is visible in every tick from its command on: a command that arrives late is not in the server's state
//! of its own tick, but must not disappear until a state contains it.

use ugas_core::{AbilityGrant, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

#[test]
fn an_accepted_modifier_is_shown_once_in_every_tick() {
    let rules = Rules::builder()
        .add(AttributeSet::new("Combat").with(Attribute::new("Power", 10.0)).with(Attribute::new("Health", 99.0)))
        .add(Effect::instant("GE_Nudge").add("Health", -1.0))
        .add(Effect::lasting("GE_Rage", 0.75).add("Power", 5.0))
        .add(Ability::new("GA_Rage").task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Rage")))
        .build()
        .unwrap();
    let (rage, power) = (rules.ability("GA_Rage").unwrap(), rules.attribute("Power").unwrap());
    let nudge = rules.effect("GE_Nudge").unwrap();
    let mut faults = Vec::new();
    let mut shown = 0;
    // With more loss, commands arrive so late that they are rejected.
    for (profile_name, profile) in &LinkProfile::ALL[..3] {
        for seed in 0..20 {
            let mut sim = Sim::new(rules.clone(), SimConfig::default());
            let hero = sim.spawn(SpawnSpec::sets([rules.set("Combat").unwrap()])).unwrap();
            sim.grant(hero, AbilityGrant::new(rage)).unwrap();
            let mut play = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), seed);
            play.join("Ann", *profile, &[hero]).unwrap();
            play.run(240);
            // The link to the server becomes slower: the command arrives late, within the limit.
            let up = &mut play.players_mut()[0].up;
            let slower = LinkProfile { latency: up.profile().latency + SimTime::millis(80), ..*up.profile() };
            up.set_profile(slower);
            let ask = Request::Activate { who: hero, ability: rage, target: Target::None };
            if play.client_mut("Ann").command(ask).is_err() {
                continue;
            }
            let mut missing = Vec::new();
            let from = play.client("Ann").tick().0;
            // The effect lasts 45 ticks; a client's clock may run a few percent fast.
            for step in 0..40 {
                if step < 10 {
                    // Another change, so that the server sends states of the ticks in between.
                    play.server_mut().sim_mut().apply(&Spec::new(nudge, hero)).unwrap();
                }
                play.step();
                let (tick, value) = (play.client("Ann").tick().0, play.client("Ann").sim().get(hero, power));
                if value != Ok(15.0) && tick < from + 44 {
                    missing.push((tick - from, value));
                }
            }
            play.restore_links();
            play.run(60);
            if play.client("Ann").counts().rejected == 0 {
                shown += 1;
                if !missing.is_empty() {
                    faults.push(format!("{profile_name}, seed {seed}: {missing:?}"));
                }
            }
        }
    }
    assert!(shown > 40, "only {shown} commands were accepted");
    assert!(faults.is_empty(), "{} of {shown}:\n{}", faults.len(), faults.join("\n"));
}
