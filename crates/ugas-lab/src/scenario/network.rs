//! The field `Network:` of a scenario: the clients, the actors that they own, and their links. A verb with `On:` runs
//! on that client and must be `Expect` or a command that a client may send.

use super::fields::{Fields, Name, Place, Reading, did_you_mean};
use super::{AbilityVerb, Pick, Scenario, Step, Verb, for_each_step};
use ugas_core::SimTime;
use ugas_data::{Entry, Node, ReadError};
use ugas_net::link::LinkProfile;

const CLIENT_KEYS: &[&str] = &["Owns", "Joins", "Profile", "LatencyMs", "JitterMs", "Loss", "Duplicate", "Reorder"];
const LINK_KEYS: &[&str] = &["Client", "Profile", "LatencyMs", "JitterMs", "Loss", "Duplicate", "Reorder"];
/// The verbs that a client may run.
const CLIENT_VERBS: &str = "Activate, Press, Release, Axis, LetGo, Cancel, End, Commit, Move, Apply with Ability, Complete, SetLocal, AddCapabilitySet, \
     RemoveCapabilitySet and Expect";
const DEFAULT_HZ: i64 = 60;
const MAX_HZ: i64 = 1_000;

/// One server and its clients, with the length of a tick.
///
/// ```
/// let text = "Scenario: Two machines\nNetwork: {TickHz: 30, Clients: {Ana: {LatencyMs: 80}}}";
/// let tree = &ugas_data::read_trees("net.yaml", text).unwrap()[0];
/// let scenario = ugas_lab::Scenario::from_node("net.yaml", tree).unwrap();
/// let network = scenario.network.unwrap();
/// assert_eq!((network.tick, network.clients[0].name.as_str()), (ugas_core::SimTime::frames(1, 30), "Ana"));
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    /// The length of a tick.
    pub tick: SimTime,
    /// The clients in the order of the file.
    pub clients: Vec<NetClient>,
}

/// A client and its link to the server.
#[derive(Clone, Debug)]
pub struct NetClient {
    /// The name of the client.
    pub name: String,
    pub(crate) owns: Vec<Name>,
    /// The time at which the client connects.
    pub joins: SimTime,
    /// The latency in one direction.
    pub latency: SimTime,
    /// The largest deviation from the latency.
    pub jitter: SimTime,
    /// The fraction of datagrams that are lost.
    pub loss: f64,
    /// The fraction of datagrams that are duplicated.
    pub duplicate: f64,
    /// The fraction of datagrams that are reordered.
    pub reorder: f64,
    /// The mean number of consecutive lost datagrams.
    pub burst: f64,
}

impl NetClient {
    /// Returns the profile of the client's simulated link, which is used in both directions.
    pub fn link(&self) -> LinkProfile {
        let NetClient { latency, jitter, loss, duplicate, reorder, burst, .. } = *self;
        LinkProfile { latency, jitter, loss, duplicate, reorder, burst, ..LinkProfile::PERFECT }
    }
}

/// A change of a client's connection.
#[derive(Clone, Debug)]
pub(crate) struct WireVerb {
    pub(crate) client: Name,
    pub(crate) what: Wire,
}

/// A change of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Wire {
    /// Other link conditions.
    Link(LinkChange),
    /// The client's process stops.
    Disconnect,
    /// The client connects again without its previous state.
    Reconnect,
}

/// The changed conditions of a link.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkChange {
    profile: Option<LinkProfile>,
    latency: Option<SimTime>,
    jitter: Option<SimTime>,
    loss: Option<f64>,
    duplicate: Option<f64>,
    reorder: Option<f64>,
}

impl LinkChange {
    /// Returns the conditions of a link after the change.
    pub(crate) fn after(&self, before: &LinkProfile) -> LinkProfile {
        let from = self.profile.unwrap_or(*before);
        LinkProfile {
            latency: self.latency.unwrap_or(from.latency),
            jitter: self.jitter.unwrap_or(from.jitter),
            loss: self.loss.unwrap_or(from.loss),
            duplicate: self.duplicate.unwrap_or(from.duplicate),
            reorder: self.reorder.unwrap_or(from.reorder),
            ..from
        }
    }
}

impl Network {
    /// Returns a client by its name.
    pub fn client(&self, name: &str) -> Option<&NetClient> {
        self.clients.iter().find(|client| client.name == name)
    }
}

pub(super) fn network_of(reading: Reading<'_>, node: &Node) -> Result<Network, ReadError> {
    let fields = reading.fields("Network", node, &["TickHz", "Clients"])?;
    let hz = fields.get("TickHz").map_or(Ok(DEFAULT_HZ), |n| reading.whole("TickHz", n, 1, MAX_HZ))?;
    let clients = fields.need("Clients")?;
    if !clients.is_map() || clients.entries().is_empty() {
        let message = format!("Clients: expected a map of names, found {}", clients.describe());
        return Err(reading.error(clients, message));
    }
    let clients = clients.entries().iter().map(|entry| client_of(reading, entry)).collect::<Result<_, _>>()?;
    Ok(Network { tick: SimTime::frames(1, hz), clients })
}

fn client_of(reading: Reading<'_>, entry: &Entry) -> Result<NetClient, ReadError> {
    let what = format!("the client {}", entry.key);
    let f = reading.fields(&what, &entry.value, CLIENT_KEYS)?;
    let LinkProfile { latency, jitter, loss, duplicate, reorder, burst, .. } =
        link_of(&f)?.after(&LinkProfile::PERFECT);
    Ok(NetClient {
        name: entry.key.clone(),
        owns: f.names_if("Owns")?,
        joins: f.time_if("Joins")?.unwrap_or_default().max(SimTime::ZERO),
        latency,
        jitter,
        loss,
        duplicate,
        reorder,
        burst,
    })
}

/// Parses `Link`, `Disconnect` and `Reconnect`; `None` for other verbs.
pub(super) fn wire_of(reading: Reading<'_>, entry: &Entry) -> Result<Option<WireVerb>, ReadError> {
    let what = entry.key.as_str();
    let keys = match what {
        "Link" => LINK_KEYS,
        "Disconnect" | "Reconnect" => &["Client"],
        _ => return Ok(None),
    };
    let f = reading.fields(what, &entry.value, keys)?;
    let wire = match what {
        "Link" => Wire::Link(link_of(&f)?),
        "Disconnect" => Wire::Disconnect,
        _ => Wire::Reconnect,
    };
    Ok(Some(WireVerb { client: f.name("Client")?, what: wire }))
}

fn link_of(f: &Fields<'_>) -> Result<LinkChange, ReadError> {
    Ok(LinkChange {
        profile: f.get("Profile").map(|n| profile_of(f.reading, n)).transpose()?,
        latency: millis(f, "LatencyMs")?,
        jitter: millis(f, "JitterMs")?,
        loss: share(f, "Loss")?,
        duplicate: share(f, "Duplicate")?,
        reorder: share(f, "Reorder")?,
    })
}

fn profile_of(reading: Reading<'_>, node: &Node) -> Result<LinkProfile, ReadError> {
    let name = reading.text("Profile", node)?;
    LinkProfile::named(&name).ok_or_else(|| {
        let known: Vec<&str> = LinkProfile::ALL.iter().map(|(name, _)| *name).collect();
        let help = did_you_mean(&name, known.iter().copied());
        let message = format!("Profile: unknown profile {name:?}; the profiles are {}", known.join(", "));
        ReadError { help, ..reading.error(node, message) }
    })
}

fn millis(f: &Fields<'_>, key: &'static str) -> Result<Option<SimTime>, ReadError> {
    let Some(node) = f.get(key) else { return Ok(None) };
    match f.reading.number(key, node)? {
        ms if (0.0..=60_000.0).contains(&ms) => Ok(Some(SimTime::seconds(ms / 1_000.0))),
        ms => Err(f.reading.error(node, format!("{key}: expected 0 to 60000 milliseconds, found {ms}"))),
    }
}

fn share(f: &Fields<'_>, key: &'static str) -> Result<Option<f64>, ReadError> {
    let Some(node) = f.get(key) else { return Ok(None) };
    match f.reading.number(key, node)? {
        share if (0.0..=1.0).contains(&share) => Ok(Some(share)),
        other => Err(f.reading.error(node, format!("{key}: expected a fraction from 0 to 1, found {other}"))),
    }
}

/// Checks the clients, the actors they own, and the verbs that run on them.
pub(super) fn check(scenario: &Scenario, errors: &mut Vec<ReadError>) {
    let file = &scenario.file;
    let clients = scenario.network.as_ref().map_or(&[][..], |network| &network.clients);
    let mut owned: Vec<&str> = Vec::new();
    for actor in clients.iter().flat_map(|client| &client.owns) {
        match scenario.actors.iter().find(|a| a.name.text == actor.text) {
            None => {
                let known = scenario.actors.iter().map(|a| a.name.text.as_str());
                let help = did_you_mean(&actor.text, known);
                let message = format!("unknown actor {}", actor.text);
                errors.push(ReadError { help, ..actor.place.error(file, message) });
            }
            Some(a) if !a.spawned => {
                let message = format!(
                    "{} has `Spawned: false`, but a client can own only actors that exist from the start; change one",
                    actor.text
                );
                errors.push(actor.place.error(file, message));
            }
            Some(_) if owned.contains(&actor.text.as_str()) => {
                errors.push(
                    actor.place.error(file, format!("{} already has an owner; remove it from one client", actor.text)),
                );
            }
            Some(_) => owned.push(&actor.text),
        }
    }
    for entry in &scenario.timeline {
        for_each_step(&entry.steps, &mut |step| {
            if let Some(on) = &step.on {
                check_step(scenario, on, step, errors);
            }
            if let Verb::Wire(wire) = &step.verb {
                check_client(scenario, "Client", &wire.client, errors);
            }
        });
    }
}

/// Reports an unknown client.
fn check_client(scenario: &Scenario, what: &str, name: &Name, errors: &mut Vec<ReadError>) -> bool {
    let clients = || scenario.network.iter().flat_map(|network| &network.clients).map(|client| client.name.as_str());
    let is_there = clients().any(|known| known == name.text);
    if !is_there {
        let help = did_you_mean(&name.text, clients()).or(Some("add the client to `Network: Clients:`".to_owned()));
        let message = format!("{what}: unknown client {}", name.text);
        errors.push(ReadError { help, ..name.place.error(&scenario.file, message) });
    }
    is_there
}

fn check_step(scenario: &Scenario, on: &Name, step: &Step, errors: &mut Vec<ReadError>) {
    if check_client(scenario, "On", on, errors) && !may_ask(&step.verb) {
        let message = "a client cannot run this verb; only the server can";
        let help = Some(format!("remove `On:`; a client can run {CLIENT_VERBS}; name abilities with `Ability:`"));
        errors.push(ReadError { help, ..step.place.error(&scenario.file, message) });
    }
}

/// Returns whether a client can run a verb.
fn may_ask(verb: &Verb) -> bool {
    match verb {
        Verb::Apply(apply) => apply.ability.is_some() && apply.from.is_some(),
        Verb::Move { to, .. } => to.is_some(),
        Verb::Ability(verb) => match verb {
            AbilityVerb::Activate { of, .. } | AbilityVerb::Stop { of, .. } => matches!(of.pick, Pick::Ability(_)),
            AbilityVerb::Press { .. } | AbilityVerb::Release { .. } | AbilityVerb::Complete(_) => true,
            AbilityVerb::Axis { .. } | AbilityVerb::LetGo { .. } => true,
            // Always refused; a scenario can show that.
            AbilityVerb::Interrupt { .. } => true,
            // Capability sets that each machine adds for itself.
            AbilityVerb::Grant { what, .. } => matches!(what, Pick::Set(_)),
            AbilityVerb::Revoke(of) => matches!(of.pick, Pick::Set(_)) && of.actor.is_some(),
            AbilityVerb::Validate { .. }
            | AbilityVerb::Event { .. }
            | AbilityVerb::SetParam { .. }
            | AbilityVerb::SetLevel { .. } => false,
        },
        // No request of a client can express it, so the client refuses it.
        Verb::ModifyResource(_) => true,
        Verb::SetLocal { .. } => true,
        Verb::Expect(_) => true,
        Verb::Remove(_)
        | Verb::ChangeEffect { .. }
        | Verb::Possess { .. }
        | Verb::Spawn { .. }
        | Verb::Despawn { .. }
        | Verb::AddSet { .. }
        | Verb::RemoveSet { .. }
        | Verb::SetActive { .. }
        | Verb::SetRate { .. }
        | Verb::Capability(_)
        | Verb::Wire(_)
        | Verb::Reload(_)
        | Verb::Repeat { .. }
        | Verb::ExpectStream { .. }
        | Verb::ExpectCount(_)
        | Verb::MarkHash { .. }
        | Verb::ExpectHash { .. } => false,
    }
}

/// Parses `On: Ana` next to a verb.
pub(super) fn on_of(reading: Reading<'_>, node: &Node) -> Result<Option<Name>, ReadError> {
    node.get("On").map(|n| reading.name("On", n)).transpose()
}

/// Returns the error of running a scenario with `Network:` without its clients.
pub(crate) fn needs_machines(scenario: &Scenario) -> Option<ReadError> {
    scenario.network.as_ref()?;
    let place: Place = scenario.place;
    Some(ReadError {
        help: Some("run the scenario with `ugas test`, or with `ugas serve` and one `ugas bot` per client".to_owned()),
        ..place.error(&scenario.file, "a scenario with `Network:` needs a server and its clients")
    })
}
