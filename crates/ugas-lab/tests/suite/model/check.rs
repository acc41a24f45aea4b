//! Whether an ability may be activated: every check of ruling R-10 in its order, each from scratch.

use super::effects::{has_any, under};
use super::expr;
use super::play::{Act, State};
use super::settle::Write;
use super::world::{Refused, Spec, World};
use ugas_doc::{Ability, CombatKind, GroupPolicy, OnTargetLost, Operation};

/// An attempt to activate: controller, grant, target and source.
#[derive(Clone, Debug)]
pub(crate) struct Try {
    pub(crate) who: u32,
    pub(crate) grant: u32,
    pub(crate) level: u32,
    pub(crate) target: Option<u32>,
    pub(crate) source: u32,
}

impl World {
    /// The first check that fails. A validated activation does not block itself.
    pub(crate) fn refusal(&self, t: &Try, def: &Ability, validated: bool) -> Option<Refused> {
        let own = self.refusal_of_owner(t, def, validated);
        // Checks of the target are between others, so both lists are evaluated and the earlier refusal counts.
        let order = |kind: &str| ORDER.iter().position(|o| *o == kind).expect("it is one of the checks");
        let range = def.max_range.or(def.cast.as_ref().and_then(|c| c.max_range));
        let target = self.refusal_of_target(t, def, range);
        [own, target].into_iter().flatten().min_by_key(|(check, _)| order(check)).map(|(_, kind)| kind)
    }

    /// The first check that fails of those that need no target: (check, kind).
    pub(crate) fn refusal_of_owner(&self, t: &Try, def: &Ability, validated: bool) -> Option<(Refused, Refused)> {
        let row = &self.rows[&t.who];
        let grant = self.grant(t.who, t.grant).expect("it is granted");
        let has = |tag: &String| self.has_tag(t.who, tag);
        let mine = || row.play.acts.iter().filter(|a| a.grant == t.grant);
        let others = || row.play.acts.iter().filter(|a| a.grant != t.grant && a.state != State::Pending);
        let plain = |kind: Refused| Some((kind, kind));
        if !row.active {
            return plain("Inactive");
        }
        if def.avatar_dependent && row.avatar.is_none() {
            return plain("NotInitialized");
        }
        if !validated {
            if mine().any(|a| a.state == State::Pending) {
                return Some(("AlreadyActive", "Pending"));
            }
            if mine().next().is_some() && !def.allow_multiple_instances && !def.retrigger {
                return plain("AlreadyActive");
            }
        }
        if !def.castable_while_dead && self.is_dead(t.who) {
            return plain("Dead");
        }
        if !def.tags.activation_required_tags.iter().all(has) {
            return plain("RequiredTags");
        }
        if def.tags.activation_blocked_tags.iter().any(has) {
            return plain("BlockedTags");
        }
        if def.tags.blocked_by_tags.iter().any(has) {
            return plain("BlockedByTags");
        }
        let blocks = |a: &Act| {
            let list = &self.abilities[&a.ability].tags.block_abilities_with_tags;
            has_any(&[&def.tags.ability_tags], list)
        };
        if others().any(blocks) {
            return plain("BlockedByAbility");
        }
        if !def.source_required_tags.iter().all(|tag| self.has_tag(t.source, tag)) {
            return plain("SourceTags");
        }
        if let Some(group) = def.activation_group.as_ref().filter(|g| g.policy != GroupPolicy::Independent) {
            let exclusive = |a: &Act| {
                let theirs = self.abilities[&a.ability].activation_group.as_ref();
                theirs.is_some_and(|o| o.name == group.name && o.policy == GroupPolicy::Exclusive)
            };
            if others().any(exclusive) {
                return plain("Group");
            }
        }
        if def.activation_query.as_ref().is_some_and(|q| !self.query_holds(t.who, q)) {
            return plain("Query");
        }
        if let Some(text) = &def.activation_condition {
            let read = |name: &str| match name {
                "level" => Some(t.level as f64),
                _ => match name.split_once('.') {
                    Some(("param", name)) => grant.params.get(name).copied(),
                    _ => self.look(name, t.who, Some(t.source), t.target),
                },
            };
            if !expr::holds(text, &read) {
                return plain("Condition");
            }
        }
        if !grant.restrictions.is_empty() || self.is_restricted(t.who, "AbilityUse", Some(def), None) {
            return plain("Restricted");
        }
        self.refusal_of_commit(t, def).map(|kind| (self.place_of(t, def), kind))
    }

    /// The checks that a commit repeats.
    pub(crate) fn refusal_of_commit(&self, t: &Try, def: &Ability) -> Option<Refused> {
        self.commit_checks(t, def).into_iter().find_map(|(_, kind)| kind)
    }

    /// Which check it was that a commit would fail.
    fn place_of(&self, t: &Try, def: &Ability) -> Refused {
        self.commit_checks(t, def).into_iter().find(|(_, kind)| kind.is_some()).expect("one fails").0
    }

    fn commit_checks(&self, t: &Try, def: &Ability) -> [(Refused, Option<Refused>); 5] {
        let play = &self.rows[&t.who].play;
        [
            ("Casting", play.cast.is_some().then_some("Casting")),
            ("GlobalCooldown", self.gcd_runs(t.who, def).then_some("GlobalCooldown")),
            ("Charges", self.lacks_charges(t.who, t.grant, def).then_some("Charges")),
            ("Cost", self.afford(t, def).err()),
            ("Cooldown", self.cooled(t, def).err()),
        ]
    }

    /// The first failed check of the target, which may be at most this far away.
    pub(crate) fn refusal_of_target(&self, t: &Try, def: &Ability, range: Option<f64>) -> Option<(Refused, Refused)> {
        let there = t.target.is_some_and(|who| self.rows.contains_key(&who));
        if let Some(target) = t.target.filter(|_| there) {
            let has = |tag: &String| self.has_tag(target, tag);
            if !def.target_required_tags.iter().all(has) || def.target_blocked_tags.iter().any(has) {
                return Some(("TargetTags", "TargetTags"));
            }
        }
        let living = def.cast.as_ref().is_some_and(|c| c.on_target_lost != OnTargetLost::Continue);
        let missing = match t.target {
            Some(who) => !there || living && self.is_dead(who),
            None => !def.target_required_tags.is_empty(),
        };
        let distance = t.target.and_then(|who| self.distance(t.who, who));
        if missing || range.is_some() && t.target.is_some() && distance.is_none() {
            return Some(("NoTarget", "NoTarget"));
        }
        match (range, distance) {
            (Some(max), Some(d)) if d > max => Some(("OutOfRange", "OutOfRange")),
            _ => None,
        }
    }

    pub(crate) fn distance(&self, a: u32, b: u32) -> Option<f64> {
        let place = |who: u32| self.rows.get(&who)?.place;
        Some((place(a)? - place(b)?).abs())
    }

    pub(crate) fn is_dead(&self, who: u32) -> bool {
        self.attributes(who).into_iter().any(|a| {
            let node = (who, a);
            self.attribute(&node).is_some_and(super::settle::means_death) && self.shown[&node].current <= 0.0
        })
    }

    /// An effect of the ability on its owner.
    fn own_spec(&self, t: &Try, effect: &str) -> Spec {
        Spec { level: t.level, ..Spec::new(effect, t.who, t.who) }
    }

    /// Ruling R-12.
    fn afford(&self, t: &Try, def: &Ability) -> Result<(), Refused> {
        let Some(cost) = &def.cost else { return Ok(()) };
        let spec = self.own_spec(t, cost);
        let effect = &self.effects[cost];
        if effect.modifiers.iter().any(|m| self.attribute(&(t.who, m.attribute.clone())).is_none()) {
            return Err("Cost");
        }
        self.fits(&spec, effect)?;
        self.filters(&spec, effect)?;
        let mut done: Vec<&String> = Vec::new();
        for m in &effect.modifiers {
            if done.contains(&&m.attribute) {
                continue;
            }
            done.push(&m.attribute);
            let node = (t.who, m.attribute.clone());
            let start = self.write_start(&node);
            let mut end = start;
            for m in effect.modifiers.iter().filter(|o| o.attribute == m.attribute) {
                if !self.filter_holds(m, t.who, t.who, None) {
                    continue;
                }
                let Some(unit) = self.asked(&m.magnitude, &spec)? else { continue };
                let unit = self.ruled_cost(t.who, def, m.operation, unit);
                match m.operation {
                    Operation::Add | Operation::AddPost => end += unit,
                    Operation::Multiply => end *= 1.0 + unit,
                    Operation::Override => end = unit,
                }
            }
            let overrides = effect.modifiers.iter().any(|o| {
                o.attribute == m.attribute
                    && o.operation == Operation::Override
                    && self.filter_holds(o, t.who, t.who, None)
            });
            if effect.combat.as_ref().is_some_and(|c| c.kind == CombatKind::Resource) {
                let mut writes = [Write { attribute: m.attribute.clone(), start, result: end, overrides }];
                self.resource_deltas(&spec, effect, &mut writes, None)?;
                end = writes[0].result;
            }
            let factor = self.factor(&node);
            let need = if factor > 0.0 { factor } else { 1.0 } * (start - end);
            let (have, lo) = (self.shown[&node].current, self.shown[&node].lo);
            if need > 0.0 && have - need < if lo.is_finite() { lo } else { 0.0 } {
                return Err("Cost");
            }
        }
        Ok(())
    }

    /// No cooldown runs, and nothing refuses the new one or the tags the ability owns.
    fn cooled(&self, t: &Try, def: &Ability) -> Result<(), Refused> {
        if self.cooldown_tags(def).iter().any(|tag| self.has_tag(t.who, tag)) {
            return Err("Cooldown");
        }
        let owned = (!def.tags.activation_owned_tags.is_empty()).then(|| super::play::owned_tags(&def.name));
        for effect in [&def.cooldown, &owned].into_iter().flatten() {
            let spec = self.own_spec(t, effect);
            self.fits(&spec, &self.effects[effect])?;
            self.filters(&spec, &self.effects[effect])?;
        }
        Ok(())
    }

    fn cooldown_tags(&self, def: &Ability) -> Vec<String> {
        let Some(cooldown) = &def.cooldown else { return Vec::new() };
        let all = &self.effects[cooldown].granted_tags;
        let marked: Vec<String> = all.iter().filter(|t| under(t, "Cooldown")).cloned().collect();
        if marked.is_empty() { all.clone() } else { marked }
    }

    /// A tag query: `&`, `|`, `!`, brackets, hierarchical names.
    pub(crate) fn query_holds(&self, who: u32, query: &str) -> bool {
        // The same grammar as that of expressions, with single signs.
        let text = query.replace('&', "&&").replace('|', "||");
        expr::holds(&text, &|tag| Some(self.has_tag(who, tag) as u32 as f64))
    }

    /// The value of a name in an expression: `Name`, `self.Name`, `source.Name`, `target.Name`, `has_tag(who, Tag)`.
    pub(crate) fn look(&self, name: &str, own: u32, source: Option<u32>, target: Option<u32>) -> Option<f64> {
        let side = |word: &str| match word {
            "self" => Some(own),
            "source" => source,
            "target" => target,
            _ => None,
        };
        if name == "distance()" {
            return self.distance(own, target?);
        }
        if let Some(rest) = name.strip_prefix("has_tag(") {
            let (whose, tag) = rest.trim_end_matches(')').split_once(',')?;
            return Some(self.has_tag(side(whose.trim())?, tag.trim()) as u32 as f64);
        }
        match name.split_once('.') {
            None => self.get(own, name),
            Some((whose, name)) => self.get(side(whose)?, name),
        }
    }
}

/// The checks in their order.
pub(crate) const ORDER: [Refused; 21] = [
    "Inactive",
    "NotInitialized",
    "AlreadyActive",
    "Dead",
    "RequiredTags",
    "BlockedTags",
    "BlockedByTags",
    "BlockedByAbility",
    "SourceTags",
    "TargetTags",
    "Group",
    "Query",
    "Condition",
    "Restricted",
    "Casting",
    "GlobalCooldown",
    "Charges",
    "Cost",
    "Cooldown",
    "NoTarget",
    "OutOfRange",
];
