//! A change of a hidden attribute changes no byte sent to clients it is hidden from: two servers run the same except
//! for hidden values, in every mode of controllers and attributes, and every datagram is compared.

use proptest::prelude::*;
use std::sync::Arc;
use ugas_core::{
    AbilityGrant, ControllerId, NoHost, Op, Read, Rules, Sim, SimConfig, SimTime, SpawnSpec, Spec, Target,
};
use ugas_doc::{
    Ability, AbilityTask, Attribute, AttributeSet, ControllerReplication, Effect, ExecutionPolicy, Magnitude,
    ReplicationMode, StackBy, Stacking, Trigger,
};
use ugas_net::client::{Client, ClientConfig, ClientState};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::message::Request;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

const LENGTH: SimTime = SimTime::frames(1, 60);
const MODES: [ControllerReplication; 4] = [
    ControllerReplication::None,
    ControllerReplication::Minimal,
    ControllerReplication::Mixed,
    ControllerReplication::Full,
];
/// One attribute in each mode.
const ATTRIBUTES: [(&str, ReplicationMode); 3] =
    [("Open", ReplicationMode::All), ("Own", ReplicationMode::OwnerOnly), ("Secret", ReplicationMode::None)];
/// The attribute that effects write to; it is hidden from all clients.
const SINK: &str = "Veiled";

fn on_target(effect: &str) -> AbilityTask {
    AbilityTask::new("ApplyEffectToTarget").param("EffectClass", effect)
}

/// An ability without visible effects that is triggered when a value falls low.
fn panic(name: &str) -> Ability {
    let shiver = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Shiver");
    Ability::new(format!("Panic_{name}")).trigger(Trigger::below(name, 500.0)).task(shiver)
}

/// Effects that write each attribute, and effects that read each attribute without visible changes.
fn rules() -> Arc<Rules> {
    let value = || Magnitude::set_by_caller("V");
    let stacking = |by| Stacking { by, limit: Some(3), ..Stacking::default() };
    let mut set = AttributeSet::new("Vitals");
    set = set.with(Attribute { replication_mode: ReplicationMode::None, ..Attribute::new(SINK, 0.0) });
    let mut builder = Rules::builder();
    for (name, mode) in ATTRIBUTES {
        set = set.with(Attribute { replication_mode: mode, ..Attribute::new(name, 100.0) });
        let source = Magnitude::attribute(name).times(0.5);
        let target = Magnitude::attribute(name).times(0.25).of_target();
        let reads = [Read::source(name).on_application(), Read::target(name).on_application()];
        builder = builder
            .add(Effect::instant(format!("Set_{name}")).set(name, value()))
            .add(Effect::lasting(format!("Hold_{name}"), 0.4).add(name, value()).add("Open", 1.0))
            .add(Effect::lasting(format!("Scale_{name}"), 0.3).multiply(name, value()))
            .add(
                Effect::lasting(format!("Stack_{name}"), 0.6)
                    .add(name, value())
                    .add("Open", 2.0)
                    .stacking(stacking(StackBy::Target)),
            )
            .add(Effect::lasting(format!("Drip_{name}"), 0.5).every(0.1).add(name, value()))
            .add(Effect::lasting(format!("Wait_{name}"), 0.3).add(name, value()).policy(ExecutionPolicy::RunInSequence))
            .add(Effect::lasting(format!("Follow_{name}"), 0.6).add(SINK, source.clone()).add(SINK, target.clone()))
            .add(
                Effect::lasting(format!("Pile_{name}"), 0.6)
                    .add(SINK, source)
                    .add_post(SINK, target)
                    .stacking(stacking(StackBy::Source)),
            )
            .add(Effect::lasting(format!("Take_{name}"), 0.5).every(0.1).execute(format!("Calc_{name}")))
            .add(Effect::instant(format!("Strike_{name}")).add(name, -100.0))
            .add(Ability::new(format!("Hit_{name}")).task(on_target(&format!("Strike_{name}"))))
            .add(panic(name))
            .calc_fn(format!("Calc_{name}"), reads, move |cx| {
                let sum = cx.source(name) + cx.target(name);
                cx.add(SINK, sum);
            });
    }
    builder
        .add(set)
        .add(Effect::lasting("GE_Slow", 0.3).add("Open", -5.0).grants("State.Slow"))
        .add(Effect::instant("GE_Shiver").add(SINK, -1.0))
        .add(Effect::instant("GE_Price").add("Secret", -50.0))
        .add(Ability::new("GA_Dear").cost("GE_Price"))
        .add(Effect::instant("GE_Purge").set("Secret", 0.0))
        .add(Ability::new("GA_Purge").task(AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Purge")))
        .build()
        .unwrap()
}

/// Effects that write a caller value.
const GIVEN: [&str; 6] = ["Set", "Hold", "Scale", "Stack", "Drip", "Wait"];
/// Effects that read the attribute of source and target.
const READING: [&str; 3] = ["Follow", "Pile", "Take"];

/// A server, the owner of each controller in each mode, and an observer.
struct Session {
    server: Server,
    rules: Arc<Rules>,
    actors: [ControllerId; 4],
    clients: Vec<Client>,
    /// The datagrams to each client in the last tick.
    sent: Vec<Vec<Vec<u8>>>,
}

/// The number of the observer.
const OBSERVER: usize = MODES.len();

impl Session {
    /// With `panics` the actors activate a hidden ability when a value falls low.
    fn new(rules: &Arc<Rules>, panics: bool) -> Session {
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let vitals = rules.set("Vitals").unwrap();
        let actors = MODES.map(|_| sim.spawn(SpawnSpec::sets([vitals])).unwrap());
        let own = sim.spawn(SpawnSpec::sets([vitals])).unwrap();
        for (name, who) in ATTRIBUTES.iter().flat_map(|(name, _)| actors.iter().chain([&own]).map(move |a| (name, *a)))
        {
            let is_panicky = panics && who != own;
            for ability in [Some("Hit"), is_panicky.then_some("Panic")].into_iter().flatten() {
                let grant = AbilityGrant::new(rules.ability(&format!("{ability}_{name}")).unwrap());
                sim.run(Op::Grant { who, grant }).unwrap();
            }
        }
        let mut server =
            Server::new(sim, ServerConfig { tick_length: LENGTH, ..ServerConfig::default() }, Secret::known(1));
        for (who, mode) in actors.into_iter().zip(MODES) {
            server.set_replication(who, mode);
        }
        for (at, who) in actors.into_iter().chain([own]).enumerate() {
            server.connect(PeerId(at as u32), &[who]).unwrap();
        }
        let clients: Vec<Client> =
            (0..=OBSERVER).map(|_| Client::new(rules.clone(), ClientConfig::default())).collect();
        let sent = vec![Vec::new(); clients.len()];
        Session { server, rules: rules.clone(), actors, clients, sent }
    }

    fn step(&mut self) {
        let Session { server, clients, sent, .. } = self;
        sent.iter_mut().for_each(Vec::clear);
        server.step(&mut NoHost);
        server.send(&mut |peer, datagram| sent[peer.0 as usize].push(datagram.to_vec()));
        for (at, client) in clients.iter_mut().enumerate() {
            sent[at].iter().for_each(|datagram| client.receive(datagram));
            client.update(LENGTH);
            client.send(&mut |datagram| server.receive(PeerId(at as u32), datagram));
        }
    }

    /// A client uses its ability on an actor. One that is not seen or does not play is asked for nothing, on both
    /// sides.
    fn hit(&mut self, client: usize, target: usize, attribute: usize) {
        let ability = self.rules.ability(&format!("Hit_{}", ATTRIBUTES[attribute].0)).unwrap();
        let Some(&who) = self.clients[client].owned().first() else { return };
        let target = Target::Controller(self.actors[target]);
        let _ = self.clients[client].command(Request::Activate { who, ability, target });
    }

    /// Applies an effect. One that finds no room for a further stack is refused on both sides.
    fn apply(&mut self, effect: &str, (source, target): (usize, usize), value: f64) {
        let effect = self.rules.effect(effect).unwrap();
        let spec = Spec::new(effect, self.actors[target]).from(self.actors[source]);
        let _ = self.server.sim_mut().apply(&spec.set(self.rules.key("V").unwrap(), value));
    }
}

/// Whether a client may see an attribute of an actor: each owns the actor of its number, the last none of them.
fn sees(client: usize, actor: usize, attribute: usize) -> bool {
    let mode = ATTRIBUTES[attribute].1;
    match MODES[actor] {
        ControllerReplication::None | ControllerReplication::Minimal => false,
        ControllerReplication::Mixed => client == actor && mode != ReplicationMode::None,
        ControllerReplication::Full if client == actor => mode != ReplicationMode::None,
        ControllerReplication::Full => mode == ReplicationMode::All,
    }
}

/// One action on both servers; hidden values differ on the second.
#[derive(Clone, Debug)]
enum Action {
    Give { effect: usize, pair: (usize, usize), attribute: usize, values: [u16; 2] },
    Read { effect: usize, pair: (usize, usize), attribute: usize },
    Slow { actor: usize },
    Hit { client: usize, target: usize, attribute: usize },
    Step(u8),
}

fn action() -> impl Strategy<Value = Action> {
    let actor = 0..MODES.len();
    let pair = (actor.clone(), actor.clone());
    prop_oneof![
        6 => (0..GIVEN.len(), pair.clone(), 0..ATTRIBUTES.len(), [0..1000u16, 0..1000u16])
            .prop_map(|(effect, pair, attribute, values)| Action::Give { effect, pair, attribute, values }),
        3 => (0..READING.len(), pair, 0..ATTRIBUTES.len())
            .prop_map(|(effect, pair, attribute)| Action::Read { effect, pair, attribute }),
        1 => actor.clone().prop_map(|actor| Action::Slow { actor }),
        4 => (0..=OBSERVER, actor, 0..ATTRIBUTES.len())
            .prop_map(|(client, target, attribute)| Action::Hit { client, target, attribute }),
        3 => (1..9u8).prop_map(Action::Step),
    ]
}

/// Plays on two servers; `hides` selects the values that differ on the second. The clients in `same` are compared after
/// each tick. If only the observer is compared, the actors also activate hidden abilities, which their owners would
/// see.
fn play(actions: &[Action], hides: impl Fn(usize, usize) -> bool, same: &[usize]) -> Result<usize, TestCaseError> {
    let rules = rules();
    let panics = same == [OBSERVER];
    let mut pair = [Session::new(&rules, panics), Session::new(&rules, panics)];
    let mut bytes = 0;
    let mut step = |pair: &mut [Session; 2]| {
        pair.iter_mut().for_each(Session::step);
        for &at in same {
            prop_assert_eq!(&pair[0].sent[at], &pair[1].sent[at], "client {} at {:?}", at, pair[0].server.tick());
            bytes += pair[0].sent[at].iter().map(Vec::len).sum::<usize>();
        }
        Ok(())
    };
    for _ in 0..30 {
        step(&mut pair)?;
    }
    prop_assert!(pair.iter().all(|s| s.clients.iter().all(|c| *c.state() == ClientState::Playing)));
    for action in actions.iter().chain([&Action::Step(60)]) {
        match *action {
            Action::Give { effect, pair: (source, target), attribute, values } => {
                let name = format!("{}_{}", GIVEN[effect], ATTRIBUTES[attribute].0);
                let second = values[usize::from(hides(target, attribute))];
                pair[0].apply(&name, (source, target), f64::from(values[0]));
                pair[1].apply(&name, (source, target), f64::from(second));
            }
            Action::Read { effect, pair: both, attribute } => {
                let name = format!("{}_{}", READING[effect], ATTRIBUTES[attribute].0);
                pair.iter_mut().for_each(|session| session.apply(&name, both, 0.0));
            }
            Action::Slow { actor } => pair.iter_mut().for_each(|s| s.apply("GE_Slow", (actor, actor), 0.0)),
            Action::Hit { client, target, attribute } => {
                pair.iter_mut().for_each(|session| session.hit(client, target, attribute));
            }
            Action::Step(ticks) => (0..ticks).try_for_each(|_| step(&mut pair))?,
        }
    }
    for session in &pair {
        for (at, client) in session.clients.iter().enumerate() {
            prop_assert_eq!(client.counts().malformed, 0, "what is left out can be read, client {}", at);
            for &who in client.owned() {
                let expected = session.server.owner_hash(who).ok();
                prop_assert_eq!(client.confirmed_hash(who), expected, "client {} has what it may have", at);
            }
        }
    }
    Ok(bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_hidden_change_alters_no_byte_to_a_non_owner(actions in prop::collection::vec(action(), 1..40)) {
        let hides = |actor: usize, attribute: usize| !sees(OBSERVER, actor, attribute);
        let bytes = play(&actions, hides, &[OBSERVER])?;
        prop_assert!(bytes > 0, "the observer receives data");
    }

    #[test]
    fn a_value_replicated_to_none_alters_no_byte_to_any_client(actions in prop::collection::vec(action(), 1..40)) {
        let hides = |_: usize, attribute: usize| ATTRIBUTES[attribute].1 == ReplicationMode::None;
        play(&actions, hides, &[0, 1, 2, 3, OBSERVER])?;
    }

    #[test]
    fn a_value_hidden_from_an_owner_alters_no_byte_to_it(
        actions in prop::collection::vec(action(), 1..40),
        client in 0..MODES.len(),
    ) {
        play(&actions, |actor, attribute| !sees(client, actor, attribute), &[client])?;
    }
}

/// A value that an effect gives an attribute of an actor.
fn give(actor: usize, attribute: usize, values: [u16; 2]) -> Action {
    Action::Give { effect: 0, pair: (actor, actor), attribute, values }
}

/// A refused cost of a hidden attribute does not reveal its value.
#[test]
fn a_refusal_does_not_reveal_hidden_numbers() {
    let [first, second] = [5.0, 6.0].map(|have| {
        let rules = rules();
        let mut session = Session::new(&rules, false);
        let ability = rules.ability("GA_Dear").unwrap();
        let who = session.actors[3];
        session.server.sim_mut().run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        session.apply("Set_Secret", (3, 3), have);
        (0..40).for_each(|_| session.step());
        session.clients[3].command(Request::Activate { who, ability, target: Target::None }).unwrap();
        let sent: Vec<_> = (0..20).map(|_| (session.step(), session.sent[3].clone()).1).collect();
        assert_eq!(session.clients[3].counts().rejected, 1, "the client believes in the authored value");
        sent
    });
    assert_eq!(first, second);
}

/// An unexpected state of the own controller is sent with the commands that caused it, but not whether they changed a
/// hidden value.
#[test]
fn a_command_that_changes_a_hidden_value_alters_no_byte_to_its_owner() {
    let [first, second] = [0.0, 7.0].map(|have| {
        let rules = rules();
        let mut session = Session::new(&rules, false);
        let (who, ability) = (session.actors[3], rules.ability("GA_Purge").unwrap());
        session.server.sim_mut().run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        session.apply("Set_Secret", (3, 3), have);
        (0..40).for_each(|_| session.step());
        session.clients[3].command(Request::Activate { who, ability, target: Target::None }).unwrap();
        let mut sent = Vec::new();
        for open in 1..20 {
            session.apply("Set_Open", (3, 3), f64::from(open));
            session.step();
            sent.push(session.sent[3].clone());
        }
        assert!(session.clients[3].counts().corrections > 0, "states were sent");
        sent
    });
    assert_eq!(first, second);
}

/// A hit lowers a hidden value below the threshold of a hidden reaction, or does not. The bytes to the attacker do not
/// differ.
#[test]
fn a_hidden_reaction_to_a_hit_alters_no_byte_to_the_attacker() {
    for (actor, mode) in MODES.iter().enumerate() {
        for (attribute, (name, _)) in ATTRIBUTES.iter().enumerate().filter(|(at, _)| !sees(OBSERVER, actor, *at)) {
            let hit = Action::Hit { client: OBSERVER, target: actor, attribute };
            let actions = [give(actor, attribute, [900, 550]), Action::Step(20), hit];
            let bytes = play(&actions, |_, _| true, &[OBSERVER]);
            assert!(bytes.is_ok(), "{name} of one in mode {mode:?}: {bytes:?}");
        }
    }
}

/// The comparison detects differences: a visible value alters bytes.
#[test]
fn a_visible_change_alters_bytes() {
    assert!(play(&[give(3, 0, [1, 2])], |_, _| true, &[OBSERVER]).is_err());
    let own = give(2, 1, [1, 2]);
    assert!(play(std::slice::from_ref(&own), |_, _| true, &[2]).is_err(), "its owner sees it");
    assert!(play(&[own], |_, _| true, &[OBSERVER]).is_ok(), "no other client does");
}

/// An owner receives a visible value that depends on a hidden one: a client that knows only the authored hidden value
/// does not recompute it.
#[test]
fn a_visible_value_derived_from_a_hidden_one_equals_the_servers() {
    let hidden = Attribute { replication_mode: ReplicationMode::None, ..Attribute::new("Secret", 10.0) };
    let set = AttributeSet::new("Vitals")
        .with(hidden)
        .with(Attribute::derived("Power", "Secret * 2"))
        .with(Attribute::derived("Might", "Power + 1"))
        .with(Attribute::new("Health", 8.0).max("Secret"));
    let rules = Rules::builder()
        .add(set)
        .add(Effect::instant("GE_Grow").set("Secret", 50.0))
        .add(Effect::instant("GE_Heal").set("Health", 40.0))
        .add(Effect::lasting("GE_Rage", 60.0).add("Power", 3.0))
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig::default());
    let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()])).unwrap();
    let config =
        ServerConfig { tick_length: LENGTH, replication: ControllerReplication::Full, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
    net.join("Ana", LinkProfile::LAN, &[who]).unwrap();
    net.join("Ben", LinkProfile::LAN, &[]).unwrap();
    net.run(60);
    for effect in ["GE_Grow", "GE_Heal", "GE_Rage"] {
        let spec = Spec::new(rules.effect(effect).unwrap(), who);
        net.server_mut().sim_mut().apply(&spec).unwrap();
    }
    net.run(30);
    for client in ["Ana", "Ben"] {
        let seen = |name: &str| net.client(client).sim().get(who, rules.attribute(name).unwrap()).unwrap();
        assert_eq!(["Power", "Might", "Health"].map(seen), [103.0, 104.0, 40.0], "{client}");
        assert_eq!(seen("Secret"), 10.0, "as it is authored");
    }
    assert_eq!(net.client("Ana").confirmed_hash(who), net.server().owner_hash(who).ok());
    let before = net.client("Ana").counts().corrections;
    net.run(60);
    assert_eq!(net.client("Ana").counts().corrections, before, "there is nothing more to correct");
}
