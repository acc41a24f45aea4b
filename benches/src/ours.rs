//! The runtime as a measured implementation, used as a host uses it: specs and buffers are reused, and facts are taken
//! into a buffer that keeps its memory.

use crate::plan::{self, ABILITIES_EACH, Ask, DAMAGE, FRAME, Life, Operation, TagTree};
use crate::runner::Runner;
use crate::subject::{Answer, Subject};
use std::fmt::Write;
use std::sync::{Arc, OnceLock};
use ugas_core::{
    AbilityId, AttributeId, ControllerId, EffectId, EffectKey, Facts, Refusal, Rules, Sim, SimConfig, SimTime,
    SpawnSpec, Spec, TagId, Target, TemplateId,
};
use ugas_doc::{Ability, Attribute, AttributeSet, Controller, Effect, Modifier, TagRegistry};

/// The source of all effects.
const SOURCE: ControllerId = ControllerId(0);
const SECONDS: f64 = plan::SECOND as f64;

/// Returns the runtime's measurements.
pub(crate) fn runner() -> Runner {
    Runner::of::<Ours>()
}

/// The compiled plan with the ids of its definitions.
struct Compiled {
    rules: Arc<Rules>,
    plain: TemplateId,
    full: TemplateId,
    attributes: Vec<AttributeId>,
    effects: Vec<EffectId>,
    tags: Vec<TagId>,
    /// For each tag the effect that grants it.
    granting: Vec<EffectId>,
    abilities: Vec<AbilityId>,
}

fn attribute_name(index: usize) -> String {
    format!("Attribute{index}")
}

fn effect_name(index: usize) -> String {
    format!("GE_Plan{index}")
}

fn granting_name(tag: u16) -> String {
    format!("GE_Grant{tag}")
}

fn ability_name(index: usize) -> String {
    format!("GA_Plan{index}")
}

/// Returns the path from the root.
fn tag_name(tree: &TagTree, tag: u16) -> String {
    let mut steps: Vec<String> = tree.lineage(tag).map(|tag| format!("T{tag}")).collect();
    steps.reverse();
    steps.join(".")
}

/// Returns the rules of the plan. All worlds share them, so they are compiled once and are not part of a measurement.
fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(compile)
}

fn compile() -> Compiled {
    let tree = TagTree::new();
    let all_tags = || 0..tree.end.len() as u16;
    let base = plan::template();
    let attribute = |index: usize| {
        let attribute = Attribute::new(attribute_name(index), base[index]);
        match plan::CAPS.iter().find(|(capped, _)| *capped == index) {
            Some(&(_, cap)) => attribute.min(0.0).max(attribute_name(cap).as_str()),
            None => attribute,
        }
    };
    let set = (0..base.len()).map(attribute).fold(AttributeSet::new("Plan"), AttributeSet::with);
    let immune = tag_name(&tree, plan::IMMUNE);
    let unless_immune = |mut effect: Effect| {
        effect.application_blocked_tags = vec![immune.clone()];
        effect
    };
    let planned = plan::effects();
    let effect = |(index, one): (usize, &plan::EffectPlan)| {
        let name = effect_name(index);
        let empty = match one.life {
            Life::Instant => Effect::instant(name),
            Life::Timed { duration } => Effect::lasting(name, duration as f64 / SECONDS),
            Life::Periodic { duration, period } => {
                Effect::lasting(name, duration as f64 / SECONDS).every(period as f64 / SECONDS)
            }
            Life::Infinite { grants } => Effect::infinite(name).grants(tag_name(&tree, grants)),
            Life::Cooldown { duration, grants } => {
                let cooldown = Effect::lasting(name, duration as f64 / SECONDS).grants(tag_name(&tree, grants));
                return unless_immune(cooldown).into();
            }
        };
        let attribute = attribute_name(one.attribute);
        let modifier = match one.operation {
            Operation::Add => Modifier::new(attribute, ugas_doc::Operation::Add, one.magnitude),
            Operation::Multiply => Modifier::new(attribute, ugas_doc::Operation::Multiply, one.magnitude)
                .channel(format!("Channel{}", one.channel)),
        };
        unless_immune(empty.modify(modifier)).into()
    };
    let granting = |tag| unless_immune(Effect::infinite(granting_name(tag)).grants(tag_name(&tree, tag))).into();
    let ability = |index| {
        let ability = Ability::new(ability_name(index)).cost(effect_name(plan::COST));
        ability.cooldown(effect_name(plan::COOLDOWN)).blocked(tag_name(&tree, plan::STUNNED)).into()
    };
    let full = (0..ABILITIES_EACH).map(ability_name);
    let rules = Rules::builder()
        .add(TagRegistry::new(all_tags().map(|tag| tag_name(&tree, tag))))
        .add(set)
        .add_all(planned.iter().enumerate().map(effect))
        .add_all(all_tags().map(granting))
        .add_all((0..ABILITIES_EACH).map(ability))
        .add(Controller::new("Plain").set("Plan"))
        .add(full.fold(Controller::new("Full").set("Plan"), Controller::ability))
        .build()
        .unwrap_or_else(|error| panic!("the plan does not compile: {error}"));
    let known = "the rules know what was added to them";
    Compiled {
        plain: rules.template("Plain").expect(known),
        full: rules.template("Full").expect(known),
        attributes: (0..base.len()).map(|index| rules.attribute(&attribute_name(index)).expect(known)).collect(),
        effects: (0..planned.len()).map(|index| rules.effect(&effect_name(index)).expect(known)).collect(),
        tags: all_tags().map(|tag| rules.tag(&tag_name(&tree, tag)).expect(known)).collect(),
        granting: all_tags().map(|tag| rules.effect(&granting_name(tag)).expect(known)).collect(),
        abilities: (0..ABILITIES_EACH).map(|index| rules.ability(&ability_name(index)).expect(known)).collect(),
        rules,
    }
}

/// A sim with the buffers that its host reuses.
struct Ours {
    sim: Sim,
    plan: &'static Compiled,
    facts: Facts,
    /// A reusable spec with its own duration, because the duration is boxed.
    lasting: Spec,
    specs: Vec<Spec>,
    results: Vec<Result<EffectKey, Refusal>>,
    targets: Vec<ControllerId>,
    due: u64,
}

/// Panics if an operation is refused, because a refused operation would invalidate the measurement.
#[inline]
fn accepted<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|refusal| panic!("refused: {refusal}"))
}

#[inline]
fn spec(effect: EffectId, who: u32) -> Spec {
    Spec::new(effect, ControllerId(who)).from(SOURCE)
}

impl Subject for Ours {
    type Key = EffectKey;
    type Tag = TagId;
    const NAME: &'static str = "ugas";

    fn new(_room: usize) -> Ours {
        let plan = compiled();
        Ours {
            sim: Sim::new(plan.rules.clone(), SimConfig::default()),
            plan,
            facts: Facts::default(),
            lasting: spec(plan.effects[0], 0).lasting(SimTime::ZERO),
            specs: Vec::new(),
            results: Vec::new(),
            targets: Vec::new(),
            due: 0,
        }
    }

    fn spawn_many(&mut self, count: usize) {
        accepted(self.sim.spawn_many(self.plan.plain, count as u32));
    }

    fn spawn_one(&mut self) {
        accepted(self.sim.spawn(SpawnSpec::template(self.plan.plain)));
    }

    fn spawn_full(&mut self, tags: &[u16]) {
        let plan = self.plan;
        let mut spec = SpawnSpec::template(plan.full);
        spec.tags = tags.iter().map(|&tag| plan.tags[usize::from(tag)]).collect();
        accepted(self.sim.spawn(spec));
    }

    #[inline]
    fn apply(&mut self, who: u32, effect: u16) -> EffectKey {
        accepted(self.sim.apply(&spec(self.plan.effects[usize::from(effect)], who)))
    }

    #[inline]
    fn apply_for(&mut self, who: u32, effect: u16, duration: i64) -> EffectKey {
        self.lasting.effect = self.plan.effects[usize::from(effect)];
        self.lasting.target = ControllerId(who);
        self.lasting.extra().duration = Some(SimTime(duration));
        accepted(self.sim.apply(&self.lasting))
    }

    #[inline]
    fn apply_all(&mut self, who: u32, effects: &[u16], keys: &mut Vec<EffectKey>) {
        let plan = self.plan;
        self.specs.clear();
        self.specs.extend(effects.iter().map(|&effect| spec(plan.effects[usize::from(effect)], who)));
        self.sim.apply_all(&self.specs, &mut self.results);
        keys.extend(self.results.iter().map(|&result| accepted(result)));
    }

    #[inline]
    fn remove(&mut self, key: EffectKey) {
        accepted(self.sim.remove(key));
    }

    #[inline]
    fn hit(&mut self, who: u32) {
        accepted(self.sim.apply(&spec(self.plan.effects[DAMAGE], who)));
    }

    #[inline]
    fn hit_many(&mut self, targets: &[u32]) {
        self.targets.clear();
        self.targets.extend(targets.iter().map(|&who| ControllerId(who)));
        let damage = spec(self.plan.effects[DAMAGE], 0);
        self.sim.apply_to_many(&damage, &self.targets, &mut self.results);
    }

    #[inline]
    fn activate(&mut self, who: u32, ability: usize) -> Answer {
        match self.sim.activate(ControllerId(who), self.plan.abilities[ability], Target::None) {
            Ok(_) => Answer::Started,
            Err(Refusal::BlockedTags { .. }) => Answer::Blocked,
            Err(Refusal::Cost { have, need, .. }) => Answer::Cost { have, need },
            Err(Refusal::Cooldown { left, .. }) => Answer::Cooldown { left: left.0 },
            Err(refusal) => panic!("refused: {refusal}"),
        }
    }

    fn advance(&mut self, frames: i64) {
        let until = SimTime(self.sim.now().0 + frames * FRAME);
        let progress = self.sim.advance_to(until);
        assert!(progress.finished, "the budget of one advance is larger than any step of the plan");
        self.due += progress.due;
    }

    #[inline]
    fn add_tag(&mut self, who: u32, tag: u16) -> EffectKey {
        accepted(self.sim.apply(&spec(self.plan.granting[usize::from(tag)], who)))
    }

    #[inline]
    fn ask(&self, who: u32, ask: Ask<TagId>) -> bool {
        let who = ControllerId(who);
        accepted(match ask {
            Ask::All(tags) => self.sim.has_all(who, &tags),
            Ask::Any(tags) => self.sim.has_any(who, &tags),
            Ask::One(tag) => self.sim.has_tag(who, tag),
        })
    }

    fn tag(&self, tag: u16) -> TagId {
        self.plan.tags[usize::from(tag)]
    }

    #[inline]
    fn current(&self, who: u32, attribute: usize) -> f64 {
        accepted(self.sim.get(ControllerId(who), self.plan.attributes[attribute]))
    }

    #[inline]
    fn base(&self, who: u32, attribute: usize) -> f64 {
        accepted(self.sim.base(ControllerId(who), self.plan.attributes[attribute]))
    }

    #[inline]
    fn take_facts(&mut self) -> usize {
        self.sim.take_facts(&mut self.facts);
        self.facts.list.len()
    }

    fn drop_buffers(&mut self) {
        // The sim's own is swapped out, and an empty one into it.
        self.facts = Facts::default();
        self.sim.take_facts(&mut self.facts);
        self.facts = Facts::default();
    }

    fn facts_digest(&self) -> u64 {
        let mut text = String::new();
        self.sim.facts().list.iter().fold(0xcbf2_9ce4_8422_2325, |hash, fact| {
            text.clear();
            write!(text, "{fact:?}").expect("a string takes everything");
            text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
        })
    }

    fn due_done(&self) -> u64 {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::Plan;
    use crate::reference::Reference;
    use crate::runner::Runner;
    use crate::{check, ours};

    #[test]
    fn the_runtime_does_the_same_work_as_the_stick() {
        let runners = [Runner::of::<Reference>(), ours::runner()];
        assert_eq!(check::all(&runners, &Plan::new(60)), Vec::<String>::new());
    }
}
