//! Explains why a capability is not active.

use crate::flow::Blocker;
use crate::rules::{Bearer, CapabilityDef, Expr, Local, Reads, Side as ReadSide};
use crate::state::{CapabilityRecord, Stage};
use crate::{
    AttributeId, BlockSource, CapabilityId, ControllerId, Rate, ReadError, Rules, SetId, Sim, SimTime, TagId, TagQuery,
};
use ugas_doc::Side;

/// What a condition of a capability reads, with the current values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConditionReads {
    /// The attributes and their current values; `None` if the controller lacks the attribute.
    pub attributes: Vec<(AttributeId, Option<f64>)>,
    /// The tags, and whether the controller has them.
    pub tags: Vec<(TagId, bool)>,
}

/// A reason why a capability is not active; see [`Sim::why_not_capability`].
#[derive(Clone, Debug, PartialEq)]
pub enum CapabilityReason {
    /// The controller has no capability of the class.
    NotHeld,
    /// The class has neither a document nor code in this process.
    WithoutCode,
    /// The capability does not run in this sim.
    Elsewhere {
        /// The machines that run the capability.
        side: Side,
    },
    /// The capability waits for a data component.
    WaitsFor {
        /// The attribute set.
        set: SetId,
    },
    /// The capability is disabled.
    Disabled,
    /// The capability is never evaluated after its setup.
    NeverTicks,
    /// The clock of the controller is stopped.
    ClockStopped,
    /// A block of a tag blocks the capability.
    Blocked {
        /// The blocked tag.
        tag: TagId,
        /// The source of the block.
        source: BlockSource,
    },
    /// The query `BlockedBy` of the entry holds.
    BlockedByQuery {
        /// The tags of the query that the controller has.
        has: Vec<TagId>,
        /// The tags of the query that the controller lacks.
        lacks: Vec<TagId>,
    },
    /// The next evaluation is not due yet.
    Interval {
        /// The remaining time on the clock of the controller.
        remaining: SimTime,
    },
    /// The query of the document does not hold.
    Query {
        /// The tags that the controller must not have, and has.
        has: Vec<TagId>,
        /// The tags that the controller must have, and lacks.
        lacks: Vec<TagId>,
    },
    /// The condition `When` of the document does not hold.
    When(ConditionReads),
    /// The condition `Until` of the document holds.
    Until(ConditionReads),
    /// The code of the capability decided so.
    Code,
    /// The capability is activated at its next evaluation.
    NextEvaluation,
}

impl CapabilityReason {
    /// Returns the name of the kind, such as `Interval`.
    pub fn kind(&self) -> &'static str {
        match self {
            CapabilityReason::NotHeld => "NotHeld",
            CapabilityReason::WithoutCode => "WithoutCode",
            CapabilityReason::Elsewhere { .. } => "Elsewhere",
            CapabilityReason::WaitsFor { .. } => "WaitsFor",
            CapabilityReason::Disabled => "Disabled",
            CapabilityReason::NeverTicks => "NeverTicks",
            CapabilityReason::ClockStopped => "ClockStopped",
            CapabilityReason::Blocked { .. } => "Blocked",
            CapabilityReason::BlockedByQuery { .. } => "BlockedBy",
            CapabilityReason::Interval { .. } => "Interval",
            CapabilityReason::Query { .. } => "Query",
            CapabilityReason::When(_) => "When",
            CapabilityReason::Until(_) => "Until",
            CapabilityReason::Code => "Code",
            CapabilityReason::NextEvaluation => "NextEvaluation",
        }
    }

    /// Returns the reason as a sentence.
    pub fn describe(&self, rules: &Rules) -> String {
        let names = |tags: &[TagId]| tags.iter().map(|tag| tag.describe(rules)).collect::<Vec<_>>().join(", ");
        let parts = |has: &[TagId], lacks: &[TagId]| {
            let has = if has.is_empty() { String::new() } else { format!("has {}", names(has)) };
            let lacks = if lacks.is_empty() { String::new() } else { format!("lacks {}", names(lacks)) };
            let and = if has.is_empty() || lacks.is_empty() { "" } else { " and " };
            format!("the owner {has}{and}{lacks}")
        };
        match self {
            CapabilityReason::NotHeld => "the controller does not have the capability".to_owned(),
            CapabilityReason::WithoutCode => "neither a document nor code defines the class here".to_owned(),
            CapabilityReason::Elsewhere { side } => format!("the side {side:?} does not run in this sim"),
            CapabilityReason::WaitsFor { set } => format!("waits for the attribute set {}", set.describe(rules)),
            CapabilityReason::Disabled => "the capability is disabled".to_owned(),
            CapabilityReason::NeverTicks => "the capability is not evaluated after its setup".to_owned(),
            CapabilityReason::ClockStopped => "the clock of the controller is stopped".to_owned(),
            CapabilityReason::Blocked { tag, source } => {
                format!("{} is blocked by {}", tag.describe(rules), source_text(*source))
            }
            CapabilityReason::BlockedByQuery { has, lacks } => format!("BlockedBy holds: {}", parts(has, lacks)),
            CapabilityReason::Interval { remaining } => format!("the next evaluation is in {remaining}"),
            CapabilityReason::Query { has, lacks } => format!("Query does not hold: {}", parts(has, lacks)),
            CapabilityReason::When(reads) => format!("When does not hold{}", reads.describe(rules)),
            CapabilityReason::Until(reads) => format!("Until holds{}", reads.describe(rules)),
            CapabilityReason::Code => "the code of the capability does not activate it".to_owned(),
            CapabilityReason::NextEvaluation => "the capability is activated at its next evaluation".to_owned(),
        }
    }
}

impl ConditionReads {
    /// Returns the values as text: `: Stamina is 45, has State.Combat`.
    fn describe(&self, rules: &Rules) -> String {
        let attributes = self.attributes.iter().map(|(attribute, value)| match value {
            Some(value) => format!("{} is {value}", attribute.describe(rules)),
            None => format!("the owner has no {}", attribute.describe(rules)),
        });
        let tags = self
            .tags
            .iter()
            .map(|(tag, has)| format!("the owner {} {}", if *has { "has" } else { "lacks" }, tag.describe(rules)));
        let all: Vec<String> = attributes.chain(tags).collect();
        if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) }
    }
}

fn source_text(source: BlockSource) -> String {
    match source {
        BlockSource::Host(name) => format!("the host ({name})"),
        BlockSource::Controller(who) => who.to_string(),
        BlockSource::Effect(key) => format!("an effect on {}", key.target),
        BlockSource::Capability { .. } => "another capability".to_owned(),
    }
}

/// What a condition of a capability reads from a sim.
struct SimReads<'s> {
    sim: &'s Sim,
    who: ControllerId,
}

impl Reads for SimReads<'_> {
    fn attribute(&mut self, side: ReadSide, attribute: AttributeId) -> Option<f64> {
        match side {
            ReadSide::Own => self.sim.get(self.who, attribute).ok(),
            ReadSide::Source | ReadSide::Target => None,
        }
    }

    fn tag(&mut self, bearer: Bearer, tag: TagId) -> Option<bool> {
        match bearer {
            Bearer::Own => self.sim.has_tag(self.who, tag).ok(),
            Bearer::Source | Bearer::Target | Bearer::Event | Bearer::Hit => None,
        }
    }

    fn local(&mut self, _: Local) -> Option<f64> {
        None
    }
}

impl Sim {
    /// Returns every reason why the first capability of a class is not active. The list is empty if the capability is
    /// active.
    ///
    /// ```
    /// use ugas_core::{CapabilityReason, Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet, Capability, CapabilitySet, SetCapability};
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("V").with(Attribute::new("Stamina", 45.0)))
    ///     .add(Capability::new("Regen").when("Stamina < 30"))
    ///     .add(CapabilitySet::new("CS_Robot").capability(SetCapability::new("Regen")))
    ///     .build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let robot = sim.spawn(SpawnSpec::sets([rules.set("V")?]))?;
    /// let regen = rules.capability("Regen")?;
    /// assert_eq!(sim.why_not_capability(robot, regen)?, [CapabilityReason::NotHeld]);
    /// sim.grant_set(robot, rules.ability_set("CS_Robot")?)?;
    /// let reasons = sim.why_not_capability(robot, regen)?;
    /// assert_eq!(reasons[0].describe(&rules), "When does not hold: Stamina is 45");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn why_not_capability(
        &self,
        who: ControllerId,
        class: CapabilityId,
    ) -> Result<Vec<CapabilityReason>, ReadError> {
        let slot = self.slot(who)?;
        let records = &self.row(who)?.play().capabilities().records;
        let Some(record) = records.iter().find(|record| record.class == class) else {
            return Ok(vec![CapabilityReason::NotHeld]);
        };
        Ok(self.reasons_of(slot, who, record))
    }

    /// Returns every reason why a capability is not active.
    pub(crate) fn reasons_of(
        &self,
        slot: usize,
        who: ControllerId,
        record: &CapabilityRecord,
    ) -> Vec<CapabilityReason> {
        let class = record.class;
        match record.stage {
            Stage::Active => return Vec::new(),
            Stage::Elsewhere if !self.view().has_behavior(class) => return vec![CapabilityReason::WithoutCode],
            Stage::Elsewhere => return vec![CapabilityReason::Elsewhere { side: record.side }],
            Stage::Waiting | Stage::Inactive => {}
        }
        let mut reasons = Vec::new();
        let layout = self.layout(self.state().controllers.row(slot));
        let needed = self.rules().ability_set_def(record.set).map_or(&[][..], |def| &def.sets);
        reasons.extend(
            needed.iter().filter(|set| !layout.sets.contains(set)).map(|&set| CapabilityReason::WaitsFor { set }),
        );
        self.switch_reasons(slot, record, &mut reasons);
        self.block_reasons(slot, record, &mut reasons);
        let conditions = reasons.len();
        match self.rules().capability_def(class).filter(|_| self.rules().capability_code(class).is_none()) {
            Some(def) => self.condition_reasons(who, def, &mut reasons),
            None => reasons.push(CapabilityReason::Code),
        }
        let holds = reasons.len() == conditions;
        if holds && reasons.is_empty() {
            reasons.push(CapabilityReason::NextEvaluation);
        }
        reasons
    }

    /// Adds the reasons why a capability is not evaluated now.
    fn switch_reasons(&self, slot: usize, record: &CapabilityRecord, reasons: &mut Vec<CapabilityReason>) {
        let clock = &self.state().controllers.row(slot).clock;
        if !record.enabled {
            reasons.push(CapabilityReason::Disabled);
        }
        if !record.ticks {
            reasons.push(CapabilityReason::NeverTicks);
        }
        if !clock.active() || clock.rate() == Rate(0) {
            reasons.push(CapabilityReason::ClockStopped);
        }
        let remaining = record.last + record.interval - clock.local(self.now());
        if record.enabled && record.ticks && record.interval > SimTime::ZERO && remaining > SimTime::ZERO {
            reasons.push(CapabilityReason::Interval { remaining });
        }
    }

    fn block_reasons(&self, slot: usize, record: &CapabilityRecord, reasons: &mut Vec<CapabilityReason>) {
        if !record.ticks {
            return;
        }
        match self.view().blocker_of(slot, record) {
            Some(Blocker::Block(block)) => {
                reasons.push(CapabilityReason::Blocked { tag: block.tag, source: block.source });
            }
            Some(Blocker::Query) => {
                let query = self.rules().capability_entry(record.place()).and_then(|entry| entry.blocked_by.as_ref());
                let who = self.state().controllers.row(slot).id;
                let (mut has, mut lacks) = (Vec::new(), Vec::new());
                if let Some(query) = query {
                    // The parts that would have to change for the query not to hold.
                    self.parts(who, query, false, &mut has, &mut lacks);
                }
                reasons.push(CapabilityReason::BlockedByQuery { has, lacks });
            }
            None => {}
        }
    }

    fn condition_reasons(&self, who: ControllerId, def: &CapabilityDef, reasons: &mut Vec<CapabilityReason>) {
        if let Some(query) = def.query.as_ref().filter(|query| !self.query_holds(who, query)) {
            let (mut has, mut lacks) = (Vec::new(), Vec::new());
            self.parts(who, query, true, &mut has, &mut lacks);
            reasons.push(CapabilityReason::Query { has, lacks });
        }
        if let Some(when) = def.when.as_ref().filter(|when| !self.condition_holds(who, when)) {
            reasons.push(CapabilityReason::When(self.reads_of(who, when)));
        }
        if let Some(until) = def.until.as_ref().filter(|until| self.condition_holds(who, until)) {
            reasons.push(CapabilityReason::Until(self.reads_of(who, until)));
        }
    }

    fn condition_holds(&self, who: ControllerId, condition: &Expr) -> bool {
        condition.condition(&mut SimReads { sim: self, who }).is_ok_and(|held| held == Some(true))
    }

    fn query_holds(&self, who: ControllerId, query: &TagQuery) -> bool {
        query.eval(&|tag| self.has_tag(who, tag) == Ok(true), &|tag| self.has_tag_exact(who, tag) == Ok(true))
    }

    /// Collects the tags that keep a query from having a result: those that the controller has, and those that it
    /// lacks.
    fn parts(&self, who: ControllerId, query: &TagQuery, wanted: bool, has: &mut Vec<TagId>, lacks: &mut Vec<TagId>) {
        if self.query_holds(who, query) == wanted {
            return;
        }
        match query {
            TagQuery::Has(tag) | TagQuery::HasExact(tag) if wanted => lacks.push(*tag),
            TagQuery::Has(tag) | TagQuery::HasExact(tag) => has.push(*tag),
            TagQuery::Any(list) | TagQuery::All(list) => {
                list.iter().for_each(|part| self.parts(who, part, wanted, has, lacks));
            }
            TagQuery::None(list) => list.iter().for_each(|part| self.parts(who, part, !wanted, has, lacks)),
        }
    }

    fn reads_of(&self, who: ControllerId, condition: &Expr) -> ConditionReads {
        let mut reads = ConditionReads::default();
        for (_, attribute) in condition.reads() {
            if reads.attributes.iter().all(|(other, _)| *other != attribute) {
                reads.attributes.push((attribute, self.get(who, attribute).ok()));
            }
        }
        condition.each_tag(&mut |tag| {
            if reads.tags.iter().all(|(other, _)| *other != tag) {
                reads.tags.push((tag, self.has_tag(who, tag) == Ok(true)));
            }
        });
        reads
    }
}
