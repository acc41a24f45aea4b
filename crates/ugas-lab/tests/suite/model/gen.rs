//! Random rules. One seed gives one sequence, on every machine.

use super::{abilities, calc};
use ugas_doc::{
    Ability, AbilitySet, AbilityTask, Absorb, Attribute, AttributeSet, Bound, Calculation, Capability, CapabilitySet,
    ConditionalEffects, Curve, DurationPolicy, Effect, Execution, ExecutionPolicy, GrantedAbilityEntry, ImmunityEntry,
    Interpolation, Magnitude, Modifier, OnExpire, OnOngoingFail, OnStack, Operation, Period, PeriodInhibition,
    PeriodOnStack, Resource, StackBy, Stacking, StatTable,
};

pub(crate) const TAGS: &[&str] = &[
    "State",
    "State.Debuff",
    "State.Debuff.Slow",
    "State.Debuff.Burn",
    "State.Buff",
    "State.Buff.Haste",
    "Team.Red",
    "Team.Blue",
    "Dmg.Fire",
    "Dmg.Ice",
    "Mark",
];
pub(crate) const CUES: &[&str] = &["GameplayCue.A", "GameplayCue.B"];
pub(crate) const KEYS: &[&str] = &["Key.A", "Key.B"];

/// SplitMix64.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d)
    }
    /// A separate stream, so that the numbers of this one stay the same.
    pub(crate) fn aside(&self, salt: u64) -> Rng {
        Rng::new(self.0 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
    /// Another stream that follows from this one, which stays where it is.
    pub(crate) fn fork(&self) -> Rng {
        Rng::new(self.0)
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub(crate) fn range(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }
    pub(crate) fn percent(&mut self, p: usize) -> bool {
        self.below(100) < p
    }
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
    pub(crate) fn tag(&mut self) -> String {
        (*self.pick(TAGS)).to_owned()
    }
    pub(crate) fn tags(&mut self, percent: usize, most: usize) -> Vec<String> {
        if self.percent(percent) { (0..self.range(1, most)).map(|_| self.tag()).collect() } else { Vec::new() }
    }
    /// A number people would write.
    pub(crate) fn number(&mut self, from: i64, to: i64) -> f64 {
        (from * 4 + self.below(((to - from) * 4 + 1) as usize) as i64) as f64 / 4.0
    }
}

/// Everything a sim needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents {
    pub(crate) sets: Vec<AttributeSet>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) curves: Vec<Curve>,
    pub(crate) abilities: Vec<Ability>,
    pub(crate) ability_sets: Vec<AbilitySet>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) capabilities: Vec<Capability>,
    pub(crate) capability_sets: Vec<CapabilitySet>,
    /// A stat table and a resource, in a part of the sequences.
    pub(crate) stats: Vec<StatTable>,
    pub(crate) resources: Vec<Resource>,
}

pub(crate) fn documents(rng: &mut Rng) -> Documents {
    let curves = vec![
        Curve::new("C_Line", [(1.0, 2.0), (3.0, 6.0), (10.0, 9.0)]),
        Curve { interpolation: Interpolation::Step, ..Curve::new("C_Step", [(0.0, -3.0), (2.0, 1.0), (20.0, 4.0)]) },
    ];
    let sets = sets(rng);
    let names: Vec<String> = sets.iter().flat_map(|s| s.attributes.iter().map(|a| a.name.clone())).collect();
    let count = rng.range(6, 14);
    let effect_names: Vec<String> = (0..count).map(|i| format!("GE_{i}")).collect();
    let abilities: Vec<String> = (0..rng.range(3, 6)).map(|i| format!("GA_{i}")).collect();
    let mut docs = Documents { sets, curves, ..Documents::default() };
    for i in 0..count {
        let new = effect(rng, &effect_names[i], &docs.sets, &names, &effect_names[i + 1..], &abilities);
        docs.effects.push(new);
    }
    calc::add(&mut rng.fork(), &mut docs);
    abilities::add(rng, &mut docs, &abilities);
    docs
}

/// Changes some documents so that their parts depend on each other: what one gives is what another needs, what
/// executes removes itself, bounds and what they hold are written together, a stack may have no time.
pub(crate) fn entangle(rng: &mut Rng, docs: &mut Documents) {
    let count = docs.effects.len();
    for i in 0..count.saturating_sub(1) {
        let j = rng.range(i + 1, count - 1);
        let (before, after) = docs.effects.split_at_mut(j);
        let (e, other) = (&mut before[i], &mut after[0]);
        if e.duration_policy == DurationPolicy::Instant {
            continue;
        }
        match rng.below(100) {
            // It needs what its OnApplied gives it.
            // A cooldown may not be a sequence.
            0..25 if other.duration_policy != DurationPolicy::Instant && !e.name.starts_with("GE_Cool") => {
                (e.stacking, e.execution_policy) = (None, ExecutionPolicy::RunInSequence);
                (other.stacking, other.execution_policy) = (None, ExecutionPolicy::RunInParallel);
                other.granted_tags = vec![rng.tag()];
                e.ongoing_required_tags = other.granted_tags.clone();
                e.on_ongoing_fail = OnOngoingFail::Remove;
                let then = e.effects.get_or_insert_default();
                (then.on_applied, then.on_removed, then.on_expired) = (vec![other.name.clone()], vec![], vec![]);
            }
            // Its execution applies what removes it, after it missed some.
            25..50 => {
                e.period = Some(Period { period: *rng.pick(&[0.25, 0.5]), execute_on_application: rng.percent(20) });
                (e.ongoing_blocked_tags, e.ongoing_required_tags) = (vec!["Team.Red".to_owned()], Vec::new());
                (e.on_ongoing_fail, e.period_inhibition) = (OnOngoingFail::Inhibit, PeriodInhibition::CatchUp);
                e.effect_tags.push("Mark".to_owned());
                e.effects.get_or_insert_default().on_executed = vec![other.name.clone()];
                if rng.percent(70) && other.stacking.is_none() && other.execution_policy != ExecutionPolicy::RunInMerge
                {
                    other.remove_effects_with_tags.push("Mark".to_owned());
                }
            }
            50..60 if e.stacking.is_some() && e.duration_policy == DurationPolicy::HasDuration => {
                e.duration = Some(Magnitude::set_by_caller(*rng.pick(KEYS)));
            }
            // A small stack that overflows.
            60..80 if e.execution_policy == ExecutionPolicy::RunInParallel => {
                let mut stacking = e.stacking.take().unwrap_or_default();
                (stacking.limit, stacking.overflow_effects) = (Some(rng.range(2, 3) as u32), vec![other.name.clone()]);
                e.remove_effects_with_tags.clear();
                e.stacking = Some(stacking);
                e.duration = e.duration.take().map(|_| Magnitude::value(2.5));
            }
            // What keeps others from executing, for a while.
            80..100 => {
                (e.duration_policy, e.duration) = (DurationPolicy::HasDuration, Some(Magnitude::value(1.5)));
                e.granted_tags = vec!["Team.Red".to_owned()];
            }
            _ => {}
        }
    }
    // A derived value that is not finite from the start.
    let divisors: Vec<String> = docs.sets.iter().flat_map(|s| &s.attributes).filter_map(divisor).collect();
    for a in docs.sets.iter_mut().flat_map(|s| &mut s.attributes) {
        if a.derived_from.is_none() && divisors.contains(&a.name) && rng.percent(50) {
            (a.default_base_value, a.clamping) = (Some(0.0), None);
        }
    }
    let bounded: Vec<(String, String)> = docs.sets[0]
        .attributes
        .iter_mut()
        .filter_map(|a| match a.clamping.clone().and_then(|c| c.max) {
            Some(Bound::Attribute(max)) if a.derived_from.is_none() && rng.percent(60) => {
                a.on_bound_change = ugas_doc::OnBoundChange::Proportional;
                Some((a.name.clone(), max))
            }
            _ => None,
        })
        .collect();
    let plain = |name: &str| docs.sets[0].attributes.iter().any(|a| a.name == name && a.derived_from.is_none());
    for (name, max) in bounded.into_iter().filter(|(_, max)| plain(max)) {
        let e = rng.below(count);
        let list = &mut docs.effects[e].modifiers;
        list.push(Modifier::new(&max, Operation::Add, Magnitude::value(rng.number(-10, 20))));
        list.push(Modifier::new(&name, Operation::Add, Magnitude::value(rng.number(-10, 10))));
    }
}

/// Changes some effects so that they grant an ability that applies them again when it is cancelled, and others so that
/// they remove those, some of which can be refused after that.
pub(crate) fn reapply(rng: &mut Rng, docs: &mut Documents) {
    let count = docs.effects.len();
    for i in 0..count {
        let e = &mut docs.effects[i];
        if e.duration_policy == DurationPolicy::Instant || e.name.starts_with("GE_Cool") || !rng.percent(50) {
            continue;
        }
        let at = rng.below(docs.abilities.len());
        let a = &mut docs.abilities[at];
        e.granted_abilities = vec![GrantedAbilityEntry::new(&a.name)];
        e.granted_abilities[0].remove_on_effect_removal = true;
        e.gameplay_cues = vec![(*rng.pick(CUES)).to_owned()];
        e.effect_tags.push("Mark".to_owned());
        let kind = if rng.percent(70) { "ApplyEffectToOwner" } else { "ApplyEffectToTarget" };
        a.on_cancel = vec![AbilityTask::new(kind).param("EffectClass", e.name.as_str())];
        a.tasks = vec![AbilityTask::new("WaitDelay").param("Duration", 5.0)];
        (a.cast, a.passive) = (None, rng.percent(40));
        let j = rng.below(count);
        let other = &mut docs.effects[j];
        if !other.name.starts_with("GE_Cool") {
            other.remove_effects_with_tags = vec!["Mark".to_owned()];
            let calculation = &rng.pick(&docs.calculations[..3]).name;
            if rng.percent(40) && other.period.is_none() && !other.name.starts_with("GE_Co") {
                other.executions = vec![Execution::new(calculation.clone())];
            }
        }
    }
}

/// Changes some effects so that they grant a passive ability, and others so that they remove those. The cancelled ability
/// applies the effect that removed it, which is then queued, merged, stacked or refused.
pub(crate) fn rejoin(rng: &mut Rng, docs: &mut Documents) {
    let usable = |e: &Effect| e.duration_policy != DurationPolicy::Instant && !e.name.starts_with("GE_Co");
    let lasting: Vec<usize> = (0..docs.effects.len()).filter(|&i| usable(&docs.effects[i])).collect();
    for pair in lasting.chunks_exact(2).take(docs.abilities.len()) {
        let at = rng.below(docs.abilities.len());
        let name = docs.abilities[at].name.clone();
        let other = &mut docs.effects[pair[1]];
        always(other);
        other.remove_effects_with_tags = vec!["Mark".to_owned()];
        other.execution_policy = *rng.pick(&[ExecutionPolicy::RunInSequence, ExecutionPolicy::RunInMerge]);
        if rng.percent(50) {
            let (limit, deny_overflow) = (Some(rng.range(1, 3) as u32), rng.percent(40));
            other.execution_policy = ExecutionPolicy::RunInParallel;
            other.stacking = Some(Stacking { limit, deny_overflow, ..Stacking::default() });
            other.duration = other.duration.take().map(|_| Magnitude::value(2.5));
        }
        let apply = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", other.name.as_str());
        let waits = AbilityTask::new("WaitDelay").param("Duration", 5.0);
        docs.abilities[at] = Ability { passive: true, on_cancel: vec![apply], ..Ability::new(&name).task(waits) };
        let e = &mut docs.effects[pair[0]];
        always(e);
        (e.effect_tags, e.granted_abilities) = (vec!["Mark".to_owned()], vec![GrantedAbilityEntry::new(&name)]);
        e.granted_abilities[0].remove_on_effect_removal = true;
    }
}

/// Removes everything that can refuse or queue an application.
fn always(e: &mut Effect) {
    (e.application_required_tags, e.application_blocked_tags) = (Vec::new(), Vec::new());
    (e.source_required_tags, e.source_blocked_tags) = (Vec::new(), Vec::new());
    (e.application_condition, e.application_chance, e.stacking) = (None, None, None);
    e.execution_policy = ExecutionPolicy::RunInParallel;
}

/// The divisor of a derived attribute.
fn divisor(a: &Attribute) -> Option<String> {
    let (_, divisor) = a.derived_from.as_ref()?.expression.rsplit_once(" / ")?;
    Some(divisor.to_owned())
}

fn sets(rng: &mut Rng) -> Vec<AttributeSet> {
    let mut sets: Vec<AttributeSet> = (0..rng.range(1, 2)).map(|i| AttributeSet::new(format!("S{i}"))).collect();
    let total: usize = sets.iter().map(|_| rng.range(3, 8)).sum();
    let mut made: Vec<(usize, Attribute)> = Vec::new();
    for i in 0..total {
        let set = if i < 3 { 0 } else { rng.below(sets.len()) };
        // It may refer to earlier attributes, seldom to those of another set.
        let across = rng.percent(20);
        let refs: Vec<String> = made.iter().filter(|(s, _)| *s == set || across).map(|(_, a)| a.name.clone()).collect();
        let name = if i == 1 { "Health".into() } else { format!("A{i}") };
        made.push((set, attribute(rng, name, &refs)));
    }
    for (set, attribute) in made {
        let list = &mut sets[set].attributes;
        let at = rng.below(list.len() + 1);
        list.insert(at, attribute);
    }
    sets.retain(|s| !s.attributes.is_empty());
    if sets.len() > 1 && rng.percent(30) {
        sets[1].dependencies.push("S0".into());
    }
    sets
}

fn attribute(rng: &mut Rng, name: String, refs: &[String]) -> Attribute {
    let value = if name == "Health" { rng.number(20, 100) } else { rng.number(-5, 60) };
    if refs.len() > 1 && rng.percent(12) {
        let (a, b) = (rng.pick(refs).clone(), rng.pick(refs).clone());
        let text = match rng.below(4) {
            0 => format!("{a} + {b} * 0.5"),
            1 => format!("{a} * (1 + {b} / 100)"),
            2 => format!("{a} - 3 - {b}"),
            _ => format!("({a} > {b}) * 10 + {a} / {b}"),
        };
        return Attribute::derived(name, text);
    }
    let mut a = Attribute::new(name, value);
    let reference = |rng: &mut Rng, low: f64| -> Bound {
        if !refs.is_empty() && rng.percent(40) { Bound::Attribute(rng.pick(refs).clone()) } else { Bound::Value(low) }
    };
    if rng.percent(60) {
        let low = if rng.percent(70) { 0.0 } else { rng.number(-20, 5) };
        let bound = if rng.percent(20) { reference(rng, low) } else { Bound::Value(low) };
        a = a.min_bound(bound);
    }
    if rng.percent(60) {
        let high = rng.number(20, 100);
        let bound = reference(rng, high);
        if matches!(bound, Bound::Attribute(_)) && rng.percent(25) {
            a = a.proportional().min(rng.number(-10, 0));
        }
        a = a.max_bound(bound);
    }
    if rng.percent(15) {
        a = a.strongest_wins();
    } else if rng.aside(7).percent(15) {
        a = a.non_negative();
    }
    if a.name != "Health" && rng.percent(12) {
        a.absorb = Some(Absorb { before: "Health".into(), order: rng.below(3) as i32 });
    }
    if rng.percent(5) {
        a.on_depleted = Some(ugas_doc::OnDepleted::Death);
    }
    a
}

trait Bounds {
    fn min_bound(self, b: Bound) -> Self;
    fn max_bound(self, b: Bound) -> Self;
}
impl Bounds for Attribute {
    fn min_bound(mut self, b: Bound) -> Attribute {
        self.clamping.get_or_insert_default().min = Some(b);
        self
    }
    fn max_bound(mut self, b: Bound) -> Attribute {
        self.clamping.get_or_insert_default().max = Some(b);
        self
    }
}

/// An effect that may cause only `later` ones, so that no chain of causes is endless.
pub(crate) fn effect(
    rng: &mut Rng,
    name: &str,
    sets: &[AttributeSet],
    attributes: &[String],
    later: &[String],
    abilities: &[String],
) -> Effect {
    let mut e = match rng.below(100) {
        0..35 => Effect::instant(name),
        35..78 => Effect::lasting(name, duration(rng, attributes)),
        _ => Effect::infinite(name),
    };
    let instant = e.duration_policy == DurationPolicy::Instant;
    if !instant && rng.percent(40) {
        let period = *rng.pick(&[0.25, 0.3, 0.5, 1.0, 1.5]);
        e.period = Some(Period { period, execute_on_application: rng.percent(40) });
    }
    // Mostly of the first set, which every controller has.
    let near: Vec<String> = sets[0].attributes.iter().map(|a| a.name.clone()).collect();
    for _ in 0..rng.below(4) {
        let list = if rng.percent(80) { &near } else { attributes };
        e.modifiers.push(modifier(rng, list, attributes));
    }
    e.priority = rng.below(3) as i32 - 1;
    e.granted_tags = rng.tags(45, 3);
    e.effect_tags = rng.tags(30, 2);
    e.application_required_tags = rng.tags(7, 1);
    e.application_blocked_tags = rng.tags(6, 2);
    e.source_required_tags = rng.tags(5, 1);
    e.source_blocked_tags = rng.tags(5, 1);
    e.remove_effects_with_tags = rng.tags(10, 2);
    if rng.percent(5) {
        e.application_chance = Some(Magnitude::value(if rng.percent(50) { 1.0 } else { 0.0 }));
    }
    if rng.percent(8) {
        let a = rng.pick(attributes).clone();
        e.application_condition = Some(match rng.below(3) {
            0 => format!("{a} > 5"),
            1 => format!("target.{a} >= source.{a} || self.{a} < 3"),
            _ => format!("!(source.{a} / 2 > target.{a}) && {a} < 1000"),
        });
    }
    if rng.percent(30) {
        e.gameplay_cues = (0..rng.range(1, 2)).map(|_| (*rng.pick(CUES)).to_owned()).collect();
        e.gameplay_cues.dedup();
    }
    if !later.is_empty() && rng.percent(30) {
        let mut list =
            |p: usize| -> Vec<String> { if rng.percent(p) { vec![rng.pick(later).clone()] } else { Vec::new() } };
        e.effects = Some(ConditionalEffects {
            on_applied: list(35),
            on_executed: list(35),
            on_expired: list(45),
            on_removed: list(45),
        });
    }
    if !instant {
        lasting_parts(rng, &mut e, later, abilities);
    }
    abilities::combat(rng, &mut e, attributes, abilities);
    e
}

fn lasting_parts(rng: &mut Rng, e: &mut Effect, later: &[String], abilities: &[String]) {
    match rng.below(100) {
        0..12 => e.execution_policy = ExecutionPolicy::RunInSequence,
        12..24 => e.execution_policy = ExecutionPolicy::RunInMerge,
        24..42 => {
            let overflow = if !later.is_empty() && rng.percent(40) { vec![rng.pick(later).clone()] } else { vec![] };
            e.stacking = Some(Stacking {
                by: *rng.pick(&[StackBy::Source, StackBy::Target]),
                limit: rng.percent(70).then(|| rng.range(1, 5) as u32),
                on_stack: *rng.pick(&[OnStack::RefreshDuration, OnStack::KeepDuration]),
                period_on_stack: *rng.pick(&[PeriodOnStack::Keep, PeriodOnStack::Reset]),
                on_expire: *rng.pick(&[OnExpire::ClearAll, OnExpire::RemoveOne, OnExpire::Refresh]),
                overflow_effects: overflow,
                deny_overflow: rng.percent(25),
            });
            // A stack whose time is nothing would start anew for ever.
            if e.duration_policy == DurationPolicy::HasDuration {
                e.duration = Some(Magnitude::value(*rng.pick(&[0.5, 1.0, 2.5, 4.0])));
            }
        }
        _ => {}
    }
    if e.stacking.is_some() || e.execution_policy == ExecutionPolicy::RunInMerge {
        // An application that would remove the very instance it joins.
        e.remove_effects_with_tags.clear();
    }
    if rng.percent(15) {
        e.ongoing_required_tags = rng.tags(50, 1);
        e.ongoing_blocked_tags = rng.tags(60, 1);
        e.on_ongoing_fail = *rng.pick(&[OnOngoingFail::Inhibit, OnOngoingFail::Inhibit, OnOngoingFail::Remove]);
        e.period_inhibition = *rng.pick(&[PeriodInhibition::Skip, PeriodInhibition::Reset, PeriodInhibition::CatchUp]);
    }
    if rng.percent(7) {
        e.immunity = vec![ImmunityEntry {
            effect_tags: rng.tags(60, 2),
            effects: if rng.percent(30) && !later.is_empty() { vec![rng.pick(later).clone()] } else { vec![] },
            source_tags: rng.tags(15, 1),
        }];
        let i = &e.immunity[0];
        if i.effect_tags.is_empty() && i.effects.is_empty() && i.source_tags.is_empty() {
            e.immunity.clear();
        }
    }
    if rng.percent(12) {
        let mut grant = GrantedAbilityEntry::new(rng.pick(abilities));
        grant.input_id = rng.percent(50).then(|| abilities::INPUTS[0].to_owned());
        grant.level = rng.range(1, 3) as u32;
        grant.remove_on_effect_removal = rng.percent(80);
        e.granted_abilities.push(grant);
    }
}

fn duration(rng: &mut Rng, attributes: &[String]) -> Magnitude {
    match rng.below(100) {
        0..80 => Magnitude::value(*rng.pick(&[0.4, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0])),
        80..86 => Magnitude::set_by_caller(*rng.pick(KEYS)),
        86..92 => Magnitude::curve("C_Line"),
        92..96 => Magnitude::attribute(rng.pick(attributes)).of_target().times(0.05),
        _ => Magnitude::value(0.0),
    }
}

fn modifier(rng: &mut Rng, targets: &[String], attributes: &[String]) -> Modifier {
    let operation = match rng.below(100) {
        0..45 => Operation::Add,
        45..75 => Operation::Multiply,
        75..88 => Operation::AddPost,
        _ => Operation::Override,
    };
    let scale = if operation == Operation::Multiply { 0.01 } else { 0.25 };
    let magnitude = match rng.below(100) {
        0..62 if operation == Operation::Multiply => {
            Magnitude::value(*rng.pick(&[-1.5, -0.5, -0.25, 0.1, 0.25, 0.5, 1.0]))
        }
        0..62 => Magnitude::value(rng.number(-15, 15)),
        62..78 => {
            let m = Magnitude::attribute(rng.pick(attributes)).times(scale);
            let m = if rng.percent(40) { m.pre(rng.number(-2, 2)) } else { m };
            let m = if rng.percent(40) { m.post(scale * rng.number(-8, 8)) } else { m };
            if rng.percent(50) { m.of_target() } else { m }
        }
        78..85 => Magnitude { value: Some(scale), ..Magnitude::curve(*rng.pick(&["C_Line", "C_Step"])) },
        85..88 => Magnitude { value: Some(scale), ..Magnitude::curve_over("C_Line", rng.pick(attributes)) },
        88..91 => Magnitude { value: Some(scale), ..Magnitude::curve_over("C_Step", *rng.pick(KEYS)) },
        _ => Magnitude::set_by_caller(*rng.pick(KEYS)),
    };
    let mut m = Modifier::new(rng.pick(targets), operation, magnitude);
    if operation == Operation::Multiply && rng.percent(50) {
        m = m.channel(*rng.pick(&["Gear", "Skill", "Aura"]));
    }
    m.source_tags = rng.tags(6, 1);
    m.target_tags = rng.tags(8, 1);
    m
}
