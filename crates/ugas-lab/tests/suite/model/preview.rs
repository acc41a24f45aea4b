//! Previews against what then happens: the same refusal, facts, values, tags and effects, and nothing changed before.

use super::drive::Both;
use super::generate::Rng;
use ugas_core::{ControllerId, EffectFilter, EffectId, Facts, Op, Preview, Sim, Spec, Target, Which};

/// Previews an application, a batch and an activation, and runs each on a copy of the sim.
pub(crate) fn check(both: &mut Both, rng: &mut Rng) -> Result<(), String> {
    let all: Vec<ControllerId> = both.sim.controllers().collect();
    if all.is_empty() {
        return Ok(());
    }
    let effects: Vec<EffectId> = both.names.keys().copied().collect();
    let spec = |rng: &mut Rng| {
        let source = if rng.percent(20) { ControllerId::NONE } else { *rng.pick(&all) };
        Spec::new(*rng.pick(&effects), *rng.pick(&all)).from(source).level(rng.range(1, 3) as u32)
    };
    let one = spec(rng);
    let batch = [spec(rng), spec(rng), spec(rng)];
    let who = *rng.pick(&all);
    let mut ops = vec![Op::Apply(one), Op::ApplyAll { specs: batch.to_vec() }];
    let grants = both.sim.grants(who).map_err(|r| r.to_string())?;
    if !grants.is_empty() {
        let which = Which::Grant(rng.pick(&grants).id);
        let target = if rng.percent(50) { Target::None } else { Target::Controller(*rng.pick(&all)) };
        ops.push(Op::Activate { who, which, target });
        ops.push(Op::Commit { who, which });
    }
    ops.iter().try_for_each(|op| check_op(&mut both.sim, op).map_err(|e| format!("preview of {op:?}: {e}")))
}

fn check_op(sim: &mut Sim, op: &Op) -> Result<(), String> {
    let hash = sim.hash();
    let preview = match op {
        Op::Apply(spec) => sim.preview(spec),
        Op::ApplyAll { specs } => sim.preview_all(specs),
        _ => sim.preview_op(op),
    };
    if sim.hash() != hash {
        return Err("the preview changed the sim".to_owned());
    }
    let mut after = sim.clone();
    after.take_facts(&mut Facts::default());
    let (mut refusal, mut parts) = (None, Vec::new());
    match op {
        Op::ApplyAll { specs } => {
            after.apply_all(specs, &mut parts);
        }
        _ => refusal = after.run(op.clone()).err(),
    }
    same("refusal", &preview.refusal, &refusal)?;
    same("parts", &preview.parts, &parts.into_iter().map(|r| r.map(drop)).collect())?;
    same("facts", &preview.facts.list, &after.facts().list)?;
    let ids: Vec<ControllerId> = after.controllers().collect();
    ids.iter().try_for_each(|&who| check_row(sim, &preview, &after, who).map_err(|e| format!("{who:?}: {e}")))
}

/// A row that the preview omits must not change; a row that it shows must equal the preview.
fn check_row(before: &Sim, preview: &Preview, after: &Sim, who: ControllerId) -> Result<(), String> {
    let read = |error: ugas_core::ReadError| error.to_string();
    let row = preview.row(who);
    for attribute in after.attributes(who).map_err(read)? {
        let shown = preview.attribute(who, attribute);
        let old = |value: Option<f64>| value.map(Ok).unwrap_or_else(|| before.get(who, attribute)).map_err(read);
        same("current", &old(shown.map(|a| a.after))?, &after.get(who, attribute).map_err(read)?)?;
        if let Some(shown) = shown {
            same("current before", &shown.before, &before.get(who, attribute).map_err(read)?)?;
            same("base before", &shown.base_before, &before.base(who, attribute).map_err(read)?)?;
            same("base", &shown.base_after, &after.base(who, attribute).map_err(read)?)?;
        }
    }
    let tags = |sim: &Sim| sim.tags(who).map(|list| list.into_iter().map(|t| t.0).collect::<Vec<_>>()).map_err(read);
    let mut expected = tags(before)?;
    expected.retain(|t| row.is_none_or(|r| !r.tags_removed.contains(t)));
    expected.extend(row.iter().flat_map(|r| &r.tags_added));
    let mut found = tags(after)?;
    expected.sort_unstable();
    found.sort_unstable();
    same("tags", &expected, &found)?;
    let keys = |sim: &Sim| sim.query(who, &EffectFilter::default()).map_err(read);
    let mut expected = keys(before)?;
    expected.retain(|k| row.is_none_or(|r| r.effects_removed.iter().all(|e| e.key != *k)));
    let active = |e: &&ugas_core::EffectView| e.state != ugas_core::EffectState::Queued;
    expected.extend(row.iter().flat_map(|r| r.effects_added.iter().filter(active).map(|e| e.key)));
    // A queued effect that starts is a changed effect, and the query finds it from then on.
    let is_started = |(old, new): &&(ugas_core::EffectView, ugas_core::EffectView)| !active(&old) && active(&new);
    expected.extend(row.iter().flat_map(|r| r.effects_changed.iter().filter(is_started).map(|(_, new)| new.key)));
    let mut found = keys(after)?;
    expected.sort_unstable_by_key(|k| (k.origin_id, k.ordinal));
    found.sort_unstable_by_key(|k| (k.origin_id, k.ordinal));
    same("effects", &expected, &found)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: the preview has {expected:?}, found {found:?}")) }
}
