//! The state of a world as plain data for the pages.

use crate::Names;
use crate::capability::{self, CapabilityNotes, CapabilityRow};
use crate::observer::Observer;
use crate::session::Session;
use serde::Serialize;
use ugas_core::{AttributeId, BoundDef, ControllerId, EffectState, Sim, SimTime, Target, Which};
use ugas_doc::Category;

/// The state that the server or a client shows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Side {
    /// The name of the client; `None` for the server.
    pub(crate) client: Option<String>,
    pub(crate) tick: u32,
    /// The number of ticks by which the client is ahead of the last tick that the server confirmed.
    pub(crate) ahead: u32,
    pub(crate) corrections: u64,
    /// Differences from the prediction that others caused.
    pub(crate) external_changes: u64,
    /// Why the last correction happened, in one line with the name of the actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) correction_reason: Option<String>,
    pub(crate) refused: u64,
    /// Percent by which the client's clock runs faster (positive) or slower (negative), until the client is as far
    /// ahead of the server as its link requires.
    pub(crate) clock_rate: f64,
    /// The round trip time in milliseconds and the packet loss, from 0 to 0.9, of the client's link.
    pub(crate) link: (u32, f64),
    pub(crate) actors: Vec<Actor>,
}

/// An actor in a list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Actor {
    pub(crate) id: u32,
    pub(crate) name: String,
    /// `DebugCategory` of its document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) category: Option<String>,
    pub(crate) x: f64,
    pub(crate) z: f64,
    pub(crate) own: bool,
    pub(crate) dead: bool,
    pub(crate) bars: Vec<Bar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cast: Option<Progress>,
    pub(crate) cues: Vec<String>,
}

/// A value with an upper bound. Each number is `None` if it is not replicated to the observer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: Option<f64>,
    pub(crate) most: Option<f64>,
}

/// A progress from 0 to 1.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Progress {
    pub(crate) name: String,
    pub(crate) share: f64,
}

/// Everything about an actor.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Detail {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) attributes: Vec<Value>,
    /// The effects; `None` if they are not replicated to this client.
    pub(crate) effects: Option<Vec<Effect>>,
    /// Each tag with its grant count, which is not replicated for remote actors.
    pub(crate) tags: Vec<(String, Option<u32>)>,
    /// The abilities; `None` for remote actors, because abilities are replicated to the owning client only.
    pub(crate) abilities: Option<Vec<Ability>>,
    /// The capabilities in the order in which they run. For a remote actor these are the ones of the sets that are
    /// replicated to this client.
    pub(crate) capabilities: Vec<CapabilityRow>,
}

/// An attribute; the value and the base value are `None` if they are not replicated to the observer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) value: Option<f64>,
    pub(crate) base: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Effect {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) by: Option<String>,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) state: &'static str,
    /// Seconds since the effect was applied.
    pub(crate) elapsed: f64,
    pub(crate) total: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Ability {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) text: Option<String>,
    pub(crate) input: Option<String>,
    pub(crate) level: u32,
    pub(crate) running: bool,
    pub(crate) ready: bool,
    /// Why the ability cannot be activated.
    pub(crate) reasons: Vec<Reason>,
    pub(crate) cooldown: Option<Progress>,
    pub(crate) charges: Option<(u32, u32)>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reason {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// Seconds until this reason expires; `None` if it does not expire.
    pub(crate) ready_in: Option<f64>,
}

/// Returns the sides of a session: the server first, then the clients in the order they joined. With a category, only
/// the actors of that category are included.
pub(crate) fn sides(session: &Session, category: Option<&str>) -> Vec<Side> {
    let server = session.net().server();
    let actors = |observer: Observer<'_>| actors(session.names(), observer, category);
    let mut sides = vec![Side {
        client: None,
        tick: server.tick().0,
        ahead: 0,
        corrections: 0,
        external_changes: 0,
        correction_reason: None,
        refused: server.counts().iter().map(|(_, n)| n).sum(),
        clock_rate: 0.0,
        link: (0, 0.0),
        actors: actors(Observer::Server(server)),
    }];
    for player in session.connected() {
        let client = player.client();
        let settled = client.owned().iter().filter_map(|&who| client.confirmed_tick(who)).min();
        sides.push(Side {
            client: Some(player.name().to_owned()),
            tick: client.tick().0,
            ahead: settled.map_or(0, |t| client.tick().0.saturating_sub(t.0)),
            corrections: client.counts().corrections,
            external_changes: client.counts().external_changes,
            correction_reason: client.correction_reasons().last().map(|reason| {
                format!("{}, {}", session.names().name(reason.who), reason.describe(client.sim().rules()))
            }),
            refused: client.counts().rejected,
            clock_rate: client.clock_adjustment(),
            link: session.link_of(player.name()),
            actors: actors(Observer::Client(client)),
        });
    }
    sides
}

/// Returns the actors of a world or, with a category, the actors of that category.
pub(crate) fn actors(names: &Names, observer: Observer<'_>, category: Option<&str>) -> Vec<Actor> {
    let wanted = |who: &ControllerId| category.is_none_or(|c| names.category(*who) == Some(c));
    observer.sim().controllers().filter(wanted).map(|who| actor(names, observer, who)).collect()
}

fn actor(names: &Names, observer: Observer<'_>, who: ControllerId) -> Actor {
    let sim = observer.sim();
    let rules = sim.rules();
    let place = sim.anchor(who).ok().flatten().map_or([0.0; 3], |a| a.position);
    let dead = rules.find_tag("State.Dead").is_some_and(|t| sim.has_tag(who, t).unwrap_or(false));
    let cast = sim.cast(who).ok().flatten().map(|c| Progress {
        name: rules.ability_name(c.ability).unwrap_or("?").to_owned(),
        share: 1.0 - c.timer.fraction(),
    });
    let cues = sim.cues(who).unwrap_or_default();
    Actor {
        id: who.0,
        name: names.name(who),
        category: names.category(who).map(str::to_owned),
        x: place[0],
        z: place[2],
        own: observer.owns(who),
        dead,
        bars: bars(observer, who),
        cast,
        cues: cues.into_iter().filter_map(|t| rules.tag_name(t)).map(str::to_owned).collect(),
    }
}

/// Returns the resources that have an upper bound.
fn bars(observer: Observer<'_>, who: ControllerId) -> Vec<Bar> {
    let sim = observer.sim();
    let mut bars = Vec::new();
    for &set in sim.set_list(who).unwrap_or_default() {
        let defs = sim.rules().set_attributes(set).unwrap_or_default().iter();
        for def in defs.filter(|d| d.category == Category::Resource && d.max != BoundDef::Open) {
            let value = observer.value(who, def.attribute);
            let most = observer.upper_bound(who, def.max).filter(|_| value.is_some());
            bars.push(Bar { name: name_of(sim, def.attribute), value, most });
        }
    }
    bars
}

fn name_of(sim: &Sim, attribute: AttributeId) -> String {
    sim.rules().attribute_name(attribute).unwrap_or("?").to_owned()
}

/// Returns the complete state of an actor that an observer knows.
pub(crate) fn detail(
    names: &Names,
    observer: Observer<'_>,
    who: ControllerId,
    notes: &CapabilityNotes<'_>,
) -> Option<Detail> {
    let sim = observer.sim();
    let is_complete = observer.is_complete(who);
    let value =
        |a: AttributeId| Value { name: name_of(sim, a), value: observer.value(who, a), base: observer.base(who, a) };
    let attributes = sim.attributes(who).ok()?.into_iter().map(value).collect();
    let effects = observer.effects(who).map(|list| {
        let effect = |e: crate::observer::KnownEffect| Effect {
            key: format!("{:x}.{}", e.key.origin_id, e.key.ordinal),
            name: sim.effect_name(e.effect).unwrap_or("?").to_owned(),
            by: e.source.map(|by| names.name(by)),
            level: e.level,
            stacks: e.stacks,
            state: state_name(e.state),
            elapsed: e.elapsed.as_seconds(),
            total: e.total.map(SimTime::as_seconds),
        };
        list.into_iter().map(effect).collect()
    });
    let tag = |(t, n)| Some((sim.rules().tag_name(t)?.to_owned(), is_complete.then_some(n)));
    Some(Detail {
        id: who.0,
        name: names.name(who),
        attributes,
        effects,
        tags: sim.tags(who).ok()?.into_iter().filter_map(tag).collect(),
        abilities: is_complete.then(|| abilities(sim, who)),
        capabilities: capability::rows(names, observer, who, notes),
    })
}

pub(crate) fn state_name(state: EffectState) -> &'static str {
    match state {
        EffectState::Active => "active",
        EffectState::Inhibited => "inhibited",
        EffectState::Queued => "queued",
    }
}

fn abilities(sim: &Sim, who: ControllerId) -> Vec<Ability> {
    let (rules, now) = (sim.rules(), sim.now());
    let mut reasons = Vec::new();
    let mut list = Vec::new();
    for grant in sim.grants(who).unwrap_or_default() {
        let name = rules.ability_name(grant.ability).unwrap_or("?").to_owned();
        let meta = sim.ability_doc(grant.ability).and_then(|d| d.metadata.as_ref());
        let text = meta.and_then(|m| m.description.as_ref()).map(|t| sim.fill_text(t, grant.level, who).text);
        // Checked without a target: reasons that depend on the target are left out.
        if sim.why_not(who, Which::Grant(grant.id), Target::None, &mut reasons).is_err() {
            reasons.clear();
        }
        reasons.retain(|r| r.refusal.kind() != "NoTarget");
        let timer = sim.cooldown(who, grant.id).ok().flatten();
        list.push(Ability {
            title: meta.and_then(|m| m.display_name.clone()).unwrap_or_else(|| name.clone()),
            text,
            input: grant.input.and_then(|input| rules.input_name(input)).map(str::to_owned),
            level: grant.level,
            running: sim.activations(who).is_ok_and(|mut all| all.any(|a| a.grant == grant.id)),
            ready: reasons.is_empty(),
            reasons: reasons
                .iter()
                .map(|r| Reason {
                    kind: r.refusal.kind(),
                    text: r.refusal.describe(rules),
                    ready_in: r.clears_at.map(|t| (t - now).as_seconds()),
                })
                .collect(),
            cooldown: timer.map(|t| Progress { name: format!("{:.1}", t.remaining.as_seconds()), share: t.fraction() }),
            charges: sim.charges(who, grant.id).ok().flatten().map(|c| (c.have, c.max)),
            name,
        });
    }
    list
}
