//! The rotations of `scenarios/packs/mmo.yaml` over links: the totals worked out by hand there hold on the server, and each
//! use happens at its time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use ugas_core::{ControllerId, Fact, FactKind, Facts, Rules, Sim, SimConfig, SimTime, SpawnSpec, Target};
use ugas_lab::{RunOptions, load_file, load_pack};
use ugas_net::client::{ClientState, CommandStatus};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};

const HZ: i64 = 60;
/// The server tick at which every rotation begins: a whole second, so that periods execute as they do offline.
const START: u32 = 300;
/// Half a second after the minute: the last spell has hit, and the next period has not executed.
const END: u32 = START + 60 * 60 + 30;

/// A class, its rotation, and its totals worked out by hand in the scenario.
struct Class {
    scenario: &'static str,
    template: &'static str,
    damage: f64,
    resource: (&'static str, f64),
    /// An ability with charges, and its charges at the end.
    charges: (&'static str, u32),
}

const STORMCALLER: Class = Class {
    scenario: "The rotation of the stormcaller does 4480 damage in a minute",
    template: "Stormcaller_01",
    damage: 4480.0,
    resource: ("Mana", 495.0),
    charges: ("GA_Surge", 1),
};

// Riposte is used at 50 with its only charge; the next returns at 60.
const DUELIST: Class = Class {
    scenario: "The rotation of the duelist does 1340 damage in a minute",
    template: "Duelist_01",
    damage: 1340.0,
    resource: ("Energy", 20.0),
    charges: ("GA_Riposte", 1),
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A use of an ability: its tick and its name.
type Use = (u32, String);

fn uses(facts: &[Fact], rules: &Rules, who: ControllerId) -> Vec<Use> {
    let activation = |fact: &Fact| match fact.kind {
        FactKind::AbilityActivated { ability, .. } if fact.who == who => {
            let tick = u32::try_from(fact.at.0 / SimTime::frames(1, HZ).0).unwrap();
            Some((tick, rules.ability_name(ability).unwrap().to_owned()))
        }
        _ => None,
    };
    facts.iter().filter_map(activation).collect()
}

/// The uses of the rotation on one machine. The scenario expects the totals.
fn offline(class: &Class) -> Vec<Use> {
    let scenarios = load_file(root().join("scenarios/packs/mmo.yaml")).unwrap();
    let scenario = scenarios.iter().find(|s| s.name == class.scenario).unwrap();
    let report = scenario.run_with(RunOptions { keep_facts: true, ..RunOptions::default() });
    assert!(report.passed(), "{:?} {:?}", report.errors, report.failures);
    let who = report.facts.iter().find(|f| matches!(f.kind, FactKind::AbilityActivated { .. })).unwrap().who;
    uses(&report.facts, &scenario.rules().unwrap(), who)
}

/// A client plays the class against a target without an owner.
struct Fight {
    rules: Arc<Rules>,
    play: Harness,
    hero: ControllerId,
    dummy: ControllerId,
    done: Vec<Use>,
}

impl Fight {
    fn new(class: &Class, link: LinkProfile, seed: u64) -> Fight {
        let rules = load_pack(root().join("packs/mmo")).unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let hero = sim.spawn(SpawnSpec::template(rules.template(class.template).unwrap())).unwrap();
        let vitals = SpawnSpec::sets([rules.set("MmoVitals").unwrap()]);
        let base = ["MaxHealth", "Health"].map(|name| (rules.attribute(name).unwrap(), 100_000.0)).to_vec();
        let dummy = sim.spawn(SpawnSpec { base, ..vitals }).unwrap();
        let config = ServerConfig { tick_length: SimTime::frames(1, HZ), ..ServerConfig::default() };
        let mut play = Harness::new(Server::new(sim, config, Secret::known(1)), seed);
        play.join("Ana", link, &[hero]).unwrap();
        Fight { rules, play, hero, dummy, done: Vec::new() }
    }

    fn step(&mut self) {
        self.play.step();
        let mut facts = Facts::default();
        self.play.server_mut().take_facts(&mut facts);
        self.done.extend(uses(&facts.list, &self.rules, self.hero));
    }

    /// Asks for each use at its tick, and in every later tick until the client predicts it, as with a held button.
    fn run(&mut self, rotation: &[Use]) {
        let mut next = 0;
        while self.play.tick().0 < END {
            while let Some((tick, name)) = rotation.get(next) {
                let client = self.play.client_mut("Ana");
                if *client.state() != ClientState::Playing || client.tick().0 < START + tick {
                    break;
                }
                let (who, target) = (self.hero, Target::Controller(self.dummy));
                let ability = self.rules.ability(name).unwrap();
                match client.command(Request::Activate { who, ability, target }) {
                    Ok(CommandStatus::Predicted(..) | CommandStatus::Queued(_)) => next += 1,
                    Ok(CommandStatus::Sent(_) | CommandStatus::Local(_)) => panic!("{name} is not predicted"),
                    Err(_) => break,
                }
            }
            self.step();
        }
        assert_eq!(next, rotation.len(), "the client asked for every use");
    }

    fn value(&self, who: ControllerId, name: &str) -> f64 {
        self.play.server().sim().get(who, self.rules.attribute(name).unwrap()).unwrap()
    }

    /// The totals on the server, and the same state on the client.
    fn assert_totals(&mut self, class: &Class, what: &str) {
        assert_eq!(100_000.0 - self.value(self.dummy, "Health"), class.damage, "{what}");
        assert_eq!(self.value(self.hero, class.resource.0), class.resource.1, "{what}");
        let (sim, ability) = (self.play.server().sim(), self.rules.ability(class.charges.0).unwrap());
        let grant = sim.grants(self.hero).unwrap().iter().find(|g| g.ability == ability).unwrap().id;
        assert_eq!(sim.charges(self.hero, grant).unwrap().unwrap().have, class.charges.1, "{what}");
        self.play.restore_links();
        self.play.run(60);
        let server = self.play.server().sim().row_hash(self.hero).unwrap();
        assert_eq!(self.play.client("Ana").sim().row_hash(self.hero).unwrap(), server, "{what}");
    }
}

// At 0 to 200 ms the server runs every use at most one tick after its time offline, and denies none.
#[test]
fn every_use_of_a_rotation_is_within_one_tick_of_its_time_at_0_to_200_ms() {
    for class in [&STORMCALLER, &DUELIST] {
        let rotation = offline(class);
        for round_trip in [0, 50, 100, 150, 200] {
            let what = format!("{} at {round_trip} ms", class.template);
            let mut fight = Fight::new(class, LinkProfile::round_trip(round_trip, 0), 1);
            fight.run(&rotation);
            assert_eq!(fight.play.client("Ana").counts().rejected, 0, "{what}");
            assert_eq!(fight.done.len(), rotation.len(), "{what}");
            for (use_, planned) in fight.done.iter().zip(&rotation) {
                let at = START + planned.0;
                assert_eq!(use_.1, planned.1, "{what}");
                assert!((at..=at + 1).contains(&use_.0), "{what}: {} at tick {} instead of {at}", use_.1, use_.0);
            }
            fight.assert_totals(class, &what);
        }
    }
}

#[test]
fn a_rotation_over_a_bad_link_has_the_totals_worked_out_by_hand() {
    for class in [&STORMCALLER, &DUELIST] {
        let rotation = offline(class);
        for seed in 0..8 {
            let what = format!("{} over the bad link, seed {seed}", class.template);
            let mut fight = Fight::new(class, LinkProfile::BAD, seed);
            fight.run(&rotation);
            let names = |uses: &[Use]| uses.iter().map(|u| u.1.clone()).collect::<Vec<_>>();
            assert_eq!(names(&fight.done), names(&rotation), "{what}");
            assert!(fight.play.player("Ana").up.counts().lost > 500, "{what}: the link loses datagrams");
            fight.assert_totals(class, &what);
        }
    }
}
