//! A client that owns several controllers which act on each other: they are resimulated together, so a correction of one
//! also corrects what it did to the others, and nothing stays different from the server.

use crate::kit::LENGTH;
use crate::swarm::dice::Dice;
use std::sync::Arc;
use ugas_core::{AbilityGrant, Anchor, ControllerId, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect, Magnitude, Modifier};
use ugas_net::client::{Certainty, ClientConfig, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

struct Party {
    rules: Arc<Rules>,
    net: Harness,
    own: Vec<ControllerId>,
}

fn on_target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

fn rules() -> Arc<Rules> {
    let set = AttributeSet::new("S")
        .with(Attribute::new("Health", 100_000.0).min(0.0))
        .with(Attribute::new("Mana", 1000.0).min(0.0))
        .with(Attribute::new("Power", 10.0))
        .with(Attribute::new("Speed", 10.0));
    let by_power = |effect: Effect, attribute: &str| {
        let magnitude = Magnitude::attribute("Power").times(0.5);
        effect.modify(Modifier::new(attribute, ugas_doc::Operation::Add, magnitude))
    };
    let delay = || AbilityTask::new("WaitDelay").param("Duration", 0.15);
    Rules::builder()
        .add(set)
        .add(Effect::instant("GE_Cost").add("Mana", -10.0))
        .add(Effect::lasting("GE_Cooldown", 0.2).grants("Cooldown.Any"))
        .add(Effect::instant("GE_Drain").add("Mana", -15.0).add("Power", 1.0))
        .add(Effect::instant("GE_Refill").add("Mana", 20.0))
        .add(by_power(Effect::instant("GE_Hit"), "Health"))
        .add(by_power(Effect::lasting("GE_Link", 0.7), "Speed"))
        .add(Effect::lasting("GE_Burn", 0.6).every(0.1).add("Health", -1.0).grants("State.Burning"))
        .add(Effect::lasting("GE_Strength", 0.5).add("Power", 3.0))
        .add(Ability::new("GA_Hit").cost("GE_Cost").task(on_target("GE_Hit")))
        .add(Ability::new("GA_Link").cost("GE_Cost").task(on_target("GE_Link")))
        .add(Ability::new("GA_Strength").task(on_target("GE_Strength")))
        .add(Ability::new("GA_Burn").cost("GE_Cost").cooldown("GE_Cooldown").task(on_target("GE_Burn")))
        .add(Ability::new("GA_Refill").task(on_target("GE_Refill")))
        .add(Ability::new("GA_Delayed").cost("GE_Cost").task(delay()).task(on_target("GE_Hit")))
        .build()
        .unwrap()
}

impl Party {
    fn new(many: usize, profile: LinkProfile, seed: u64) -> Party {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let mut own = Vec::new();
        for at in 0..many {
            let sets = SpawnSpec::sets([rules.set("S").unwrap()]);
            let anchor = Some(Anchor::at([at as f64, 0.0, 0.0]));
            own.push(sim.spawn(SpawnSpec { anchor, ..sets }).unwrap());
        }
        for &who in &own {
            for (ability, _) in rules.ability_list().collect::<Vec<_>>() {
                sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
            }
        }
        let config =
            ServerConfig { replication: ControllerReplication::Full, tick_length: LENGTH, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), seed);
        let client = ClientConfig { prediction_window: SimTime::millis(500), ..ClientConfig::default() };
        net.join_over("Ana", client, [profile; 2], &own).unwrap();
        net.run(180);
        Party { rules, net, own }
    }

    fn cast(&mut self, who: usize, ability: &str, target: usize) -> bool {
        let ability = self.rules.ability(ability).unwrap();
        let target = Target::Controller(self.own[target]);
        let request = Request::Activate { who: self.own[who], ability, target };
        self.net.client_mut("Ana").command(request).is_ok()
    }

    /// Checks that every own controller equals the server's, after the links have been restored.
    fn assert_equal(&mut self, what: &str) {
        self.net.restore_links();
        self.net.run(180);
        for &who in &self.own {
            let server = self.net.server().sim().row_hash(who).unwrap();
            let ana = self.net.client("Ana");
            assert_eq!(ana.confirmed_hash(who), Some(server), "{what}: {who:?}");
            assert_eq!(ana.sim().row_hash(who).unwrap(), server, "{what}: {who:?}, predicted");
        }
    }
}

/// Random actions of two to four own controllers on each other. The server also changes them.
#[test]
fn random_actions_on_each_other_leave_no_difference() {
    let abilities = ["GA_Hit", "GA_Link", "GA_Strength", "GA_Burn", "GA_Refill", "GA_Delayed"];
    for (name, profile) in LinkProfile::ALL {
        for seed in 1..=3 {
            let mut dice = Dice::new(seed);
            let many = 2 + dice.roll(3);
            let mut party = Party::new(many, profile, seed);
            for _ in 0..360 {
                if dice.roll(4) == 0 {
                    let (who, target) = (dice.roll(many), dice.roll(many));
                    let ability = *dice.pick(&abilities);
                    party.cast(who, ability, target);
                }
                if dice.roll(40) == 0 {
                    let who = party.own[dice.roll(many)];
                    let drain = party.rules.effect("GE_Drain").unwrap();
                    party.net.server_mut().sim_mut().apply(&Spec::new(drain, who)).unwrap();
                }
                party.net.step();
            }
            party.assert_equal(&format!("{name} seed {seed}"));
        }
    }
}

/// Without changes of the server, and on a link without loss, nothing is corrected.
#[test]
fn actions_on_each_other_are_predicted_exactly() {
    for seed in 1..=3 {
        let mut dice = Dice::new(seed);
        let mut party = Party::new(3, LinkProfile::round_trip(100, 0), seed);
        let before = party.net.client("Ana").counts().corrections;
        for _ in 0..360 {
            if dice.roll(5) == 0 {
                let ability = ["GA_Hit", "GA_Link", "GA_Strength", "GA_Burn", "GA_Delayed"][dice.roll(5)];
                party.cast(dice.roll(3), ability, dice.roll(3));
            }
            party.net.step();
        }
        let ana = party.net.client("Ana");
        let reasons: Vec<String> = ana.correction_reasons().map(|r| r.describe(&party.rules)).collect();
        assert_eq!(ana.counts().corrections, before, "seed {seed}: {reasons:#?}");
        party.assert_equal(&format!("seed {seed}"));
    }
}

/// The server changes a controller that is about to act on another one. The client has already predicted the action. The
/// correction of the first corrects the second too, so the second needs no correction of its own.
#[test]
fn a_correction_of_one_corrects_what_it_did_to_another() {
    let mut party = Party::new(2, LinkProfile::round_trip(200, 0), 1);
    let (first, second) = (party.own[0], party.own[1]);
    let (drain, health) = (party.rules.effect("GE_Drain").unwrap(), party.rules.attribute("Health").unwrap());
    let mut facts = NetFacts::default();
    party.cast(0, "GA_Delayed", 1);
    let started = party.net.client("Ana").tick();
    // The server changes the power of the first before its delayed hit, and the client learns of it after it.
    party.net.run_until(60, |net| net.tick().0 + 5 >= started.0).unwrap();
    party.net.server_mut().sim_mut().apply(&Spec::new(drain, first)).unwrap();
    party.net.client_mut("Ana").take_facts(&mut facts);
    let mut shown = Vec::new();
    for _ in 0..90 {
        party.net.step();
        let value = party.net.client("Ana").sim().get(second, health).unwrap();
        if shown.last() != Some(&value) {
            shown.push(value);
        }
    }
    let counts = party.net.client("Ana").counts();
    // The state of the first differed once, because of the drain; that of the second followed from it.
    assert_eq!((counts.external_changes, counts.corrections), (1, 0), "{shown:?}");
    assert_eq!(shown, [100_000.0, 100_005.0, 100_005.5], "predicted, then corrected once");
    party.net.client_mut("Ana").take_facts(&mut facts);
    assert_eq!(facts.iter().filter(|(_, c)| *c == Certainty::Undone).count(), 0);
    party.assert_equal("delayed");
}
