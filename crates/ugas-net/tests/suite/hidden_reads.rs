//! A client does not predict what depends on a value that the server does not replicate to it: it sends the command, or
//! leaves the application to the server. It never guesses from the default of the attribute.

use crate::kit::LENGTH;
use std::sync::Arc;
use ugas_core::{AbilityGrant, Anchor, ControllerId, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect, Magnitude, Modifier, ReplicationMode,
};
use ugas_net::client::{Certainty, ClientConfig, CommandStatus, NetFacts, ValueCorrection};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

struct Hidden {
    rules: Arc<Rules>,
    net: Harness,
    hero: ControllerId,
    foe: ControllerId,
}

fn owner(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToOwner").param("EffectClass", effect)
}

fn target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

/// `Luck` is hidden from everybody and has the default 0. On the server it is 100 on every controller.
fn rules() -> Arc<Rules> {
    let hidden = |a: Attribute| Attribute { replication_mode: ReplicationMode::None, ..a };
    let set = AttributeSet::new("S")
        .with(hidden(Attribute::new("Luck", 0.0).min(0.0)))
        .with(Attribute::new("Health", 1000.0))
        .with(Attribute::new("Speed", 0.0))
        .with(Attribute::new("Shield", 0.0).max("Luck"))
        .with(Attribute::derived("Power", "Luck * 2"));
    let by_luck = |name: &str, attribute: &str, of_target: bool| {
        let magnitude = Magnitude::attribute("Luck").times(0.01);
        let magnitude = if of_target { magnitude.of_target() } else { magnitude };
        Effect::instant(name).modify(Modifier::new(attribute, ugas_doc::Operation::Add, magnitude))
    };
    let conditional = |name: &str, condition: &str| {
        let mut effect = Effect::instant(name).add("Health", -5.0);
        effect.application_condition = Some(condition.into());
        effect
    };
    let branch = |condition: &str| AbilityTask::when(condition).then(owner("GE_Fast")).otherwise(owner("GE_Slow"));
    Rules::builder()
        .add(set)
        .add(Effect::instant("GE_Fast").add("Speed", 1.0))
        .add(Effect::instant("GE_Slow").add("Speed", -1.0))
        .add(Effect::instant("GE_Shield").add("Shield", 5.0))
        .add(Effect::instant("GE_Unlucky").add("Luck", -1.0))
        .add(by_luck("GE_Lucky", "Speed", false))
        .add(by_luck("GE_Curse", "Health", true))
        .add(conditional("GE_IfUnlucky", "target.Luck < 50"))
        .add(conditional("GE_IfLucky", "source.Luck > 50"))
        .add(Ability::new("GA_Branch").task(branch("Luck > 50")))
        .add(Ability::new("GA_TargetBranch").task(branch("target.Luck > 50")))
        .add(
            Ability::new("GA_LateBranch")
                .task(AbilityTask::new("WaitDelay").param("Duration", 0.1))
                .task(branch("Luck > 50")),
        )
        .add(Ability::new("GA_Condition").condition("Luck > 50").task(owner("GE_Fast")))
        .add(Ability::new("GA_Cost").cost("GE_Unlucky").task(owner("GE_Fast")))
        .add(Ability::new("GA_Bound").task(owner("GE_Shield")))
        .add(Ability::new("GA_Magnitude").task(owner("GE_Lucky")))
        .add(Ability::new("GA_TargetMagnitude").task(target("GE_Curse")))
        .add(Ability::new("GA_TargetCondition").task(target("GE_IfUnlucky")))
        .add(Ability::new("GA_SourceCondition").task(target("GE_IfLucky")))
        .add(Ability::new("GA_Number").task(target("GE_Fast").param("Level", "1 + Luck")))
        .add(Ability::new("GA_Derived").condition("Power > 100").task(owner("GE_Fast")))
        .build()
        .unwrap()
}

impl Hidden {
    fn new() -> Hidden {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let luck = rules.attribute("Luck").unwrap();
        let mut spawn = |x: f64| {
            let sets = SpawnSpec::sets([rules.set("S").unwrap()]);
            let base = vec![(luck, 100.0)];
            sim.spawn(SpawnSpec { anchor: Some(Anchor::at([x, 0.0, 0.0])), base, ..sets }).unwrap()
        };
        let (hero, foe) = (spawn(0.0), spawn(5.0));
        for (ability, _) in rules.ability_list().collect::<Vec<_>>() {
            sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(ability) }).unwrap();
        }
        let config =
            ServerConfig { replication: ControllerReplication::Full, tick_length: LENGTH, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
        let client = ClientConfig { prediction_window: SimTime::millis(500), ..ClientConfig::default() };
        net.join_over("Ana", client, [LinkProfile::round_trip(100, 0); 2], &[hero]).unwrap();
        net.run(90);
        Hidden { rules, net, hero, foe }
    }

    /// Uses an ability 20 times. Returns the number of undone facts, of corrected values, and of predicted commands.
    fn play(&mut self, name: &str) -> [usize; 3] {
        let ability = self.rules.ability(name).unwrap();
        let (mut facts, mut corrections) = (NetFacts::default(), Vec::<ValueCorrection>::new());
        let [mut undone, mut corrected, mut predicted] = [0; 3];
        let ana = self.net.client_mut("Ana");
        ana.take_facts(&mut facts);
        ana.take_corrections(&mut corrections);
        for _ in 0..20 {
            let request = Request::Activate { who: self.hero, ability, target: Target::Controller(self.foe) };
            let Ok(status) = self.net.client_mut("Ana").command(request) else {
                undone += 1;
                continue;
            };
            predicted += usize::from(matches!(status, CommandStatus::Predicted(..)));
            let before: Vec<_> = self.values();
            for _ in 0..20 {
                self.net.step();
                let ana = self.net.client_mut("Ana");
                ana.take_facts(&mut facts);
                undone += facts.iter().filter(|(_, c)| *c == Certainty::Undone).count();
                ana.take_corrections(&mut corrections);
                // A value that was not predicted arrives as a correction from the value before the command.
                corrected += corrections.iter().filter(|c| !before.contains(&(c.attribute, c.from))).count();
            }
        }
        assert_eq!(self.net.client("Ana").counts().rejected, 0, "{name}");
        [undone, corrected, predicted]
    }

    fn values(&self) -> Vec<(ugas_core::AttributeId, f64)> {
        let ids = ["Health", "Speed", "Shield"].map(|name| self.rules.attribute(name).unwrap());
        ids.map(|id| (id, self.net.client("Ana").sim().get(self.hero, id).unwrap())).to_vec()
    }
}

#[test]
fn nothing_that_reads_a_hidden_value_is_predicted() {
    let mut wrong = Vec::new();
    for ability in [
        "GA_Branch",
        "GA_TargetBranch",
        "GA_LateBranch",
        "GA_Condition",
        "GA_Cost",
        "GA_Bound",
        "GA_Magnitude",
        "GA_TargetMagnitude",
        "GA_TargetCondition",
        "GA_SourceCondition",
        "GA_Number",
        "GA_Derived",
    ] {
        let mut game = Hidden::new();
        let [undone, corrected, predicted] = game.play(ability);
        // An activation that reads a hidden value is only sent; otherwise its known part is predicted.
        let is_sent = ["GA_Condition", "GA_Cost", "GA_Derived"].contains(&ability);
        assert_eq!(predicted, if is_sent { 0 } else { 20 }, "{ability}");
        if (undone, corrected) != (0, 0) {
            wrong.push(ability);
        }
        let server = game.net.server().owner_hash(game.hero).unwrap();
        game.net.run(60);
        assert_eq!(game.net.client("Ana").confirmed_hash(game.hero), Some(server), "{ability}");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
