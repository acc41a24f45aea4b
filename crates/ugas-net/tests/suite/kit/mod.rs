//! A small game and a session about it, for tests.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, AbilityId, Anchor, AttributeId, ControllerId, EffectId, Op, OpId, Outcome, Refusal, Rules,
    RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, TagId, Target,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect, NetExecution};
use ugas_net::client::{Certainty, Client, ClientConfig, CommandStatus, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

pub(crate) mod capability;
mod wire;

pub(crate) use wire::Wire;

pub(crate) const LENGTH: SimTime = SimTime::frames(1, 60);

fn apply(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

/// The rules of the small game.
pub(crate) fn builder() -> RulesBuilder {
    let set = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("Mana", 100.0).min(0.0))
        .with(Attribute::new("Speed", 10.0));
    let mut kill = Effect::instant("GE_InstantKill").add("Health", -1000.0);
    kill.effect_tags.push("Gameplay.Effect.AuthoritativeOnly".into());
    Rules::builder()
        .add(set)
        .add(Effect::instant("GE_Cost").add("Mana", -20.0))
        .add(Effect::lasting("GE_Cooldown", 0.5).grants("Cooldown.Bolt"))
        .add(Effect::instant("GE_Bolt").add("Health", -25.0))
        .add(Effect::lasting("GE_Haste", 3.0).add("Speed", 5.0).grants("State.Haste"))
        .add(Effect::lasting("GE_Regen", 4.0).every(0.5).add("Mana", 2.0))
        .add(Effect::infinite("GE_Ward").grants("State.Warded"))
        .add(Effect::instant("GE_Other").add("Health", -1.0))
        .add(kill)
        .add({
            let mut bolt = Ability::new("GA_Bolt").cost("GE_Cost").cooldown("GE_Cooldown").task(apply("GE_Bolt"));
            bolt.max_range = Some(500.0);
            bolt
        })
        .add(
            Ability::new("GA_Haste")
                .cost("GE_Cost")
                .task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Haste")),
        )
        .add(Ability::new("GA_Unused").task(apply("GE_Other")))
        .add({
            let mut a = Ability::new("GA_Server");
            a.net_execution = NetExecution::ServerOnly;
            a
        })
        .add({
            let mut a = Ability::new("GA_Initiated").cost("GE_Cost");
            a.net_execution = NetExecution::ServerInitiated;
            a
        })
        .add({
            let mut a = Ability::new("GA_Local").task(AbilityTask::new("WaitDelay").param("Duration", 0.5));
            a.net_execution = NetExecution::LocalOnly;
            a
        })
}

/// A session with a hero of Ana, one of Ben if he plays, and a foe without an owner.
pub(crate) struct Game {
    pub(crate) rules: Arc<Rules>,
    pub(crate) net: Harness,
    pub(crate) hero: ControllerId,
    pub(crate) other: ControllerId,
    pub(crate) foe: ControllerId,
}

pub(crate) struct Setup {
    pub(crate) builder: RulesBuilder,
    pub(crate) mode: ControllerReplication,
    pub(crate) profile: LinkProfile,
    pub(crate) ben: bool,
    pub(crate) window: SimTime,
    pub(crate) seed: u64,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            builder: builder(),
            mode: ControllerReplication::Full,
            profile: LinkProfile::round_trip(100, 0),
            ben: false,
            window: SimTime::millis(500),
            seed: 1,
        }
    }
}

impl Game {
    pub(crate) fn new(setup: Setup) -> Game {
        let rules = setup.builder.build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let mut spawn = |x: f64| {
            let anchor = Some(Anchor::at([x, 0.0, 0.0]));
            sim.spawn(SpawnSpec { anchor, ..SpawnSpec::sets([vitals]) }).unwrap()
        };
        let (hero, other, foe) = (spawn(0.0), spawn(10.0), spawn(400.0));
        for who in [hero, other] {
            for (ability, name) in rules.ability_list().collect::<Vec<_>>() {
                if name != "GA_Unused" {
                    sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
                }
            }
        }
        let config = ServerConfig { replication: setup.mode, tick_length: LENGTH, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), setup.seed);
        let client = ClientConfig { prediction_window: setup.window, ..ClientConfig::default() };
        net.join_over("Ana", client.clone(), [setup.profile; 2], &[hero]).unwrap();
        if setup.ben {
            net.join_over("Ben", client, [setup.profile; 2], &[other]).unwrap();
        }
        let mut game = Game { rules, net, hero, other, foe };
        game.net.run(90);
        game
    }

    pub(crate) fn ana(&self) -> &Client {
        self.net.client("Ana")
    }

    pub(crate) fn ability(&self, name: &str) -> AbilityId {
        self.rules.ability(name).unwrap()
    }

    pub(crate) fn effect(&self, name: &str) -> EffectId {
        self.rules.effect(name).unwrap()
    }

    pub(crate) fn tag(&self, name: &str) -> TagId {
        self.rules.tag(name).unwrap()
    }

    pub(crate) fn attribute(&self, name: &str) -> AttributeId {
        self.rules.attribute(name).unwrap()
    }

    /// Returns a value as Ana sees it.
    pub(crate) fn seen(&self, who: ControllerId, name: &str) -> f64 {
        self.ana().sim().get(who, self.attribute(name)).unwrap()
    }

    /// Returns a value on the server.
    pub(crate) fn truth(&self, who: ControllerId, name: &str) -> f64 {
        self.net.server().sim().get(who, self.attribute(name)).unwrap()
    }

    /// Activates an ability of Ana.
    pub(crate) fn cast(&mut self, name: &str, target: Target) -> Result<CommandStatus, Refusal> {
        let request = Request::Activate { who: self.hero, ability: self.ability(name), target };
        self.net.client_mut("Ana").command(request)
    }

    /// Activates an ability of Ana on the foe, predicted.
    pub(crate) fn bolt(&mut self) -> (OpId, Outcome) {
        let target = Target::Controller(self.foe);
        match self.cast("GA_Bolt", target) {
            Ok(CommandStatus::Predicted(id, outcome)) => (id, outcome),
            other => panic!("{other:?}"),
        }
    }

    /// Takes Ana's facts since the last call.
    pub(crate) fn facts(&mut self) -> Vec<(ugas_core::Fact, Certainty)> {
        let mut facts = NetFacts::default();
        self.net.client_mut("Ana").take_facts(&mut facts);
        facts.iter().map(|(f, c)| (*f, c)).collect()
    }

    /// Checks that Ana's confirmed state equals the server's.
    pub(crate) fn assert_equal(&mut self) {
        self.net.restore_links();
        self.net.run(60);
        let server = self.net.server().sim().row_hash(self.hero).unwrap();
        assert_eq!(self.ana().confirmed_hash(self.hero), Some(server));
        assert_eq!(
            self.ana().sim().row_hash(self.hero).unwrap(),
            server,
            "nothing is active, so the predicted state is equal too"
        );
    }
}
