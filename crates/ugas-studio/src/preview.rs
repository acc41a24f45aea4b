//! Previews of actions: the changes that applying an effect or activating an ability would make, limited to the changes
//! that the selected server or client can know.
//!
//! The sim computes the preview on a copy, so neither the world nor the recording changes. On a client, a value is
//! `None` if the client cannot know it: the value of an attribute that is not replicated to the client, and every
//! change of a remote actor.

use crate::Names;
use crate::observer::Observer;
use crate::session::{Action, ResolvedAction};
use crate::view;
use serde::Serialize;
use ugas_core::{EffectView, Op, RowPreview, Sim, SimTime, TagId, Which};
use ugas_doc::NetExecution;
use ugas_net::client::Knowledge;

/// The changes that an action would make.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct ActionPreview {
    /// Why the action would be refused.
    pub(crate) refusal: Option<PreviewRefusal>,
    /// Which changes the preview does not show, or why the action would have no effect.
    pub(crate) note: Option<String>,
    /// The actors that the action names, and the actors that it would change.
    pub(crate) actors: Vec<ActorPreview>,
}

/// The refusal of the action.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PreviewRefusal {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

/// An actor before and after the action.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ActorPreview {
    pub(crate) name: String,
    pub(crate) attributes: Vec<AttributeChange>,
    /// The changes; `None` if the observer is a client and the actor is a remote actor.
    pub(crate) changes: Option<ActorChanges>,
}

/// An attribute before and after the action. A value is `None` if it is not replicated to the observer.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AttributeChange {
    pub(crate) name: String,
    pub(crate) before: Option<f64>,
    pub(crate) after: Option<f64>,
    pub(crate) base_before: Option<f64>,
    pub(crate) base_after: Option<f64>,
}

/// Changes of tags and effects.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ActorChanges {
    pub(crate) tags_added: Vec<String>,
    pub(crate) tags_removed: Vec<String>,
    pub(crate) effects_added: Vec<PreviewedEffect>,
    pub(crate) effects_removed: Vec<PreviewedEffect>,
    /// Each changed effect before and after the action.
    pub(crate) effects_changed: Vec<(PreviewedEffect, PreviewedEffect)>,
    pub(crate) destroyed: bool,
}

/// The data of an effect that a preview shows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PreviewedEffect {
    pub(crate) name: String,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) state: &'static str,
    /// Seconds until the effect expires; `None` if it does not expire.
    pub(crate) remaining: Option<f64>,
}

/// Previews an action. The error names the actor or definition that does not exist, or says why the action cannot be
/// previewed.
pub(crate) fn preview(names: &Names, observer: Observer<'_>, action: &Action) -> Result<ActionPreview, String> {
    let sim = observer.sim();
    let op = match action.resolve(names, sim)? {
        ResolvedAction::Op(op @ (Op::Apply(_) | Op::Activate { .. })) => op,
        ResolvedAction::Op(_) | ResolvedAction::RemoveAll(..) | ResolvedAction::Write(..) => {
            return Err("only applying an effect and activating an ability can be previewed".to_owned());
        }
    };
    if let (Observer::Client(_), Some(note)) = (observer, not_predicted(names, observer, &op)) {
        return Ok(ActionPreview { note: Some(note), ..ActionPreview::default() });
    }
    let preview = sim.preview_op(&op);
    let without_target = "without a target, the ability would not apply its effects to a target; enter a target";
    Ok(ActionPreview {
        refusal: preview.refusal.map(|r| PreviewRefusal { kind: r.kind(), text: r.describe(sim.rules()) }),
        note: (preview.refusal.is_none() && action.lacks_target(sim)).then(|| without_target.to_owned()),
        actors: preview.rows.iter().map(|row| actor(names, observer, row)).collect(),
    })
}

/// Returns why a client cannot predict the changes of an op.
fn not_predicted(names: &Names, observer: Observer<'_>, op: &Op) -> Option<String> {
    let Op::Activate { who, which: Which::Ability(ability), .. } = *op else {
        return Some("clients do not apply effects directly; select the server to preview the effect".to_owned());
    };
    if !observer.is_complete(who) {
        return Some(format!(
            "abilities of {} are replicated to its owning client only; select the server",
            names.name(who)
        ));
    }
    let sim = observer.sim();
    let policy = sim.ability_doc(ability).map(|doc| doc.net_execution)?;
    not_predicted_with(policy, sim.rules().ability_name(ability).unwrap_or("?"))
}

/// Returns why a client cannot predict an ability with a network execution policy.
fn not_predicted_with(policy: NetExecution, ability: &str) -> Option<String> {
    match policy {
        NetExecution::LocalPredicted => None,
        NetExecution::LocalOnly => Some(format!(
            "{ability} runs only on its owning client, on a copy of the actor that is not replicated; it has no preview"
        )),
        NetExecution::ServerInitiated | NetExecution::ServerOnly => {
            Some(format!("this client does not predict {ability}; select the server to preview it"))
        }
    }
}

fn actor(names: &Names, observer: Observer<'_>, row: &RowPreview) -> ActorPreview {
    let sim = observer.sim();
    let is_complete = observer.is_complete(row.who);
    let attribute = |a: &ugas_core::AttributePreview| {
        let is_known = is_complete && observer.knowledge(row.who, a.attribute) == Knowledge::Full;
        AttributeChange {
            name: sim.rules().attribute_name(a.attribute).unwrap_or("?").to_owned(),
            before: if is_known { Some(a.before) } else { observer.value(row.who, a.attribute) },
            after: is_known.then_some(a.after),
            base_before: is_known.then_some(a.base_before),
            base_after: is_known.then_some(a.base_after),
        }
    };
    ActorPreview {
        name: names.name(row.who),
        attributes: row.attributes.iter().map(attribute).collect(),
        changes: is_complete.then(|| changes(sim, row)),
    }
}

fn changes(sim: &Sim, row: &RowPreview) -> ActorChanges {
    let tags = |list: &[TagId]| list.iter().map(|&t| sim.rules().tag_name(t).unwrap_or("?").to_owned()).collect();
    let effect = |e: &EffectView| PreviewedEffect {
        name: sim.effect_name(e.effect).unwrap_or("?").to_owned(),
        level: e.level,
        stacks: e.stacks,
        state: view::state_name(e.state),
        remaining: e.remaining.map(SimTime::as_seconds),
    };
    ActorChanges {
        tags_added: tags(&row.tags_added),
        tags_removed: tags(&row.tags_removed),
        effects_added: row.effects_added.iter().map(effect).collect(),
        effects_removed: row.effects_removed.iter().map(effect).collect(),
        effects_changed: row.effects_changed.iter().map(|(old, new)| (effect(old), effect(new))).collect(),
        destroyed: row.destroyed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_for_an_ability_without_prediction_names_the_side_that_runs_it() {
        assert_eq!(not_predicted_with(NetExecution::LocalPredicted, "GA"), None);
        let server = not_predicted_with(NetExecution::ServerOnly, "GA").unwrap();
        assert!(server.ends_with("select the server to preview it"), "{server}");
        let local = not_predicted_with(NetExecution::LocalOnly, "GA").unwrap();
        assert!(local.starts_with("GA runs only on its owning client") && !local.contains("server"), "{local}");
    }
}
