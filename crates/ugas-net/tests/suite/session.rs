//! One server and one client over a perfect link with a delay of whole ticks.

use std::collections::VecDeque;
use std::sync::Arc;
use ugas_core::{
    Anchor, BadValue, ControllerId, NoHost, Op, Refusal, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
};
use ugas_doc::{Ability, Attribute, AttributeSet, ControllerReplication, Effect};
use ugas_net::client::{Certainty, Client, ClientConfig, ClientState, CommandStatus, NetFacts};
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

fn rules() -> Arc<Rules> {
    let set = AttributeSet::new("Vitals")
        .with(Attribute::new("Health", 100.0).min(0.0))
        .with(Attribute::new("Mana", 100.0).min(0.0));
    Rules::builder()
        .add(set)
        .add(Effect::instant("GE_Cost").add("Mana", -20.0))
        .add(Effect::lasting("GE_Cooldown", 1.0).grants("Cooldown.Bolt"))
        .add(Effect::instant("GE_Bolt").add("Health", -25.0))
        .add(Effect::lasting("GE_Haste", 3.0).add("Mana", 50.0))
        .add(
            Ability::new("GA_Bolt")
                .cost("GE_Cost")
                .cooldown("GE_Cooldown")
                .task(ugas_doc::AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Bolt")),
        )
        .build()
        .unwrap()
}

struct Bench {
    server: Server,
    client: Client,
    delay: usize,
    up: VecDeque<(usize, Vec<u8>)>,
    down: VecDeque<(usize, Vec<u8>)>,
    now: usize,
    hero: ControllerId,
    foe: ControllerId,
    rules: Arc<Rules>,
}

const LENGTH: SimTime = SimTime::frames(1, 60);

impl Bench {
    fn new(delay: usize) -> Bench {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let hero = sim.spawn(SpawnSpec::sets([vitals])).unwrap();
        let foe = sim.spawn(SpawnSpec::sets([vitals])).unwrap();
        let bolt = ugas_core::AbilityGrant::new(rules.ability("GA_Bolt").unwrap());
        sim.run(Op::Grant { who: hero, grant: bolt }).unwrap();
        let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.connect(PeerId(1), &[hero]).unwrap();
        let client =
            Client::new(rules.clone(), ClientConfig { prediction_window: SimTime::millis(500), ..Default::default() });
        Bench { server, client, delay, up: VecDeque::new(), down: VecDeque::new(), now: 0, hero, foe, rules }
    }

    fn step(&mut self) {
        self.now += 1;
        while self.up.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, bytes) = self.up.pop_front().unwrap();
            self.server.receive(PeerId(1), &bytes);
        }
        self.server.step(&mut NoHost);
        let (due, down) = (self.now + self.delay, &mut self.down);
        self.server.send(&mut |_, bytes| down.push_back((due, bytes.to_vec())));
        while self.down.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, bytes) = self.down.pop_front().unwrap();
            self.client.receive(&bytes);
        }
        self.client.update(LENGTH);
        let (due, up) = (self.now + self.delay, &mut self.up);
        self.client.send(&mut |bytes| up.push_back((due, bytes.to_vec())));
    }

    fn run(&mut self, ticks: usize) {
        (0..ticks).for_each(|_| self.step());
    }

    fn value(&self, sim: &Sim, who: ControllerId, name: &str) -> f64 {
        sim.get(who, self.rules.attribute(name).unwrap()).unwrap()
    }
}

#[test]
fn a_client_joins_and_has_the_same_state() {
    let mut b = Bench::new(3);
    b.run(60);
    assert_eq!(*b.client.state(), ClientState::Playing);
    assert_eq!(b.client.owned(), [b.hero]);
    assert_eq!(b.value(b.client.sim(), b.hero, "Mana"), 100.0);
    assert_eq!(b.value(b.client.sim(), b.foe, "Health"), 100.0);
    assert!(b.client.tick() > b.server.tick(), "{:?} {:?}", b.client.tick(), b.server.tick());
    assert_eq!(b.client.counts().malformed, 0);
    assert_eq!(b.client.counts().corrections, 0);
}

#[test]
fn a_correct_prediction_is_confirmed_without_a_correction() {
    let mut b = Bench::new(3);
    b.run(60);
    let bolt = b.rules.ability("GA_Bolt").unwrap();
    let done = b.client.command(Request::Activate { who: b.hero, ability: bolt, target: Target::Controller(b.foe) });
    let Ok(CommandStatus::Predicted(key, _)) = done else { panic!("{done:?}") };
    assert_eq!(b.value(b.client.sim(), b.hero, "Mana"), 80.0);
    assert_eq!(b.value(b.client.sim(), b.foe, "Health"), 75.0);
    assert_eq!(b.value(b.server.sim(), b.hero, "Mana"), 100.0);
    let mut all = Vec::new();
    for _ in 0..30 {
        b.step();
        assert_eq!(b.value(b.client.sim(), b.hero, "Mana"), 80.0);
        assert_eq!(b.value(b.client.sim(), b.foe, "Health"), 75.0, "tick {}", b.now);
        let mut facts = NetFacts::default();
        b.client.take_facts(&mut facts);
        all.extend(facts.iter().map(|(f, c)| (*f, c)));
    }
    assert_eq!(b.value(b.server.sim(), b.hero, "Mana"), 80.0);
    assert_eq!(b.value(b.server.sim(), b.foe, "Health"), 75.0);
    assert_eq!(b.client.counts().corrections, 0);
    assert_eq!(b.client.counts().rejected, 0);
    assert_eq!(b.client.pending_commands(), 0);
    assert_eq!(b.client.journal_entries(), 0);
    let of = |c| all.iter().filter(|(f, k)| f.root == key && *k == c).count();
    assert!(of(Certainty::Predicted) > 0);
    assert_eq!(of(Certainty::Predicted), of(Certainty::Confirmed), "{all:#?}");
    assert_eq!(of(Certainty::Undone), 0);
}

#[test]
fn a_change_by_another_controller_corrects_the_owner_and_keeps_later_predictions() {
    let mut b = Bench::new(3);
    b.run(60);
    let hit = b.rules.effect("GE_Bolt").unwrap();
    b.server.sim_mut().apply(&Spec::new(hit, b.hero).from(b.foe)).unwrap();
    let bolt = b.rules.ability("GA_Bolt").unwrap();
    b.step();
    b.client.command(Request::Activate { who: b.hero, ability: bolt, target: Target::Controller(b.foe) }).unwrap();
    b.run(30);
    assert_eq!(b.value(b.client.sim(), b.hero, "Health"), 75.0);
    assert_eq!(b.value(b.client.sim(), b.hero, "Mana"), 80.0);
    assert_eq!(b.value(b.client.sim(), b.foe, "Health"), 75.0);
    let counts = b.client.counts();
    assert!(counts.external_changes > 0 && counts.corrections == 0, "{counts:?}");
    assert_eq!(b.client.confirmed_hash(b.hero), Some(b.server.sim().row_hash(b.hero).unwrap()));
    assert_eq!(b.client.journal_entries(), 0);
}

#[test]
fn a_rejected_command_is_undone() {
    let mut b = Bench::new(3);
    b.run(60);
    // The server takes the mana away; the client does not know yet.
    let cost = b.rules.effect("GE_Cost").unwrap();
    for _ in 0..5 {
        b.server.sim_mut().apply(&Spec::new(cost, b.hero)).unwrap();
    }
    let bolt = b.rules.ability("GA_Bolt").unwrap();
    b.client.command(Request::Activate { who: b.hero, ability: bolt, target: Target::Controller(b.foe) }).unwrap();
    assert_eq!(b.value(b.client.sim(), b.foe, "Health"), 75.0);
    b.run(40);
    assert_eq!(b.value(b.client.sim(), b.hero, "Mana"), 0.0);
    assert_eq!(b.value(b.client.sim(), b.foe, "Health"), 100.0);
    assert_eq!(b.client.counts().rejected, 1);
    let mut facts = NetFacts::default();
    b.client.take_facts(&mut facts);
    assert!(facts.iter().any(|(_, c)| c == Certainty::Undone));
}

#[test]
fn an_invalid_number_is_refused_on_the_client_and_not_predicted() {
    let mut b = Bench::new(3);
    b.run(60);
    for x in [1e-310, f64::NAN, f64::INFINITY, 1e12] {
        let anchor = Anchor::at([x, 0.0, 0.0]);
        let refused = b.client.command(Request::Move { who: b.hero, anchor });
        assert_eq!(refused, Err(Refusal::BadValue { what: BadValue::Number }), "{x}");
    }
    b.client.command(Request::Move { who: b.hero, anchor: Anchor::at([0.0, -1e9, 1.0]) }).unwrap();
    b.run(30);
    assert_eq!(b.server.counts().iter().count(), 0, "nothing of it reached the server");
    assert_eq!(b.client.counts().rejected, 0);
}
