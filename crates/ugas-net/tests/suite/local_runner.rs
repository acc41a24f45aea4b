//! Capabilities that run on one machine only, and capabilities of remote actors: which machine runs what, in which
//! order, and what the machine may do.

use crate::kit::{Game, LENGTH, Setup, builder};
use std::sync::Arc;
use ugas_core::{
    AbilitySetId, ActorId, BlockSource, CapabilityCall, CapabilityCx, CapabilityState, CodedCapability, ControllerId,
    DiagnosticKind, FactKind, Facts, NoHost, Op, Outcome, Refusal, Role, Rules, RulesBuilder, Sim, SimConfig, SimTime,
    SpawnSpec, Spec, Target,
};
use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, Doc, Effect, ReplicationMode, SetCapability, Side};
use ugas_net::client::{Certainty, Client, ClientConfig, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};
use ugas_net::types::PeerId;

// The life table over the network ---------------------------------------------------------------------------------

/// The machines of the table: the standalone column and the steps of code are in the tests of `ugas-core`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    /// A dedicated server.
    Server,
    /// A server whose player plays the controller.
    Host,
    Owner,
    Bystander,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Add,
    Remove,
    RemovedByItself,
    Possess,
    Lose,
    Regain,
    Block,
    Unblock,
    Disable,
    Enable,
    Interval,
    Despawn,
    ReloadReordered,
    ReloadShorter,
}

const EVENTS: [Event; 14] = [
    Event::Add,
    Event::Remove,
    Event::RemovedByItself,
    Event::Possess,
    Event::Lose,
    Event::Regain,
    Event::Block,
    Event::Unblock,
    Event::Disable,
    Event::Enable,
    Event::Interval,
    Event::Despawn,
    Event::ReloadReordered,
    Event::ReloadShorter,
];

/// Returns whether a machine runs the capabilities of a side.
fn runs(side: Side, machine: Machine) -> bool {
    match (side, machine) {
        (Side::Always, _) => true,
        (Side::AuthorityOnly, machine) => matches!(machine, Machine::Server | Machine::Host),
        (Side::AuthorityAndLocalControlled, machine) => machine != Machine::Bystander,
        (Side::LocalControlledOnly | Side::OwnerLocalControlledOnly, machine) => {
            matches!(machine, Machine::Host | Machine::Owner)
        }
        (Side::AllClients, machine) => machine != Machine::Server,
    }
}

/// Returns whether a machine of the table learns about blocks: observers do not.
fn knows_blocks(machine: Machine) -> bool {
    machine != Machine::Bystander
}

/// The expected facts of an event for a set with the capabilities A and B.
fn expected(event: Event, side: Side, machine: Machine) -> Vec<&'static str> {
    let follows_player = matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly);
    let plays = matches!(machine, Machine::Host | Machine::Owner);
    let ends = vec!["B Deactivated", "B EndCapability", "B EndLife", "A Deactivated", "A EndCapability", "A EndLife"];
    // A capability that exists on one machine only cannot remove a shared set.
    let removes_itself = runs(side, Machine::Server);
    match (event, runs(side, machine)) {
        (Event::Add, true) => {
            vec!["A StartLife", "A Setup", "A Activated", "B StartLife", "B Setup", "B Activated"]
        }
        (Event::Add, false) => vec!["A StartLife", "B StartLife"],
        (Event::RemovedByItself, _) if !removes_itself => vec![],
        (Event::Remove | Event::Despawn | Event::RemovedByItself, true) => ends,
        (Event::Remove | Event::Despawn | Event::RemovedByItself, false) => vec!["B EndLife", "A EndLife"],
        (Event::Lose, true) if follows_player && plays => {
            vec!["B Deactivated", "B EndCapability", "A Deactivated", "A EndCapability"]
        }
        (Event::Regain, true) if follows_player && plays => {
            vec!["A Setup", "A Activated", "B Setup", "B Activated"]
        }
        (Event::Block, true) if knows_blocks(machine) => vec!["A Deactivated", "B Deactivated"],
        (Event::Unblock, true) if knows_blocks(machine) => vec!["A Activated", "B Activated"],
        (Event::ReloadShorter, true) => vec!["B Deactivated", "B EndCapability", "B EndLife"],
        (Event::ReloadShorter, false) => vec!["B EndLife"],
        (
            Event::Possess
            | Event::Lose
            | Event::Regain
            | Event::Block
            | Event::Unblock
            | Event::Disable
            | Event::Enable
            | Event::Interval
            | Event::ReloadReordered,
            _,
        ) => vec![],
    }
}

/// A capability that removes its own set when its owner has the tag `State.Go`.
struct Leaver;
impl CodedCapability for Leaver {
    type State = ();
    fn step(&self, (): &mut (), call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        if matches!(call, CapabilityCall::Tick { .. }) && cx.has(cx.rules().tag("State.Go").unwrap()) {
            cx.remove_set();
        }
    }
}

fn set_name(side: Side) -> String {
    format!("CS_{side:?}")
}

/// The set of a side, with these of its two capabilities.
fn set_of(side: Side, classes: &[&str]) -> CapabilitySet {
    let entry = |class: &&str| SetCapability::new(format!("{class}{side:?}")).side(side).tag("Capability.Move");
    classes.iter().map(entry).fold(CapabilitySet::new(set_name(side)), CapabilitySet::capability)
}

fn table_rules() -> RulesBuilder {
    let mut rules = builder().add(Effect::infinite("GE_Go").grants("State.Go"));
    for side in Side::ALL {
        rules = rules.add(set_of(side, &["A", "B"]));
        for class in ["A", "B"] {
            rules = rules.capability_code(format!("{class}{side:?}"), Leaver);
        }
    }
    rules
}

/// A session in which the hero has one set of each side: of Ana, or of the player who hosts.
struct Session {
    net: Harness,
    rules: Arc<Rules>,
    hero: ControllerId,
    is_hosted: bool,
}

impl Session {
    fn new(is_hosted: bool) -> Session {
        let rules = table_rules().build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig { screen: is_hosted, ..SimConfig::default() });
        let mut spawn = |avatar| {
            let spec = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
            sim.spawn(SpawnSpec { owner: Some(avatar), avatar: Some(avatar), ..spec }).unwrap()
        };
        let (hero, other, third) = (spawn(ActorId(1)), spawn(ActorId(2)), spawn(ActorId(3)));
        let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 7);
        let link = [LinkProfile::round_trip(100, 0); 2];
        let own = if is_hosted { third } else { hero };
        net.join_over("Ana", ClientConfig::default(), link, &[own]).unwrap();
        net.join_over("Ben", ClientConfig::default(), link, &[other]).unwrap();
        if is_hosted {
            net.server_mut().sim_mut().set_local(hero, true).unwrap();
        }
        net.run(90);
        let mut session = Session { net, rules, hero, is_hosted };
        session.take();
        session
    }

    fn on_server(&mut self, op: Op) -> Outcome {
        self.net.server_mut().sim_mut().run(op).unwrap()
    }

    fn set(&self, side: Side) -> AbilitySetId {
        self.rules.ability_set(&set_name(side)).unwrap()
    }

    fn add_all(&mut self) -> Vec<u64> {
        let add = |side: Side| {
            let op = Op::GrantSet { who: self.hero, set: self.set(side) };
            let Outcome::GrantedSet(handle) = self.on_server(op) else { panic!("no handle") };
            handle
        };
        Side::ALL.map(add).to_vec()
    }

    fn set_local(&mut self, is_local: bool) {
        let hero = self.hero;
        match self.is_hosted {
            true => self.net.server_mut().sim_mut().set_local(hero, is_local).unwrap(),
            false => self.net.client_mut("Ana").set_local(hero, is_local).unwrap(),
        }
    }

    fn reload(&mut self, classes: &[&str]) {
        let same = |a: &Doc, b: &Doc| a.kind() == b.kind() && a.name() == b.name();
        let new: Vec<Doc> = Side::ALL.map(|side| set_of(side, classes).into()).to_vec();
        let kept = self.rules.documents().map(|doc| (**doc).clone());
        let kept = kept.filter(|old| !new.iter().any(|new| same(old, new)));
        let mut rules = Rules::builder().after(self.rules.clone()).add_all(kept).add_all(new.clone());
        for side in Side::ALL {
            for class in ["A", "B"] {
                rules = rules.capability_code(format!("{class}{side:?}"), Leaver);
            }
        }
        self.rules = rules.build().unwrap();
        self.net.server_mut().reload(self.rules.clone()).unwrap();
    }

    /// Takes the facts of all machines. Returns the steps of the hero's capabilities on each.
    fn take(&mut self) -> Vec<(Machine, Vec<(AbilitySetId, String)>)> {
        let hero = self.hero;
        let steps = |facts: &mut dyn Iterator<Item = ugas_core::Fact>| {
            let of = |fact: ugas_core::Fact| match fact.kind {
                FactKind::Capability { class, set, step } if fact.who == hero => {
                    let class = self.rules.capability_name(class).map_or("?", |name| &name[..1]);
                    Some((set, format!("{class} {step:?}")))
                }
                _ => None,
            };
            facts.filter_map(of).collect::<Vec<_>>()
        };
        let mut facts = Facts::default();
        self.net.server_mut().take_facts(&mut facts);
        let server = steps(&mut facts.list.iter().copied());
        let mut all = vec![(if self.is_hosted { Machine::Host } else { Machine::Server }, server)];
        for (name, machine) in [("Ana", Machine::Owner), ("Ben", Machine::Bystander)] {
            let mut facts = NetFacts::default();
            self.net.client_mut(name).take_facts(&mut facts);
            // A confirmed fact was emitted before, when it was predicted.
            let new = facts.iter().filter(|(_, certainty)| *certainty != Certainty::Confirmed);
            let machine = if self.is_hosted { Machine::Bystander } else { machine };
            all.push((machine, steps(&mut new.map(|(fact, _)| *fact))));
        }
        all
    }

    fn prepare(&mut self, event: Event, block: &Op) {
        let classes: Vec<_> = Side::ALL.iter().flat_map(|side| ["A", "B"].map(|c| format!("{c}{side:?}"))).collect();
        match event {
            Event::Regain => self.set_local(false),
            Event::Unblock => {
                self.on_server(block.clone());
            }
            Event::Enable => {
                for class in &classes {
                    let capability = self.rules.capability(class).unwrap();
                    self.on_server(Op::Enable { who: self.hero, capability, on: false });
                }
            }
            _ => {}
        }
    }

    fn cause(&mut self, event: Event, handles: &[u64], block: &Op) {
        let who = self.hero;
        let each = |session: &mut Session, op: &dyn Fn(ugas_core::CapabilityId) -> Op| {
            for side in Side::ALL {
                for class in ["A", "B"] {
                    let capability = session.rules.capability(&format!("{class}{side:?}")).unwrap();
                    session.on_server(op(capability));
                }
            }
        };
        match event {
            Event::Add => {
                self.add_all();
            }
            Event::Remove => {
                for &handle in handles.iter().rev() {
                    self.on_server(Op::RevokeSet { who, handle });
                }
            }
            Event::RemovedByItself => {
                self.on_server(Op::Apply(Spec::new(self.rules.effect("GE_Go").unwrap(), who)));
            }
            Event::Possess => {
                self.on_server(Op::Possess { who, avatar: Some(ActorId(9)) });
            }
            Event::Lose => self.set_local(false),
            Event::Regain => self.set_local(true),
            Event::Block => {
                self.on_server(block.clone());
            }
            Event::Unblock => {
                let Op::Block { who, tag, source } = block.clone() else { panic!("not a block") };
                self.on_server(Op::Unblock { who, tag, source });
            }
            Event::Disable => each(self, &|capability| Op::Enable { who, capability, on: false }),
            Event::Enable => each(self, &|capability| Op::Enable { who, capability, on: true }),
            Event::Interval => {
                let interval = Some(SimTime::millis(200));
                each(self, &|capability| Op::SetTick { who, capability, ticks: None, interval });
            }
            Event::Despawn => self.net.server_mut().sim_mut().despawn(who).unwrap(),
            Event::ReloadReordered => self.reload(&["B", "A"]),
            Event::ReloadShorter => self.reload(&["A"]),
        }
    }
}

// covers: CAP-30, CAP-31, CAP-32, CAP-33, CAP-35
#[test]
fn every_event_causes_the_steps_of_the_life_table_on_every_machine() {
    for is_hosted in [false, true] {
        for event in EVENTS {
            let mut session = Session::new(is_hosted);
            let handles = if event == Event::Add { Vec::new() } else { session.add_all() };
            let (tag, source) = (session.rules.tag("Capability.Move").unwrap(), BlockSource::host("Test"));
            let block = Op::Block { who: session.hero, tag, source };
            session.net.run(40);
            session.prepare(event, &block);
            session.net.run(40);
            session.take();
            session.cause(event, &handles, &block);
            session.net.run(60);
            for (machine, steps) in session.take() {
                for side in Side::ALL {
                    let set = session.set(side);
                    let steps = steps.iter().filter(|(of, _)| *of == set).map(|(_, step)| step.as_str());
                    let steps: Vec<&str> = steps.collect();
                    let wanted = expected(event, side, machine);
                    assert_eq!(steps, wanted, "{event:?}, {side:?}, {machine:?}, hosted: {is_hosted}");
                }
            }
        }
    }
}

// Owners ----------------------------------------------------------------------------------------------------------

/// Returns the state of a capability on a machine.
fn state_in(views: &[ugas_core::CapabilityView], class: ugas_core::CapabilityId) -> CapabilityState {
    views.iter().find(|view| view.class == class).map_or(CapabilityState::NotHeld, |view| view.state)
}

// covers: CAP-34
#[test]
fn a_gadget_on_a_weapon_runs_on_the_client_of_the_player_who_holds_it() {
    let rules = builder()
        .add(Capability::new("Crosshair"))
        .add(
            CapabilitySet::new("CS_Scope")
                .capability(SetCapability::new("Crosshair").side(Side::OwnerLocalControlledOnly)),
        )
        .build()
        .unwrap();
    let mut sim = Sim::new(rules.clone(), SimConfig { screen: false, ..SimConfig::default() });
    let [state, body, sword, scope, other] = [1, 2, 3, 4, 5].map(ActorId);
    let mut spawn = |owner, avatar| {
        let spec = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
        sim.spawn(SpawnSpec { owner: Some(owner), avatar: Some(avatar), ..spec }).unwrap()
    };
    let (player, _, gadget, ben) = (spawn(state, body), spawn(body, sword), spawn(sword, scope), spawn(other, other));
    let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
    for (name, own) in [("Ana", player), ("Ben", ben)] {
        net.join_over(name, ClientConfig::default(), [LinkProfile::round_trip(60, 0); 2], &[own]).unwrap();
    }
    net.run(60);
    let set = rules.ability_set("CS_Scope").unwrap();
    net.server_mut().sim_mut().grant_set(gadget, set).unwrap();
    net.run(40);
    let class = rules.capability("Crosshair").unwrap();
    let states = |net: &Harness| {
        let clients = ["Ana", "Ben"].map(|name| state_in(&net.client(name).capabilities(gadget), class));
        (clients, state_in(&net.server().capabilities(gadget), class))
    };
    use CapabilityState::{Active, Elsewhere};
    assert_eq!(states(&net), ([Active, Elsewhere], Elsewhere));
    // Ben takes the body over: the weapon and the gadget on it are his.
    net.server_mut().sim_mut().run(Op::Possess { who: player, avatar: None }).unwrap();
    net.server_mut().sim_mut().run(Op::Possess { who: ben, avatar: Some(body) }).unwrap();
    net.run(40);
    assert_eq!(states(&net), ([Elsewhere, Active], Elsewhere));
}

// What a local capability may do ------------------------------------------------------------------------------------

/// Calls a function at each step.
#[derive(Clone)]
struct Probe(Arc<dyn Fn(CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync>);
impl CodedCapability for Probe {
    type State = u32;
    fn step(&self, _: &mut u32, call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        (self.0)(call, cx);
    }
}

/// A game in which the hero and the other controller have a capability with this code and side.
fn with_probe(side: Side, run: impl Fn(CapabilityCall, &mut CapabilityCx<'_>) + Send + Sync + 'static) -> Game {
    let entry = SetCapability::new("Probe").side(side).tag("Capability.Probe");
    let builder = builder()
        .add(Effect::instant("GE_Drip").add("Mana", -1.0))
        .add(Effect::infinite("GE_Flag").grants("State.Flag"))
        .add(Capability::new("Neighbor"))
        .add(
            CapabilitySet::new("CS_Probe")
                .capability(entry)
                .capability(SetCapability::new("Neighbor").side(side).tag("Capability.Neighbor")),
        )
        .capability_code("Probe", Probe(Arc::new(run)));
    let mut g = Game::new(Setup { builder, ben: true, ..Setup::default() });
    let set = g.rules.ability_set("CS_Probe").unwrap();
    for who in [g.hero, g.other] {
        g.net.server_mut().sim_mut().grant_set(who, set).unwrap();
    }
    g.net.run(60);
    g
}

#[test]
fn a_local_capability_requests_abilities_like_a_player() {
    let bolt = |call, cx: &mut CapabilityCx<'_>| {
        let mana = cx.rules().attribute("Mana").unwrap();
        if matches!(call, CapabilityCall::Tick { .. }) && cx.get(mana) == Some(100.0) {
            cx.activate(cx.rules().ability("GA_Haste").unwrap(), Target::None);
        }
    };
    let mut g = with_probe(Side::LocalControlledOnly, bolt);
    g.net.run(30);
    assert_eq!((g.truth(g.hero, "Mana"), g.truth(g.hero, "Speed")), (80.0, 15.0), "the server ran the command");
    assert_eq!((g.seen(g.hero, "Mana"), g.ana().counts().rejected), (80.0, 0));
    assert_eq!(g.ana().counts().corrections, 1, "the grant of the set");
    assert_eq!(g.truth(g.other, "Mana"), 80.0, "Ben's client did the same for his hero");
    assert!(g.net.client_mut("Ana").take_local_diagnostics().is_empty());
}

#[test]
fn a_local_capability_changes_nothing_that_other_machines_share() {
    let change = |call, cx: &mut CapabilityCx<'_>| {
        if call == CapabilityCall::Activated {
            cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
            cx.send(cx.rules().tag("State.Flag").unwrap(), cx.who(), 1.0);
            cx.remove_set();
            cx.cue(cx.rules().tag("State.Flag").unwrap());
            cx.block(cx.rules().tag("Capability.Neighbor").unwrap());
        }
    };
    let mut g = with_probe(Side::AllClients, change);
    let facts = g.facts();
    let cues = |who| {
        let is_cue = |f: &ugas_core::Fact| f.who == who && matches!(f.kind, FactKind::Cue { .. });
        facts.iter().filter(|(f, _)| is_cue(f)).map(|(_, certainty)| *certainty).collect::<Vec<_>>()
    };
    assert_eq!((cues(g.hero), cues(g.other)), (vec![Certainty::Local], vec![Certainty::Local]), "on each actor, once");
    let diagnostics = g.net.client_mut("Ana").take_local_diagnostics();
    let class = g.rules.capability("Probe").unwrap();
    let refused = DiagnosticKind::LocalCapabilityRefused { class };
    let about: Vec<_> = diagnostics.iter().map(|d| (d.who, d.kind.clone())).collect();
    assert_eq!(about, [(g.hero, refused.clone()), (g.other, refused)], "once for each actor");
    let neighbor = g.rules.capability("Neighbor").unwrap();
    assert_eq!(state_in(&g.ana().capabilities(g.hero), neighbor), CapabilityState::Blocked, "a local neighbor");
    assert_eq!([g.hero, g.other].map(|who| g.truth(who, "Mana")), [100.0; 2]);
    g.assert_equal();
    assert_eq!(g.ana().counts().corrections, 1, "the grant of the set");
}

// covers: CAP-52
#[test]
fn an_always_capability_of_a_remote_actor_follows_the_replicated_state_after_the_delay() {
    let alert = Capability::new("Alert").query("State.Flag");
    let set = CapabilitySet::new("CS_Alert").capability(SetCapability::new("Alert"));
    let builder = builder().add(Effect::infinite("GE_Flag").grants("State.Flag")).add(alert).add(set);
    let mut g = Game::new(Setup { builder, profile: LinkProfile::round_trip(200, 0), ..Setup::default() });
    let (foe, flag, alert) = (g.foe, g.effect("GE_Flag"), g.rules.capability("Alert").unwrap());
    let set = g.rules.ability_set("CS_Alert").unwrap();
    g.net.server_mut().sim_mut().grant_set(foe, set).unwrap();
    g.net.run(60);
    let on_server = |net: &Harness| state_in(&net.server().capabilities(foe), alert) == CapabilityState::Active;
    let on_client = |net: &Harness| state_in(&net.client("Ana").capabilities(foe), alert) == CapabilityState::Active;
    assert!(!on_server(&g.net) && !on_client(&g.net));
    g.net.server_mut().sim_mut().run(Op::Apply(Spec::new(flag, foe))).unwrap();
    assert_eq!(g.net.run_until(5, on_server), Some(1));
    // 100 ms in one direction are 6 ticks.
    let delay = g.net.run_until(30, on_client).unwrap();
    assert!((5..=8).contains(&delay), "{delay} ticks");
}

#[test]
fn an_always_capability_of_a_remote_actor_applies_no_effects() {
    let drip = |call, cx: &mut CapabilityCx<'_>| {
        if matches!(call, CapabilityCall::Tick { .. }) && cx.get(cx.rules().attribute("Mana").unwrap()) > Some(50.0) {
            cx.apply_to_owner(cx.rules().effect("GE_Drip").unwrap());
            cx.cue(cx.rules().tag("State.Flag").unwrap());
        }
    };
    let mut g = with_probe(Side::Always, drip);
    let is_cue = |f: &ugas_core::Fact, who| f.who == who && matches!(f.kind, FactKind::Cue { .. });
    let cues = g.facts().iter().filter(|(f, c)| is_cue(f, g.other) && *c == Certainty::Local).count();
    assert!(cues > 30, "{cues}: Ana runs the capability of Ben's hero too");
    g.net.run(60);
    assert_eq!([g.hero, g.other].map(|who| g.truth(who, "Mana")), [50.0; 2], "one server applied each effect once");
    assert_eq!([g.hero, g.other].map(|who| g.seen(who, "Mana")), [50.0; 2]);
    assert!(g.net.client_mut("Ana").take_local_diagnostics().is_empty(), "muted, not refused");
}

// Sets of one machine -----------------------------------------------------------------------------------------------

/// A server and a client that owns the first of two controllers, with every datagram of both directions.
struct Wire {
    server: Server,
    client: Client,
    sent: Vec<Vec<u8>>,
    own: ControllerId,
    foe: ControllerId,
}

impl Wire {
    fn new(rules: &Arc<Rules>) -> Wire {
        let mut sim = Sim::new(rules.clone(), SimConfig { screen: false, ..SimConfig::default() });
        let spec = SpawnSpec::sets([rules.set("Vitals").unwrap()]);
        let (own, foe) = (sim.spawn(spec.clone()).unwrap(), sim.spawn(spec).unwrap());
        let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
        let mut server = Server::new(sim, config, Secret::known(1));
        server.connect(PeerId(1), &[own]).unwrap();
        let client = Client::new(rules.clone(), ClientConfig::default());
        let mut wire = Wire { server, client, sent: Vec::new(), own, foe };
        wire.run(30);
        wire
    }

    fn run(&mut self, ticks: u32) {
        let Wire { server, client, sent, .. } = self;
        for _ in 0..ticks {
            server.step(&mut NoHost);
            server.send(&mut |_, datagram| {
                sent.push(datagram.to_vec());
                client.receive(datagram);
            });
            client.update(LENGTH);
            client.send(&mut |datagram| {
                sent.push(datagram.to_vec());
                server.receive(PeerId(1), datagram);
            });
        }
    }
}

// covers: CAP-09
#[test]
fn a_client_adds_and_removes_local_sets_without_a_message() {
    let steps = CapabilitySet::new("CS_Steps").capability(SetCapability::new("Steps"));
    let rules = builder().add(Capability::new("Steps")).add(steps).build().unwrap();
    let (mut with, mut without) = (Wire::new(&rules), Wire::new(&rules));
    let (set, class) = (rules.ability_set("CS_Steps").unwrap(), rules.capability("Steps").unwrap());
    let (own, foe) = (with.own, with.foe);
    let handles = [own, foe].map(|who| with.client.add_local_set(who, set).unwrap());
    for who in [own, foe] {
        assert_eq!(state_in(&with.client.capabilities(who), class), CapabilityState::Active);
        assert_eq!(with.client.sim().capability_state(who, class), Ok(CapabilityState::NotHeld));
    }
    assert_eq!(with.client.add_local_set(own, set), Err(Refusal::SetHeld { handle: handles[0] }));
    with.run(30);
    with.client.remove_local_set(own, handles[0]).unwrap();
    assert_eq!(with.client.remove_local_set(own, handles[0]), Err(Refusal::StaleHandle));
    assert_eq!(state_in(&with.client.capabilities(own), class), CapabilityState::NotHeld);
    with.run(30);
    without.run(60);
    assert!(with.sent == without.sent, "not a byte differs in either direction");
    assert_eq!(with.server.capabilities(own), Vec::new());
    let mut facts = NetFacts::default();
    with.client.take_facts(&mut facts);
    let steps = facts.iter().filter(|(fact, _)| matches!(fact.kind, FactKind::Capability { .. }));
    let steps: Vec<Certainty> = steps.map(|(_, certainty)| certainty).collect();
    assert_eq!(steps, [Certainty::Local; 9], "start, setup and activation of two, and the end of one");
}

#[test]
fn a_hidden_set_changes_no_byte_for_an_observer() {
    let hidden = |name: &str| {
        let attribute = Attribute { replication_mode: ReplicationMode::OwnerOnly, ..Attribute::new("Plan", 1.0) };
        let mut set = CapabilitySet::new(name).data("PlanData").capability(SetCapability::new("Plot"));
        set.replication_mode = ReplicationMode::OwnerOnly;
        (AttributeSet::new("PlanData").with(attribute), set)
    };
    let (data, set) = hidden("CS_Plot");
    // Other sets are visible, so that sections have a list of sets.
    let open = CapabilitySet::new("CS_Open").capability(SetCapability::new("Glow").side(Side::AllClients));
    let rules = builder().add(data).add(set).add(open);
    let rules = rules.add(Capability::new("Plot")).add(Capability::new("Glow")).build().unwrap();
    let (mut with, mut without) = (Wire::new(&rules), Wire::new(&rules));
    for (wire, sets) in [(&mut with, &["CS_Open", "CS_Plot"][..]), (&mut without, &["CS_Open"][..])] {
        for set in sets {
            let who = wire.foe;
            wire.server.sim_mut().grant_set(who, rules.ability_set(set).unwrap()).unwrap();
        }
        wire.run(30);
    }
    assert!(with.sent == without.sent, "not a byte differs");
    let seen: Vec<_> = with.client.capabilities(with.foe).iter().map(|view| view.set).collect();
    assert_eq!(seen, [rules.ability_set("CS_Open").unwrap()]);
    assert_eq!(with.server.capabilities(with.foe).len(), 2);
}

#[test]
fn every_machine_adds_the_local_sets_of_a_controllers_document() {
    let mut hero = ugas_doc::Controller::new("Hero").set("Vitals");
    hero.capabilities =
        Some(ugas_doc::ControllerCapabilities { mode: ugas_doc::CapabilityMode::Local, sets: vec!["CS_Steps".into()] });
    let steps = CapabilitySet::new("CS_Steps")
        .capability(SetCapability::new("Steps"))
        .capability(SetCapability::new("Dust").side(Side::AllClients));
    let rules =
        builder().add(Capability::new("Steps")).add(Capability::new("Dust")).add(steps).add(hero).build().unwrap();
    let config = SimConfig { role: Role::Authority, screen: false, ..SimConfig::default() };
    let mut sim = Sim::new(rules.clone(), config);
    let template = rules.template("Hero").unwrap();
    let [ana, ben] = [0, 1].map(|_| sim.spawn(SpawnSpec::template(template)).unwrap());
    let config = ServerConfig { tick_length: LENGTH, ..ServerConfig::default() };
    let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 3);
    for (name, own) in [("Ana", ana), ("Ben", ben)] {
        net.join_over(name, ClientConfig::default(), [LinkProfile::round_trip(60, 0); 2], &[own]).unwrap();
    }
    net.run(60);
    let [steps, dust] = ["Steps", "Dust"].map(|class| rules.capability(class).unwrap());
    use CapabilityState::{Active, Elsewhere, NotHeld};
    for who in [ana, ben] {
        let server = net.server().capabilities(who);
        assert_eq!([steps, dust].map(|class| state_in(&server, class)), [Active, Elsewhere], "no screen");
        for name in ["Ana", "Ben"] {
            let client = net.client(name).capabilities(who);
            assert_eq!([steps, dust].map(|class| state_in(&client, class)), [Active; 2], "{name}");
            assert_eq!(net.client(name).sim().capabilities(who).unwrap(), [], "no record in any row");
        }
    }
    // Ana removes hers; nobody else does.
    let handle = net.client("Ana").capabilities(ana)[0].handle;
    net.client_mut("Ana").remove_local_set(ana, handle).unwrap();
    net.run(30);
    assert_eq!(state_in(&net.client("Ana").capabilities(ana), steps), NotHeld, "it does not come back");
    assert_eq!(state_in(&net.client("Ben").capabilities(ana), steps), Active);
}

// Hidden sets and data components -------------------------------------------------------------------------------------

#[test]
fn observers_learn_about_visible_sets_only() {
    use ugas_doc::ReplicationMode::{All, None, OwnerOnly};
    let mut rules = builder().add(Capability::new("Glow"));
    for (name, mode) in [("CS_All", All), ("CS_Own", OwnerOnly), ("CS_None", None)] {
        let mut set = CapabilitySet::new(name).capability(SetCapability::new("Glow").side(Side::AllClients));
        set.replication_mode = mode;
        rules = rules.add(set);
    }
    let mut g = Game::new(Setup { builder: rules, ..Setup::default() });
    for name in ["CS_All", "CS_Own", "CS_None"] {
        let set = g.rules.ability_set(name).unwrap();
        g.net.server_mut().sim_mut().grant_set(g.foe, set).unwrap();
    }
    g.net.run(30);
    let seen: Vec<_> = g.ana().capabilities(g.foe).iter().map(|view| (view.set, view.state)).collect();
    assert_eq!(seen, [(g.rules.ability_set("CS_All").unwrap(), CapabilityState::Active)]);
}
