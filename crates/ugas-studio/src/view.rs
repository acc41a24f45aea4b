//! What a page shows of a world, as plain data.

use crate::Names;
use crate::stage::Stage;
use serde::Serialize;
use ugas_core::{AttributeId, ControllerId, EffectState, Sim, SimTime, Target, Which};
use ugas_doc::Category;
use ugas_net::client::Client;

/// One side: a client's, or the server's.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Side {
    /// The client's name; none for the server.
    pub(crate) client: Option<String>,
    pub(crate) tick: u32,
    /// Ticks the client is ahead of what the server has confirmed.
    pub(crate) ahead: u32,
    pub(crate) corrections: u64,
    pub(crate) refused: u64,
    /// Percent by which the client's clock runs faster than the server's, to get as far ahead as its link needs.
    pub(crate) bent: f64,
    /// Round trip in milliseconds and share lost of the client's link.
    pub(crate) link: (u32, f64),
    pub(crate) actors: Vec<Actor>,
}

/// Somebody, in short.
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
    pub(crate) cast: Option<Run>,
    pub(crate) cues: Vec<String>,
}

/// A value with a largest one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) most: f64,
}

/// Something that runs, from 0 to 1.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) share: f64,
}

/// Everything about somebody.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Detail {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) attributes: Vec<Value>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) tags: Vec<(String, u32)>,
    pub(crate) abilities: Vec<Ability>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) base: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Effect {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) by: Option<String>,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) state: &'static str,
    /// Seconds since it began, and its whole length if it has one.
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
    /// Why not, and in how many seconds it can be used again by itself.
    pub(crate) reasons: Vec<Reason>,
    pub(crate) cooldown: Option<Run>,
    pub(crate) charges: Option<(u32, u32)>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reason {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// Seconds until time heals it.
    pub(crate) heals: Option<f64>,
}

/// The sides of a stage: the server's first, then the clients' in the order they joined. With a category only whoever is
/// in it.
pub(crate) fn sides(stage: &Stage, category: Option<&str>) -> Vec<Side> {
    let server = stage.net().server();
    let actors = |sim: &Sim, shows: &Shows| actors(stage.names(), sim, shows, category);
    let mut sides = vec![Side {
        client: None,
        tick: server.tick().0,
        ahead: 0,
        corrections: 0,
        refused: server.counts().iter().map(|(_, n)| n).sum(),
        bent: 0.0,
        link: (0, 0.0),
        actors: actors(server.sim(), &Shows::All),
    }];
    for player in stage.here() {
        let client = player.client();
        let settled = client.owned().iter().filter_map(|&who| client.confirmed_tick(who)).min();
        sides.push(Side {
            client: Some(player.name().to_owned()),
            tick: client.tick().0,
            ahead: settled.map_or(0, |t| client.tick().0.saturating_sub(t.0)),
            corrections: client.counts().corrections,
            refused: client.counts().rejected,
            bent: client.clock_adjustment(),
            link: stage.link_of(player.name()),
            actors: actors(client.sim(), &Shows::To(client)),
        });
    }
    sides
}

/// Whoever is in a world and in a category, if one is asked for.
pub(crate) fn actors(names: &Names, sim: &Sim, shows: &Shows, category: Option<&str>) -> Vec<Actor> {
    let wanted = |who: &ControllerId| category.is_none_or(|c| names.category(*who) == Some(c));
    sim.controllers().filter(wanted).map(|who| actor(names, sim, who, shows)).collect()
}

/// What of somebody is known.
pub(crate) enum Shows<'c> {
    /// Everything: the world is the one that decides.
    All,
    /// What a client is told of others, and everything of its own.
    To(&'c Client),
}

impl Shows<'_> {
    fn owns(&self, who: ControllerId) -> bool {
        matches!(self, Shows::To(client) if client.owned().contains(&who))
    }

    /// What is not told has the value it began with, which is nobody's value.
    fn value(&self, who: ControllerId, attribute: AttributeId) -> bool {
        match self {
            Shows::All => true,
            Shows::To(client) => {
                self.owns(who) || client.proxies().iter().any(|p| p.who() == who && p.shows(attribute))
            }
        }
    }
}

fn actor(names: &Names, sim: &Sim, who: ControllerId, shows: &Shows) -> Actor {
    let rules = sim.rules();
    let place = sim.anchor(who).ok().flatten().map_or([0.0; 3], |a| a.position);
    let dead = rules.find_tag("State.Dead").is_some_and(|t| sim.has_tag(who, t).unwrap_or(false));
    let cast = sim.cast(who).ok().flatten().map(|c| Run {
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
        own: shows.owns(who),
        dead,
        bars: bars(sim, who, shows),
        cast,
        cues: cues.into_iter().filter_map(|t| rules.tag_name(t)).map(str::to_owned).collect(),
    }
}

/// The resources that have a largest value.
fn bars(sim: &Sim, who: ControllerId, shows: &Shows) -> Vec<Bar> {
    let rules = sim.rules();
    let mut bars = Vec::new();
    for &set in sim.set_list(who).unwrap_or_default() {
        for def in rules.set_attributes(set).unwrap_or_default().iter().filter(|d| d.category == Category::Resource) {
            let (Ok(value), Ok((_, most))) = (sim.get(who, def.attribute), sim.bounds(who, def.attribute)) else {
                continue;
            };
            if most.is_finite() && shows.value(who, def.attribute) {
                bars.push(Bar { name: name_of(sim, def.attribute), value, most });
            }
        }
    }
    bars
}

fn name_of(sim: &Sim, attribute: AttributeId) -> String {
    sim.rules().attribute_name(attribute).unwrap_or("?").to_owned()
}

/// Everything about somebody on a side.
pub(crate) fn detail(names: &Names, sim: &Sim, who: ControllerId) -> Option<Detail> {
    let rules = sim.rules();
    let attributes = sim.attributes(who).ok()?;
    let value = |a: AttributeId| {
        Some(Value { name: name_of(sim, a), value: sim.get(who, a).ok()?, base: sim.base(who, a).ok()? })
    };
    let effects = sim.effects(who).ok()?.into_iter().map(|e| Effect {
        key: format!("{:x}.{}", e.key.birth, e.key.ordinal),
        name: sim.effect_name(e.effect).unwrap_or("?").to_owned(),
        by: e.source.some().map(|by| names.name(by)),
        level: e.level,
        stacks: e.stacks,
        state: state_name(e.state),
        elapsed: e.elapsed.as_seconds(),
        total: e.total.map(SimTime::as_seconds),
    });
    let tags = sim.tags(who).ok()?;
    let tags = tags.into_iter().filter_map(|(t, n)| Some((rules.tag_name(t)?.to_owned(), n)));
    Some(Detail {
        id: who.0,
        name: names.name(who),
        attributes: attributes.into_iter().filter_map(value).collect(),
        effects: effects.collect(),
        tags: tags.collect(),
        abilities: abilities(sim, who),
    })
}

fn state_name(state: EffectState) -> &'static str {
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
        // Without a target: what speaks against one is known only with one.
        if sim.why_not(who, Which::Grant(grant.id), Target::None, &mut reasons).is_err() {
            reasons.clear();
        }
        reasons.retain(|r| r.refusal.kind() != "NoTarget");
        let timer = sim.cooldown(who, grant.id).ok().flatten();
        list.push(Ability {
            title: meta.and_then(|m| m.display_name.clone()).unwrap_or_else(|| name.clone()),
            text,
            input: rules.input_name(grant.input).map(str::to_owned),
            level: grant.level,
            running: sim.activations(who).is_ok_and(|mut all| all.any(|a| a.grant == grant.id)),
            ready: reasons.is_empty(),
            reasons: reasons
                .iter()
                .map(|r| Reason {
                    kind: r.refusal.kind(),
                    text: r.refusal.describe(rules),
                    heals: r.heals.map(|t| (t - now).as_seconds()),
                })
                .collect(),
            cooldown: timer.map(|t| Run { name: format!("{:.1}", t.remaining.as_seconds()), share: t.fraction() }),
            charges: sim.charges(who, grant.id).ok().flatten().map(|c| (c.have, c.max)),
            name,
        });
    }
    list
}
