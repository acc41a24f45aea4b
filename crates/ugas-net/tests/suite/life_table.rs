//! The life table over the network: which machine runs the capabilities of which side, in which order it takes the
//! steps, and how often it calls the code.

use crate::kit::{LENGTH, builder};
use crate::life::{Cell, Event, expected_steps};
use std::sync::Arc;
use ugas_core::{
    AbilitySetId, ActorId, BlockSource, CapabilityCall, CapabilityCx, CodedCapability, ControllerId, FactKind, Facts,
    Op, Outcome, Rules, RulesBuilder, Sim, SimConfig, SimTime, SpawnSpec, Spec,
};
use ugas_doc::{CapabilitySet, Doc, Effect, SetCapability, Side, TagRegistry};
use ugas_net::client::{Certainty, ClientConfig, NetFacts};
use ugas_net::harness::Harness;
use ugas_net::link::LinkProfile;
use ugas_net::server::{Secret, Server, ServerConfig};

/// The machines of the table: the standalone column and the steps of code are in the tests of `ugas-core`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    /// A dedicated server.
    Server,
    /// A server whose player plays the controller.
    Host,
    /// A server whose player plays another controller.
    HostOfOthers,
    Owner,
    Bystander,
}

/// Returns whether a machine runs the capabilities of a side.
fn runs(side: Side, machine: Machine) -> bool {
    match (side, machine) {
        (Side::Always, _) => true,
        (Side::AuthorityOnly, machine) => !matches!(machine, Machine::Owner | Machine::Bystander),
        (Side::AuthorityAndLocalControlled, machine) => machine != Machine::Bystander,
        (Side::LocalControlledOnly | Side::OwnerLocalControlledOnly, machine) => {
            matches!(machine, Machine::Host | Machine::Owner)
        }
        (Side::AllClients, machine) => machine != Machine::Server,
    }
}

/// Returns whether a machine of the table learns about blocks and switches: observers do not.
fn knows_blocks(machine: Machine) -> bool {
    machine != Machine::Bystander
}

/// The expected facts of an event for a set with the capabilities A and B.
fn expected(event: Event, side: Side, machine: Machine) -> Vec<&'static str> {
    let follows_player = matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly);
    let cell = Cell {
        runs: runs(side, machine),
        follows_player: follows_player && matches!(machine, Machine::Host | Machine::Owner),
        knows_blocks: knows_blocks(machine),
        // A capability that exists on one machine only cannot remove a shared set.
        removes_itself: runs(side, Machine::Server),
    };
    expected_steps(event, cell)
}

/// How often the code of a capability ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Never,
    EveryFrame,
    /// Every 200 ms.
    Slow,
}

impl Pace {
    /// Returns whether this many ticks in half a second have the pace. The clock of a client may run slightly faster or
    /// slower than the server's.
    fn fits(self, ticks: usize) -> bool {
        match self {
            Pace::Never => ticks == 0,
            Pace::EveryFrame => (27..=33).contains(&ticks),
            Pace::Slow => (2..=3).contains(&ticks),
        }
    }
}

/// The expected pace of the capability A or B after an event.
fn expected_pace(event: Event, side: Side, machine: Machine, class: char) -> Pace {
    let follows_player = matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly);
    if !runs(side, machine) {
        return Pace::Never;
    }
    match event {
        Event::Remove | Event::Despawn => Pace::Never,
        Event::RemovedByItself if runs(side, Machine::Server) => Pace::Never,
        Event::Lose if follows_player => Pace::Never,
        Event::Block | Event::Disable if knows_blocks(machine) => Pace::Never,
        Event::Interval if knows_blocks(machine) => Pace::Slow,
        Event::ReloadShorter if class == 'B' => Pace::Never,
        Event::Add
        | Event::RemovedByItself
        | Event::Possess
        | Event::Lose
        | Event::Regain
        | Event::Block
        | Event::Unblock
        | Event::Disable
        | Event::Enable
        | Event::Interval
        | Event::ReloadReordered
        | Event::ReloadShorter => Pace::EveryFrame,
    }
}

/// A capability that reports its ticks as cues, and removes its own set when its owner has the tag `State.Go`.
struct Leaver(String);
impl CodedCapability for Leaver {
    type State = ();
    fn step(&self, (): &mut (), call: CapabilityCall, cx: &mut CapabilityCx<'_>) {
        if matches!(call, CapabilityCall::Tick { .. }) {
            cx.cue(cx.rules().tag(&self.0).unwrap());
            if cx.has(cx.rules().tag("State.Go").unwrap()) {
                cx.remove_set();
            }
        }
    }
}

/// The code of a class of a side, and the tag that reports its ticks.
fn code_of(class: &str, side: Side) -> (String, Leaver) {
    (format!("{class}{side:?}"), Leaver(tick_tag(class, side)))
}

fn tick_tag(class: &str, side: Side) -> String {
    format!("Tick.{class}{side:?}")
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
    let tags = Side::ALL.into_iter().flat_map(|side| ["A", "B"].map(|class| tick_tag(class, side)));
    let mut rules = builder().add(Effect::infinite("GE_Go").grants("State.Go")).add(TagRegistry::new(tags));
    for side in Side::ALL {
        rules = rules.add(set_of(side, &["A", "B"]));
        for class in ["A", "B"] {
            let (name, code) = code_of(class, side);
            rules = rules.capability_code(name, code);
        }
    }
    rules
}

/// A session in which the hero has one set of each side: of Ana, or of the player who hosts.
struct Session {
    net: Harness,
    rules: Arc<Rules>,
    hero: ControllerId,
    /// The machine of the server.
    server: Machine,
}

/// A step or a tick of a capability of the hero: its set and what it did.
type Step = (AbilitySetId, String);

impl Session {
    fn new(server: Machine) -> Session {
        let rules = table_rules().build().unwrap();
        let (has_screen, is_hosted) = (server != Machine::Server, server == Machine::Host);
        let mut sim = Sim::new(rules.clone(), SimConfig { screen: has_screen, ..SimConfig::default() });
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
        match server {
            Machine::Host => net.server_mut().sim_mut().set_local(hero, true).unwrap(),
            Machine::HostOfOthers => net.server_mut().sim_mut().set_local(third, true).unwrap(),
            Machine::Server | Machine::Owner | Machine::Bystander => {}
        }
        net.run(90);
        let mut session = Session { net, rules, hero, server };
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
        match self.server == Machine::Host {
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
                let (name, code) = code_of(class, side);
                rules = rules.capability_code(name, code);
            }
        }
        self.rules = rules.build().unwrap();
        self.net.server_mut().reload(self.rules.clone()).unwrap();
    }

    /// Takes the facts of all machines. Returns the steps of the hero's capabilities on each, and their ticks.
    fn take(&mut self) -> Vec<(Machine, Vec<Step>, Vec<String>)> {
        let (hero, rules) = (self.hero, self.rules.clone());
        let steps = |facts: &[(ugas_core::Fact, Certainty)]| {
            let of = |(fact, certainty): &(ugas_core::Fact, Certainty)| match fact.kind {
                // A confirmed fact was emitted before, when it was predicted.
                FactKind::Capability { class, set, step } if fact.who == hero && *certainty != Certainty::Confirmed => {
                    let class = rules.capability_name(class).map_or("?", |name| &name[..1]);
                    Some((set, format!("{class} {step:?}")))
                }
                _ => None,
            };
            facts.iter().filter_map(of).collect::<Vec<_>>()
        };
        let ticks = |facts: &[(ugas_core::Fact, Certainty)]| {
            let of = |(fact, certainty): &(ugas_core::Fact, Certainty)| match fact.kind {
                // The cues of others arrive from the server.
                FactKind::Cue { tag, .. } if fact.who == hero => {
                    let is_own = matches!(certainty, Certainty::Predicted | Certainty::Local);
                    let name = rules.tag_name(tag)?.strip_prefix("Tick.")?;
                    is_own.then(|| name.to_owned())
                }
                _ => None,
            };
            facts.iter().filter_map(of).collect::<Vec<_>>()
        };
        let mut facts = Facts::default();
        self.net.server_mut().take_facts(&mut facts);
        let list: Vec<_> = facts.list.iter().map(|fact| (*fact, Certainty::Local)).collect();
        let mut all = vec![(self.server, steps(&list), ticks(&list))];
        for (name, machine) in [("Ana", Machine::Owner), ("Ben", Machine::Bystander)] {
            let mut facts = NetFacts::default();
            self.net.client_mut(name).take_facts(&mut facts);
            let list: Vec<_> = facts.iter().map(|(fact, certainty)| (*fact, certainty)).collect();
            let machine = if self.server == Machine::Host { Machine::Bystander } else { machine };
            all.push((machine, steps(&list), ticks(&list)));
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

/// Runs one event of the table in a session and returns it afterwards.
fn play(server: Machine, event: Event) -> Session {
    let mut session = Session::new(server);
    let handles = if event == Event::Add { Vec::new() } else { session.add_all() };
    let (tag, source) = (session.rules.tag("Capability.Move").unwrap(), BlockSource::host("Test"));
    let block = Op::Block { who: session.hero, tag, source };
    session.net.run(40);
    session.prepare(event, &block);
    session.net.run(40);
    session.take();
    session.cause(event, &handles, &block);
    session.net.run(60);
    session
}

const SERVERS: [Machine; 3] = [Machine::Server, Machine::Host, Machine::HostOfOthers];

// covers: CAP-30, CAP-31, CAP-32, CAP-33, CAP-35
#[test]
fn every_event_causes_the_steps_of_the_life_table_on_every_machine() {
    for (server, event) in SERVERS.into_iter().flat_map(|server| Event::ALL.map(|event| (server, event))) {
        let mut session = play(server, event);
        for (machine, steps, _) in session.take() {
            for side in Side::ALL {
                let set = session.set(side);
                let steps = steps.iter().filter(|(of, _)| *of == set).map(|(_, step)| step.as_str());
                let steps: Vec<&str> = steps.collect();
                let wanted = expected(event, side, machine);
                assert_eq!(steps, wanted, "{event:?}, {side:?}, {machine:?}, server: {server:?}");
            }
        }
    }
}

#[test]
fn every_machine_calls_the_code_of_its_capabilities_at_their_pace_and_in_their_order() {
    for (server, event) in SERVERS.into_iter().flat_map(|server| Event::ALL.map(|event| (server, event))) {
        let mut session = play(server, event);
        session.take();
        session.net.run(30);
        for (machine, _, ticks) in session.take() {
            for side in Side::ALL {
                let of_side = |tick: &&String| tick[1..] == format!("{side:?}");
                let ticks: Vec<&str> = ticks.iter().filter(of_side).map(|tick| &tick[..1]).collect();
                for class in ['A', 'B'] {
                    let count = ticks.iter().filter(|tick| tick.starts_with(class)).count();
                    let pace = expected_pace(event, side, machine, class);
                    assert!(
                        pace.fits(count),
                        "{event:?}, {side:?}, {machine:?}, server: {server:?}: {class} ticked {count} times, not {pace:?}"
                    );
                }
                let order = if event == Event::ReloadReordered { ["B", "A"] } else { ["A", "B"] };
                if event != Event::ReloadShorter {
                    let in_order = ticks.chunks(2).all(|frame| frame == order);
                    assert!(in_order, "{event:?}, {side:?}, {machine:?}, server: {server:?}: {ticks:?}");
                }
            }
        }
    }
}

/// Takes the steps of each side on the server, and on these clients.
fn steps_by_side(session: &mut Session, client: &str) -> [Vec<(Side, Vec<String>)>; 2] {
    let hero = session.hero;
    let mut facts = Facts::default();
    session.net.server_mut().take_facts(&mut facts);
    let server: Vec<ugas_core::Fact> = facts.list.clone();
    let mut facts = NetFacts::default();
    session.net.client_mut(client).take_facts(&mut facts);
    let new = facts.iter().filter(|(_, certainty)| *certainty != Certainty::Confirmed);
    let client: Vec<ugas_core::Fact> = new.map(|(fact, _)| *fact).collect();
    [server, client].map(|facts| {
        let of_side = |side: Side| {
            let wanted = session.set(side);
            let of = |fact: &ugas_core::Fact| match fact.kind {
                FactKind::Capability { class, set, step } if fact.who == hero && set == wanted => {
                    Some(format!("{} {step:?}", &session.rules.capability_name(class)?[..1]))
                }
                _ => None,
            };
            (side, facts.iter().filter_map(of).collect::<Vec<String>>())
        };
        Side::ALL.map(of_side).to_vec()
    })
}

/// Checks the steps of the sides that follow the player, and that no other side took a step.
fn assert_followed(found: &[(Side, Vec<String>)], wanted: &[&str], what: &str) {
    for (side, steps) in found {
        let follows_player = matches!(side, Side::LocalControlledOnly | Side::OwnerLocalControlledOnly);
        let wanted = if follows_player { wanted } else { &[] };
        assert_eq!(*steps, wanted, "{what}: {side:?}");
    }
}

// covers: CAP-35
#[test]
fn a_controller_that_changes_hands_starts_and_ends_what_follows_its_player() {
    const STARTS: [&str; 4] = ["A Setup", "A Activated", "B Setup", "B Activated"];
    const ENDS: [&str; 4] = ["B Deactivated", "B EndCapability", "A Deactivated", "A EndCapability"];
    let mut session = Session::new(Machine::HostOfOthers);
    session.add_all();
    session.net.run(60);
    steps_by_side(&mut session, "Ben");
    // Ana leaves. Nobody plays the hero until the host takes it over.
    session.net.disconnect("Ana");
    session.net.run(40);
    let [server, ben] = steps_by_side(&mut session, "Ben");
    assert_followed(&server, &[], "the server after Ana left");
    assert_followed(&ben, &[], "Ben after Ana left");
    let hero = session.hero;
    session.net.server_mut().sim_mut().set_local(hero, true).unwrap();
    session.net.run(40);
    let [server, ben] = steps_by_side(&mut session, "Ben");
    assert_followed(&server, &STARTS, "the host takes over");
    assert_followed(&ben, &[], "Ben when the host takes over");
    // Another client takes the hero over.
    session.net.join("Cyd", LinkProfile::round_trip(100, 0), &[hero]).unwrap();
    session.net.run(90);
    assert_eq!(session.net.server().sim().is_local(hero), Ok(false));
    let [server, cyd] = steps_by_side(&mut session, "Cyd");
    assert_followed(&server, &ENDS, "the host hands over");
    for (side, steps) in cyd {
        assert_eq!(steps, expected(Event::Add, side, Machine::Owner), "Cyd: {side:?}");
    }
    // Its new player leaves, and the first one returns.
    session.net.disconnect("Cyd");
    session.net.run(10);
    session.net.client_mut("Ana").take_facts(&mut NetFacts::default());
    session.net.reconnect("Ana").unwrap();
    session.net.run(90);
    let [server, ana] = steps_by_side(&mut session, "Ana");
    assert_followed(&server, &[], "the server has no part in it");
    for (side, steps) in ana {
        assert_eq!(steps, expected(Event::Add, side, Machine::Owner), "Ana: {side:?}");
    }
}

#[test]
fn a_set_with_several_sides_starts_in_order_and_ends_in_reverse_on_every_machine() {
    let sides = [Side::Always, Side::LocalControlledOnly, Side::AuthorityOnly, Side::AllClients];
    let names = ["AAlways", "ALocalControlledOnly", "AAuthorityOnly", "AAllClients"];
    let mixed = names.iter().zip(sides).fold(CapabilitySet::new("CS_Mixed"), |set, (class, side)| {
        set.capability(SetCapability::new(*class).side(side))
    });
    for server in SERVERS {
        let mut session = Session::new(server);
        let kept: Vec<Doc> = session.rules.documents().map(|doc| (**doc).clone()).collect();
        let rules = Rules::builder().after_with_code(session.rules.clone()).add_all(kept).add(mixed.clone());
        session.rules = rules.build().unwrap();
        session.net.server_mut().reload(session.rules.clone()).unwrap();
        session.net.run(60);
        session.take();
        let (who, set) = (session.hero, session.rules.ability_set("CS_Mixed").unwrap());
        let Outcome::GrantedSet(handle) = session.on_server(Op::GrantSet { who, set }) else { panic!("no handle") };
        session.net.run(60);
        let starts = named_steps(&mut session);
        session.on_server(Op::RevokeSet { who, handle });
        session.net.run(60);
        for ((machine, starts), (_, ends)) in starts.into_iter().zip(named_steps(&mut session)) {
            let each = |side: Side, here: &[&'static str], always: &'static str| -> Vec<String> {
                let list = if runs(side, machine) { here.to_vec() } else { vec![always] };
                list.into_iter().map(|step| format!("A{side:?} {step}")).collect()
            };
            let begin = |side| each(side, &["StartLife", "Setup", "Activated"], "StartLife");
            let end = |side| each(side, &["Deactivated", "EndCapability", "EndLife"], "EndLife");
            assert_eq!(starts, sides.map(begin).concat(), "{machine:?}, server: {server:?}");
            let reverse = sides.iter().rev().copied().map(end).collect::<Vec<_>>();
            assert_eq!(ends, reverse.concat(), "{machine:?}, server: {server:?}");
        }
    }
}

/// Takes the steps of the hero's capabilities on each machine, with the names of their classes.
fn named_steps(session: &mut Session) -> Vec<(Machine, Vec<String>)> {
    let (hero, rules, server) = (session.hero, session.rules.clone(), session.server);
    let name = |fact: &ugas_core::Fact| match fact.kind {
        FactKind::Capability { class, step, .. } if fact.who == hero => {
            Some(format!("{} {step:?}", rules.capability_name(class)?))
        }
        _ => None,
    };
    let mut facts = Facts::default();
    session.net.server_mut().take_facts(&mut facts);
    let mut all = vec![(server, facts.list.iter().filter_map(name).collect())];
    for (client, machine) in [("Ana", Machine::Owner), ("Ben", Machine::Bystander)] {
        let mut facts = NetFacts::default();
        session.net.client_mut(client).take_facts(&mut facts);
        let new = facts.iter().filter(|(_, certainty)| *certainty != Certainty::Confirmed);
        let machine = if server == Machine::Host { Machine::Bystander } else { machine };
        all.push((machine, new.filter_map(|(fact, _)| name(fact)).collect()));
    }
    all
}
