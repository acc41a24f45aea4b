//! Stats and resources: a stat table and a resource for a part of the sequences, what belongs to a resource, and
//! `ModifyResource`.

use super::calc::Frozen;
use super::effects::has_any;
use super::eval::Node;
use super::generate::{Documents, Rng};
use super::settle::Write;
use super::world::{Reaction, Refused, Spec, World};
use ugas_doc::{
    Ability, Combat, CombatKind, CombatRule, DurationPolicy, Effect, Modify, ModifyOperation, OnBoundChange, Resource,
    STAT_PREFIX, ScaledValue, Scales, Stat, StatTable,
};

/// A tag of changes of a resource that nothing else has.
pub(crate) const POTION: &str = "Item.Potion";
/// The built-in effect of a change.
pub(crate) const MODIFY: &str = "GE_ModifyResource";
/// The resource.
pub(crate) const RESOURCE: &str = "R0";
/// The stat table, and one with a part of its stats, in which `Size` is fixed.
pub(crate) const STATS: &str = "T_Stats";
pub(crate) const FIXED: &str = "T_Fixed";
/// The stats that the bounds may follow.
const SIZE: &str = "Size";
const FLOOR: &str = "Floor";
/// The stats that multiply combat values, the second for some abilities.
const THRIFT: &str = "Thrift";
const GUARD: &str = "Guard";
/// A gain of the resource for capabilities.
pub(crate) const FILL: &str = "GE_CapMana";

/// A gain or loss of the resource.
#[derive(Clone, Debug)]
pub(crate) struct Gain {
    pub(crate) who: u32,
    pub(crate) by: f64,
    pub(crate) source: u32,
    pub(crate) potion: bool,
    pub(crate) plain: bool,
}

/// Adds a stat table and a resource, and effects that change them.
pub(crate) fn add(rng: &mut Rng, docs: &mut Documents) {
    add_tables(rng, docs);
    let mut resource = Resource::new(RESOURCE, rng.number(-5, 60));
    let follows = rng.percent(60);
    if follows || rng.percent(60) {
        resource = resource.max(rng.number(30, 80));
    }
    if follows {
        resource = resource.max_stat(format!("{STAT_PREFIX}{SIZE}"));
    }
    if rng.percent(30) {
        resource = resource.min(rng.number(-10, 10));
    }
    if rng.percent(30) {
        resource = resource.min_stat(format!("{STAT_PREFIX}{FLOOR}"));
    }
    if rng.percent(30) {
        resource.on_bound_change = OnBoundChange::Clamp;
    }
    let lasting = docs.effects.iter().filter(|e| e.duration_policy != DurationPolicy::Instant);
    let lasting: Vec<String> = lasting.map(|e| e.name.clone()).collect();
    if !lasting.is_empty() && rng.percent(60) {
        resource = resource.effect(rng.pick(&lasting).clone());
    }
    if rng.percent(60) {
        resource = resource.on_changed(rng.pick(&docs.effects).name.clone());
    }
    let has_plain_maximum = resource.max.is_some() && !follows;
    docs.resources.push(resource);
    for e in &mut docs.effects {
        if rng.percent(40) {
            let maximum = if has_plain_maximum { "MaxR0" } else { SIZE };
            let targets = [RESOURCE, RESOURCE, SIZE, maximum, FLOOR, THRIFT, GUARD];
            let target = *rng.pick(&targets);
            *e = match rng.percent(70) {
                true if matches!(target, THRIFT | GUARD) => e.clone().add(target, *rng.pick(&[-0.5, 0.5, 1.0])),
                true => e.clone().add(target, rng.number(-12, 12)),
                false => e.clone().multiply(target, rng.number(-1, 1)),
            };
        }
        if e.duration_policy != DurationPolicy::Instant && rng.percent(35) {
            e.rules.push(rule(rng));
        }
        if e.combat.is_none() && rng.percent(25) {
            e.combat = Some(Combat { kind: CombatKind::Resource, ..Combat::default() });
        }
    }
    let combat = rng.percent(50).then(|| Combat { kind: CombatKind::Resource, ..Combat::default() });
    docs.effects.push(Effect { combat, ..Effect::instant(FILL).add(RESOURCE, rng.number(-6, 6)) });
}

fn add_tables(rng: &mut Rng, docs: &mut Documents) {
    let stat = |name: &str, value: f64| Stat::new(format!("{STAT_PREFIX}{name}"), value);
    let scaled = *rng.pick(&["DamageTaken", "DamageDone", "ResourceCost", "ResourceDelta"]);
    let thrift = |rng: &mut Rng| stat(THRIFT, *rng.pick(&[0.5, 1.5, 2.0])).scales(scaled);
    let selected = ["CastLength", "GlobalCooldown", "CooldownLength", "ResourceCost", "ChargeCost", "DamageDone"];
    let mut value = ScaledValue { on: (*rng.pick(&selected)).to_owned(), ..ScaledValue::default() };
    if rng.percent(70) {
        value.abilities = docs.abilities.iter().filter(|_| rng.percent(50)).map(|a| a.name.clone()).collect();
    } else {
        value.ability_tags = docs.abilities.iter().flat_map(|a| a.tags.ability_tags.first().cloned()).take(1).collect();
    }
    let guard = Stat { scales: Some(Scales::Selected(value)), ..stat(GUARD, *rng.pick(&[0.5, 1.0, 2.0])) };
    let size = stat(SIZE, rng.number(20, 90));
    let floor = stat(FLOOR, rng.number(0, 15));
    let fixed = Stat { modifiable: false, ..stat(SIZE, rng.number(20, 90)) };
    let other = if rng.percent(70) { thrift(rng) } else { stat(THRIFT, 2.0) };
    docs.stats.push(StatTable::new(STATS).with(size).with(thrift(rng)).with(guard).with(floor));
    docs.stats.push(StatTable::new(FIXED).with(fixed).with(other));
}

fn rule(rng: &mut Rng) -> CombatRule {
    let conditions = ["event.Amount > 0", "event.Amount < -4", "has_tag(event, Item.Potion)", "source.R0 > 10"];
    let when = rng.percent(60).then(|| (*rng.pick(&conditions)).to_owned());
    let restrict = rng.percent(15);
    let modify = match rng.percent(50) {
        true => Modify { operation: ModifyOperation::Add, value: Some(rng.number(-4, 4)), factor: None },
        false => Modify { operation: ModifyOperation::Multiply, value: None, factor: Some(rng.number(0, 3)) },
    };
    let attribute = (!restrict && rng.percent(30)).then(|| RESOURCE.to_owned());
    let modify = (!restrict).then_some(modify);
    CombatRule { on: "ResourceDelta".into(), when, attribute, modify, restrict, ..CombatRule::default() }
}

/// A gain or loss, mostly a sensible one.
pub(crate) fn gain(rng: &mut Rng, who: u32, source: u32) -> Gain {
    let by = if rng.percent(2) { f64::NAN } else { rng.number(-30, 30) };
    Gain { who, by, source, potion: rng.percent(40), plain: rng.percent(25) }
}

impl World {
    /// The same with stats and resources.
    pub(crate) fn with_resources(mut self, docs: &Documents) -> World {
        for table in &docs.stats {
            self.sets.insert(table.name.clone(), table.attribute_set());
            for stat in &table.stats {
                self.stats.insert((table.name.clone(), stat.attribute_name().to_owned()), stat.clone());
            }
        }
        for resource in &docs.resources {
            let mut set = resource.attribute_set();
            for derived in set.attributes.iter_mut().filter_map(|a| a.derived_from.as_mut()) {
                derived.expression = derived.expression.replace(STAT_PREFIX, "");
            }
            self.sets.insert(resource.name.clone(), set);
            self.resources.insert(resource.name.clone(), resource.clone());
            self.effects.insert(MODIFY.into(), Effect::instant(MODIFY));
        }
        self
    }

    /// The factors of a controller's stats for a combat value.
    pub(crate) fn scale(&self, who: u32, on: &str, ability: Option<&Ability>, frozen: Option<&Frozen>) -> f64 {
        let (sets, frozen) = match (self.rows.get(&who), frozen) {
            (Some(row), _) => (&row.sets, None),
            // Only a source can be gone.
            (None, Some(frozen)) => (&frozen.sets, Some(frozen)),
            (None, None) => return 1.0,
        };
        let mut product = 1.0;
        for ((_, name), stat) in self.stats.iter().filter(|((table, _), _)| sets.contains(table)) {
            let Some(value) = stat.scales.as_ref().map(Scales::value).filter(|value| value.on == on) else { continue };
            let named = value.abilities.is_empty() || ability.is_some_and(|a| value.abilities.contains(&a.name));
            let tagged = value.ability_tags.is_empty()
                || ability.is_some_and(|a| has_any(&[&a.tags.ability_tags], &value.ability_tags));
            if named && tagged {
                let now = frozen.map_or_else(|| self.get(who, name), |f| f.values.get(name).copied());
                product *= now.expect("it is registered");
            }
        }
        product
    }

    /// Whether an attribute is a bound of a resource.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.resources.values().any(|r| [r.bound_name("Min"), r.bound_name("Max")].iter().any(|bound| bound == name))
    }

    /// Whether effects may not modify an attribute of a controller.
    pub(crate) fn is_fixed(&self, (who, name): &Node) -> bool {
        let stat = |set: &String| self.stats.get(&(set.clone(), name.clone()));
        self.rows[who].sets.iter().filter_map(stat).any(|stat| !stat.modifiable)
    }

    /// The fact that a controller got a resource.
    pub(crate) fn report_resource(&mut self, who: u32, set: &str) {
        if self.resources.contains_key(set) {
            let value = self.get(who, set).expect("it was registered");
            self.emit_with(who, format!("Resource {set} Added"), vec![0.0, value]);
        }
    }

    /// Applies what belongs to a resource.
    pub(crate) fn apply_belonging(&mut self, who: u32, set: &str) {
        let Some(resource) = self.resources.get(set).cloned() else { return };
        for effect in &resource.effects {
            let key = self.key();
            match self.apply_now(&Spec::new(effect, who, who), key) {
                Ok(()) => self.row(who).belonging.push((set.to_owned(), key)),
                Err(kind) => self.refused_reactions.push(kind),
            }
        }
    }

    /// The active and queued effects that belong to a resource.
    pub(crate) fn belonging(&self, who: u32, set: &str) -> Vec<u64> {
        let row = &self.rows[&who];
        let is_there = |key: &u64| row.effects.iter().any(|e| e.key == *key) || row.queue.iter().any(|q| q.0 == *key);
        let own = row.belonging.iter().filter(|(of, _)| of == set).map(|(_, key)| *key);
        let mut keys: Vec<u64> = own.filter(is_there).collect();
        // Active ones in order of application, then queued ones.
        keys.sort_by_key(|key| row.effects.iter().position(|e| e.key == *key).unwrap_or(usize::MAX));
        keys
    }

    /// What follows from a changed resource: its fact, then the effects of `OnChanged`.
    pub(crate) fn resource_changed(&mut self, who: u32, name: &str, old: f64, new: f64) {
        let Some(resource) = self.resources.get(name).filter(|_| old != new) else { return };
        let effects = resource.on_changed.clone();
        self.emit_with(who, format!("Resource {name} Changed"), vec![old, new]);
        self.reactions.extend(effects.iter().map(|effect| Reaction::Apply(Spec::new(effect, who, who))));
    }

    pub(crate) fn modify_resource(&mut self, gain: &Gain) -> Result<(), Refused> {
        let result = self.modify_now(gain);
        self.react();
        result
    }

    fn modify_now(&mut self, gain: &Gain) -> Result<(), Refused> {
        self.exists(gain.who)?;
        if self.attribute(&(gain.who, RESOURCE.to_owned())).is_none() {
            return Err("UnknownAttribute");
        }
        if !gain.by.is_finite() {
            return Err("NonFinite");
        }
        let combat = Combat { kind: CombatKind::Resource, ..Combat::default() };
        let mut def = Effect::instant(MODIFY).add(RESOURCE, gain.by);
        def.combat = (!gain.plain).then_some(combat);
        def.effect_tags.extend(gain.potion.then(|| POTION.to_owned()));
        self.effects.insert(MODIFY.into(), def);
        let key = self.key();
        self.apply_now(&Spec::new(MODIFY, gain.who, gain.source), key)
    }

    /// Changes planned gains and losses as the rules of the target say.
    pub(crate) fn resource_deltas(
        &self,
        spec: &Spec,
        def: &Effect,
        writes: &mut [Write],
        frozen: Option<&Frozen>,
    ) -> Result<(), Refused> {
        let ability = spec.ability.as_ref().map(|a| &self.abilities[a]);
        for w in writes.iter_mut().filter(|w| !w.overrides && w.result != w.start) {
            let delta = w.result - w.start;
            let event = self.combat_event(spec, def, Some(w.attribute.clone()), delta, frozen);
            if self.is_restricted(spec.target, "ResourceDelta", ability, Some(&event)) {
                return Err("Restricted");
            }
            let amount = self.ruled(spec.target, "ResourceDelta", delta.abs(), ability, Some(&event));
            w.result = w.start + amount.copysign(delta);
        }
        Ok(())
    }
}
