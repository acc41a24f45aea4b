//! Indexes of a sim. The indexes are derived from the rows, so they are not part of the state and are not hashed.

use super::Agenda;
use crate::flow::HiddenValues;
use crate::rules::Layout;
use crate::{AttributeId, CapabilityFigures, ControllerId, SetId, SimTime, TaskFigures};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The edge of a live magnitude: a modifier on `target` follows an attribute of `source`. Edges are sorted, so that the
/// order of updates does not depend on the order of insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LiveEdge {
    pub(crate) source: ControllerId,
    pub(crate) attribute: AttributeId,
    pub(crate) target: ControllerId,
    pub(crate) seq: u64,
    pub(crate) index: u16,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) agenda: Agenda,
    /// Rows with frame work. `next_frame` is the time of the frame in the agenda. If that time is past or `NEVER`, the
    /// agenda has no frame.
    pub(crate) frames: BTreeSet<ControllerId>,
    pub(crate) next_frame: SimTime,
    /// The time of the last frame that ran.
    pub(crate) last_frame: SimTime,
    /// Rows with capabilities.
    pub(crate) capable: BTreeSet<ControllerId>,
    /// Rows whose sleeping capabilities are asked in the next frame.
    pub(crate) woken: BTreeSet<ControllerId>,
    /// Blocks that go with a controller, as pairs (controller, blocked row).
    pub(crate) blockers: BTreeSet<(ControllerId, ControllerId)>,
    /// Measurements of ticking tasks, by task type.
    pub(crate) figures: Vec<TaskFigures>,
    /// Measurements of capabilities, at the index of their class.
    pub(crate) capability_figures: Vec<CapabilityFigures>,
    pub(crate) live: BTreeSet<LiveEdge>,
    /// Effects whose modifier filters test another controller's tags: (tested, target, seq).
    pub(crate) filters: BTreeSet<(ControllerId, ControllerId, u64)>,
    /// Targets of casts that end when the target is lost, by caster.
    aims: BTreeMap<ControllerId, ControllerId>,
    /// The targets of `aims` as pairs (target, caster).
    aimed: BTreeSet<(ControllerId, ControllerId)>,
    /// Effects that read another controller as their source after application: (source, target, seq).
    pub(crate) source_readers: BTreeSet<(ControllerId, ControllerId, u64)>,
    pub(crate) layouts: Vec<Arc<Layout>>,
    by_sets: BTreeMap<Box<[SetId]>, u32>,
    /// On a client: the values that the server does not replicate to it.
    pub(crate) hidden: HiddenValues,
}

impl Index {
    pub(crate) fn layout_of(&self, sets: &[SetId]) -> Option<u32> {
        self.by_sets.get(sets).copied()
    }

    /// Stores a layout at an unused index or at a new index. Returns the index.
    pub(crate) fn keep_layout(&mut self, layout: Layout, place: Option<u32>) -> u32 {
        let id = place.unwrap_or(self.layouts.len() as u32);
        self.by_sets.insert(layout.sets.clone(), id);
        match self.layouts.get_mut(id as usize) {
            Some(old) => {
                self.by_sets.remove(&old.sets);
                *old = Arc::new(layout);
            }
            None => self.layouts.push(Arc::new(layout)),
        }
        id
    }

    /// Replaces all layouts. Several layouts may have the same sets, because sets were removed from different lists.
    pub(crate) fn renew_layouts<'l>(&mut self, layouts: impl Iterator<Item = &'l Arc<Layout>>) {
        self.layouts.clear();
        self.by_sets.clear();
        for layout in layouts {
            if self.layout_of(&layout.sets).is_none() {
                self.by_sets.insert(layout.sets.clone(), self.layouts.len() as u32);
                self.layouts.push(layout.clone());
            }
        }
    }

    pub(crate) fn edges_from(&self, source: ControllerId, attribute: AttributeId) -> impl Iterator<Item = &LiveEdge> {
        let low = LiveEdge { source, attribute, target: ControllerId(0), seq: 0, index: 0 };
        let high = LiveEdge { source, attribute, target: ControllerId::NONE, seq: u64::MAX, index: u16::MAX };
        self.live.range(low..=high)
    }

    /// Iterates over all edges that start at a controller.
    pub(crate) fn edges_out(&self, source: ControllerId) -> impl Iterator<Item = &LiveEdge> {
        let low = LiveEdge { source, attribute: AttributeId(0), target: ControllerId(0), seq: 0, index: 0 };
        self.live.range(low..).take_while(move |e| e.source == source)
    }

    /// Copies the indexes of some rows. The copy has no agenda and cannot advance.
    pub(crate) fn copy_of(&self, ids: &BTreeSet<ControllerId>) -> Index {
        let of_edge = |e: &&LiveEdge| ids.contains(&e.source) || ids.contains(&e.target);
        let of_effect =
            |(source, target, _): &&(ControllerId, ControllerId, u64)| ids.contains(source) || ids.contains(target);
        let of_aim = |(target, caster): &&(ControllerId, ControllerId)| ids.contains(target) || ids.contains(caster);
        Index {
            agenda: Agenda::default(),
            frames: self.frames.intersection(ids).copied().collect(),
            next_frame: self.next_frame,
            last_frame: self.last_frame,
            capable: self.capable.intersection(ids).copied().collect(),
            woken: self.woken.intersection(ids).copied().collect(),
            blockers: self
                .blockers
                .iter()
                .filter(|(source, who)| ids.contains(source) || ids.contains(who))
                .copied()
                .collect(),
            figures: Vec::new(),
            capability_figures: Vec::new(),
            live: self.live.iter().filter(of_edge).copied().collect(),
            filters: self.filters.iter().filter(of_effect).copied().collect(),
            source_readers: self.source_readers.iter().filter(of_effect).copied().collect(),
            aims: self.aims.iter().filter(|(caster, _)| ids.contains(caster)).map(|(&c, &t)| (c, t)).collect(),
            aimed: self.aimed.iter().filter(of_aim).copied().collect(),
            layouts: self.layouts.clone(),
            by_sets: self.by_sets.clone(),
            hidden: self.hidden.clone(),
        }
    }

    /// Returns the target of a controller's cast, if the loss of the target would end the cast.
    pub(crate) fn aim_of(&self, caster: ControllerId) -> Option<ControllerId> {
        self.aims.get(&caster).copied()
    }

    /// Sets the target of a controller's cast.
    pub(crate) fn set_aim(&mut self, caster: ControllerId, target: Option<ControllerId>) {
        if let Some(old) = self.aims.remove(&caster) {
            self.aimed.remove(&(old, caster));
        }
        if let Some(target) = target {
            self.aims.insert(caster, target);
            self.aimed.insert((target, caster));
        }
    }

    /// Returns the controllers whose casts would end if this target were lost, in order of id.
    pub(crate) fn casters_at(&self, target: ControllerId) -> impl Iterator<Item = ControllerId> {
        self.aimed.range((target, ControllerId(0))..=(target, ControllerId::NONE)).map(|(_, caster)| *caster)
    }

    pub(crate) fn clear(&mut self) {
        self.aims.clear();
        self.aimed.clear();
        self.agenda.clear();
        self.live.clear();
        self.filters.clear();
        self.source_readers.clear();
        self.frames.clear();
        self.capable.clear();
        self.woken.clear();
        self.blockers.clear();
        self.next_frame = SimTime::ZERO;
        self.last_frame = SimTime::ZERO;
    }
}
