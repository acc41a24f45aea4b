//! Soundness of a row from outside: nothing a damaged or forged portable holds may reach the flow.

use crate::rules::{EffectDef, Layout, Rules};
use crate::state::{Definitions, Mod, Row};
use crate::{ControllerId, SimTime, TagId};
use std::collections::BTreeMap;

/// Checks everything the flow relies on and recounts what is derived. The layout must be the row's own.
pub(crate) fn check_row(row: &mut Row, layout: &Layout, rules: &Rules, defs: &Definitions) -> Result<(), &'static str> {
    let want = |good: bool, what: &'static str| if good { Ok(()) } else { Err(what) };
    want(row.attrs.len() == layout.slots.len(), "the number of attributes")?;
    want(row.attrs.iter().all(|a| a.base.is_finite() && a.current.is_finite()), "an attribute's value")?;
    want(row.clock.is_sound(), "the clock")?;
    want(row.effects.windows(2).all(|w| w[0].seq < w[1].seq), "the order of effects")?;
    want(row.effects.iter().all(|e| e.seq > 0 && e.seq < row.next_seq && e.seq >> 63 == 0), "an effect's number")?;
    want(row.mods.windows(2).all(|w| w[0].order(&w[1]).is_lt()), "the order of modifiers")?;
    want(row.tags.is_sound(&rules.tags), "the tags")?;
    if let Some(a) = &row.anchor {
        want(a.position.iter().chain(&a.facing).all(|v| v.is_finite()), "the anchor")?;
    }
    let ability = |id: crate::AbilityId| match id.is_runtime() {
        true => defs.get(id.0).is_some(),
        false => rules.abilities.get(id.index()).is_some_and(Option::is_some),
    };
    want(row.grants.iter().all(|g| g.level > 0 && ability(g.ability) && g.id < row.next_grant), "a grant")?;
    for q in &row.queue {
        want(q.spec.target == row.id && q.spec.level > 0 && q.spec.stacks > 0, "a queued effect")?;
        want(defs.effect(rules, q.spec.effect).is_some(), "a queued effect's definition")?;
        want(extra_is_sound(q.spec.extra.as_deref()), "a queued effect's values")?;
    }
    (row.watching, row.immunities, row.live) = (0, 0, 0);
    let mut tags: BTreeMap<TagId, u32> = BTreeMap::new();
    let mut cues: BTreeMap<TagId, u32> = BTreeMap::new();
    for i in 0..row.effects.len() {
        let e = &row.effects[i];
        let Some(def) = defs.effect(rules, e.def) else { return Err("an effect's definition") };
        want(e.level > 0 && e.stacks > 0 && e.end >= e.start, "an effect's level, stacks or time")?;
        want(e.source == ControllerId::NONE || e.source.0 < u32::MAX - 1, "an effect's source")?;
        want(e.watches == (def.has_ongoing() || def.is_filtered()), "an effect's flags")?;
        want(e.periodic.is_some() == def.period.is_some(), "an effect's period")?;
        if let Some(p) = e.periodic.as_ref() {
            want(p.period >= crate::limits::MIN_PERIOD && p.period <= SimTime::LONGEST && p.n > 0, "an effect's period")?;
        }
        if let Some(cold) = &e.cold {
            want(extra_is_sound(cold.extra.as_deref()), "an effect's values")?;
            want(cold.units.len() <= def.modifiers.len(), "an effect's magnitudes")?;
            want(cold.tags.iter().all(|&t| rules.tags.def(t).is_some()), "an effect's tags")?;
            want(cold.captures.is_empty() || cold.captures.len() == captures(&def, rules), "an effect's captures")?;
        }
        if !e.inhibited {
            def.granted_tags.iter().chain(e.own_tags()).for_each(|t| *tags.entry(*t).or_default() += 1);
            def.cues.iter().for_each(|t| *cues.entry(*t).or_default() += 1);
        }
        let (watches, immune) = (e.watches as u32, !def.immunity.is_empty() as u32);
        row.watching += watches;
        row.immunities += immune;
    }
    want(row.tags.iter().collect::<BTreeMap<_, _>>() == tags, "tags that no effect explains")?;
    let held: BTreeMap<TagId, u32> = row.cues.iter().map(|c| (c.tag, c.count)).collect();
    want(held == cues && row.cues.windows(2).all(|w| w[0].tag < w[1].tag), "cues that no effect explains")?;
    for m in &row.mods {
        want(mod_is_sound(m, row, layout, rules, defs), "a modifier")?;
    }
    let live = |m: &&Mod| {
        let def = row.effect_at(m.seq).and_then(|i| defs.effect(rules, row.effects[i].def));
        def.is_some_and(|d| d.modifiers[m.index as usize].magnitude.live_on().is_some())
    };
    row.live = row.mods.iter().filter(live).count() as u32;
    Ok(())
}

fn captures(def: &EffectDef, rules: &Rules) -> usize {
    let reads = |c: crate::CalcId| rules.calcs[c.index()].as_ref().map_or(0, |c| c.reads.len());
    def.executions.iter().map(|x| reads(x.calculator)).sum()
}

fn extra_is_sound(extra: Option<&crate::SpecExtra>) -> bool {
    extra.is_none_or(|x| {
        let hit = x.hit.iter().flat_map(|h| h.distance.into_iter().chain(h.position.into_iter().flatten()));
        x.set_by_caller.iter().map(|(_, v)| *v).chain(hit).chain(x.origin.into_iter().flatten()).all(f64::is_finite)
            && x.set_by_caller.windows(2).all(|w| w[0].0 < w[1].0)
    })
}

fn mod_is_sound(m: &Mod, row: &Row, layout: &Layout, rules: &Rules, defs: &Definitions) -> bool {
    let Some(def) = row.effect_at(m.seq).and_then(|i| defs.effect(rules, row.effects[i].def)) else { return false };
    let Some(d) = def.modifiers.get(m.index as usize) else { return false };
    m.magnitude.is_finite()
        && layout.slot(d.attribute) == Some(m.slot as usize)
        && m.channel == d.channel
        && m.op == d.op.into()
        && def.acts_on_current(d)
}
