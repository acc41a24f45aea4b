//! A predicted hit that happens on the server is never reported as undone, whatever the number of targets, the round trip
//! and the link. A confirmation that the server dropped leaves the hit unknown.

use std::sync::Arc;
use ugas_core::{
    AbilityGrant, Anchor, ControllerId, FactKind, NoHost, Op, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target,
};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::client::{Certainty, ClientConfig, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

/// A hero that hits all foes around it.
struct Volley {
    rules: Arc<Rules>,
    net: Harness,
    hero: ControllerId,
}

/// What the client reported about the hits.
#[derive(Debug, Default, PartialEq)]
struct Report {
    predicted: usize,
    confirmed: usize,
    undone: usize,
    unknown: usize,
}

impl Volley {
    fn new(targets: usize, profile: LinkProfile, seed: u64) -> Volley {
        let set = AttributeSet::new("Vitals").with(Attribute::new("Health", 1.0e6));
        let hit =
            AbilityTask::new("ApplyEffectToActorsInRadius").param("EffectClass", "GE_Hit").param("Radius", 1000.0);
        let rules = Rules::builder()
            .add(set)
            .add(Effect::instant("GE_Hit").add("Health", -1.0))
            .add(Ability::new("GA_Volley").task(hit))
            .build()
            .unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let mut spawn = |x: f64| {
            let sets = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
            sim.spawn(SpawnSpec { anchor: Some(Anchor::at([x, 0.0, 0.0])), ..sets }).unwrap()
        };
        let hero = spawn(0.0);
        for at in 0..targets {
            spawn(1.0 + at as f64);
        }
        let ability = rules.ability("GA_Volley").unwrap();
        sim.run(Op::Grant { who: hero, grant: AbilityGrant::new(ability) }).unwrap();
        let config = ServerConfig {
            replication: ControllerReplication::Full,
            bytes_per_second: 1024 * 1024,
            ..ServerConfig::default()
        };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), seed);
        let client = ClientConfig { prediction_window: SimTime::millis(500), ..ClientConfig::default() };
        net.join_over("Ana", client, [profile; 2], &[hero]).unwrap();
        net.run(240);
        Volley { rules, net, hero }
    }

    /// Hits all foes every `every` ticks and counts what becomes of the hits. Commands that the server rejects are not
    /// counted: their hits did not happen.
    fn play(&mut self, ticks: u32, every: u32) -> Report {
        let ability = self.rules.ability("GA_Volley").unwrap();
        let mut facts = NetFacts::default();
        let mut report = Report::default();
        self.net.client_mut("Ana").take_facts(&mut facts);
        for n in 0..ticks + 180 {
            if n % every == 0 && n < ticks {
                let request = Request::Activate { who: self.hero, ability, target: Target::None };
                // At the end of the prediction window the client refuses.
                let _ = self.net.client_mut("Ana").command(request);
            }
            self.net.step_with(&mut NoHost);
            self.net.client_mut("Ana").take_facts(&mut facts);
            for (fact, certainty) in facts.iter() {
                if fact.who == self.hero || !matches!(fact.kind, FactKind::AttributeChanged { .. }) {
                    continue;
                }
                match certainty {
                    Certainty::Predicted => report.predicted += 1,
                    Certainty::Confirmed => report.confirmed += 1,
                    Certainty::Undone => report.undone += 1,
                    Certainty::Unknown => report.unknown += 1,
                    Certainty::Server | Certainty::Local => {}
                }
            }
        }
        report
    }
}

#[test]
fn no_true_hit_is_undone() {
    let links = [
        ("60 ms", 60, LinkProfile::round_trip(60, 0)),
        ("100 ms", 30, LinkProfile::round_trip(100, 0)),
        ("200 ms", 200, LinkProfile::round_trip(200, 0)),
        ("good", 200, LinkProfile::GOOD),
        ("mobile", 200, LinkProfile::MOBILE),
        ("bad", 200, LinkProfile::BAD),
        ("torture", 60, LinkProfile::TORTURE),
    ];
    for (name, targets, profile) in links {
        let mut volley = Volley::new(targets, profile, 7);
        let before = volley.net.client("Ana").counts().rejected;
        let report = volley.play(300, 6);
        let rejected = (volley.net.client("Ana").counts().rejected - before) as usize * targets;
        assert!(report.predicted > targets, "{name}: {report:?}");
        assert_eq!(report.undone, rejected, "{name}: {report:?}");
        assert_eq!(report.confirmed + report.undone + report.unknown, report.predicted, "{name}: {report:?}");
        assert_eq!(report.unknown, 0, "{name}: {report:?}");
    }
}

/// The confirmations of a hit on many targets need less bandwidth than the new values, so they arrive first. The client
/// shows the predicted value until the new value arrives.
#[test]
fn a_confirmed_hit_is_shown_until_its_value_arrives() {
    const TARGETS: usize = 200;
    for (name, profile) in [("100 ms", LinkProfile::round_trip(100, 0)), ("good", LinkProfile::GOOD)] {
        let mut volley = Volley::new(TARGETS, profile, 7);
        let (health, ability) = (volley.rules.attribute("Health").unwrap(), volley.rules.ability("GA_Volley").unwrap());
        let peer = volley.net.player("Ana").peer().unwrap();
        volley.net.server_mut().set_bandwidth(peer, 5_000);
        volley.net.run(60);
        let foes: Vec<ControllerId> =
            volley.net.server().sim().controllers().filter(|&who| who != volley.hero).collect();
        let seen = |net: &Harness| -> Vec<f64> {
            foes.iter().map(|&foe| net.client("Ana").sim().get(foe, health).unwrap()).collect()
        };
        let (mut shown, mut rises) = (seen(&volley.net), 0);
        for n in 0..900 {
            if n % 30 == 0 && n < 300 {
                let request = Request::Activate { who: volley.hero, ability, target: Target::None };
                volley.net.client_mut("Ana").command(request).unwrap();
            }
            volley.net.step();
            let now = seen(&volley.net);
            rises += now.iter().zip(&shown).filter(|(now, shown)| now > shown).count();
            shown = now;
        }
        assert_eq!(volley.net.client("Ana").counts().rejected, 0, "{name}");
        assert_eq!(rises, 0, "{name}: the shown value rose");
        assert!(shown.iter().all(|value| *value == 1.0e6 - 10.0), "{name}: each foe was hit");
    }
}
