//! Imports controllers of another sim: with their complete state, or as a proxy row that has only the replicated state.

use super::{Holding, JournalPosition, RemoteMut};
use crate::check::row_closes_cycle;
use crate::flow::{Captured, CapturedAt, Via, new_record};
use crate::image::{Portable, RowImage};
use crate::limits::Limits;
use crate::rules::Rules;
use crate::sim::Sim;
use crate::state::{Attr, RecordKey, Row, SetGrant};
use crate::time::Clock;
use crate::{
    AbilitySetId, AttributeId, BadValue, ControllerId, FactKind, InsertError, LimitKind, NameKind, OpId, Refusal,
    SetId, SimTime, SpawnSpec, TagId,
};

/// The replicated state of a remote actor.
#[derive(Clone, Copy, Debug)]
pub struct ProxyRow<'a> {
    /// The controller.
    pub who: ControllerId,
    /// The time of the state.
    pub at: SimTime,
    /// The controller's attribute sets.
    pub sets: &'a [SetId],
    /// The replicated attribute values. The other attributes have their defaults.
    pub values: &'a [(AttributeId, f64)],
    /// The controller's tags.
    pub tags: &'a [TagId],
    /// The controller's position and facing, if replicated.
    pub anchor: Option<crate::Anchor>,
    /// The controller's actors and capability sets, as far as they are replicated; sorted.
    pub holdings: &'a [Holding],
}

impl RemoteMut<'_> {
    /// Returns the image of a controller of another sim, for [`Sim::resimulate`]. The state is validated like a saved
    /// game. `after` is the journal position from which [`Sim::resimulate`] continues on top of the image.
    pub fn import(&mut self, from: &Portable, after: JournalPosition) -> Result<RowImage, InsertError> {
        self.sim.check_origin(from)?;
        if from.at > self.sim.state.now || from.at < SimTime::ZERO {
            return Err(InsertError::Damaged("the time is out of range"));
        }
        let row = self.sim.validated_row(from, true)?;
        Ok(self.sim.imported(row, from.at, after))
    }

    /// Returns the image of a remote actor. The image contains only attribute sets, values, tags and position.
    pub fn import_proxy(&mut self, proxy: &ProxyRow<'_>, after: JournalPosition) -> Result<RowImage, Refusal> {
        let sim = &mut *self.sim;
        let unknown = proxy.tags.iter().find(|t| sim.rules.tags.def(**t).is_none());
        if let Some(tag) = unknown {
            return Err(Refusal::UnknownName { kind: NameKind::Tag, id: tag.0 });
        }
        if proxy.at > sim.state.now || proxy.at < SimTime::ZERO {
            return Err(Refusal::BadValue { what: BadValue::Time });
        }
        // Spawned under an unused id, so that rows are created only by the spawn function.
        let spare = ControllerId(sim.state.next_id);
        let spec = SpawnSpec {
            sets: proxy.sets.to_vec(),
            base: proxy.values.to_vec(),
            tags: proxy.tags.to_vec(),
            anchor: proxy.anchor,
            id: Some(spare),
            ..SpawnSpec::default()
        };
        let (next_id, facts) = (sim.state.next_id, sim.log.facts.list.len());
        let diagnostics = sim.log.diagnostics.len();
        let mut flow = sim.flow();
        flow.start(OpId::default(), spare);
        let made = flow.spawn(&spec);
        flow.react();
        let row = made.ok().and_then(|_| flow.slot(spare).ok()).and_then(|slot| flow.drop_row(slot));
        sim.log.facts.list.truncate(facts);
        sim.log.diagnostics.truncate(diagnostics);
        sim.state.next_id = next_id;
        let mut row = row.ok_or(made.err().unwrap_or(Refusal::StaleHandle))?;
        row.id = proxy.who;
        row.clock = Clock::starting(SimTime::ZERO);
        row.effects.iter_mut().for_each(|e| e.source = proxy.who);
        put_holdings(&sim.rules, &sim.config.limits, &mut row, proxy.holdings)?;
        // Received values are not recomputed: this sim may lack the inputs of bounds and derived values.
        let layout = &sim.index.layouts[row.layout as usize];
        for &(attribute, value) in proxy.values.iter().filter(|(_, value)| value.is_finite()) {
            if let Some(slot) = layout.slot(attribute) {
                row.attrs[slot] = Attr { base: value, current: value };
            }
        }
        let is_hidden = |a: &AttributeId| !proxy.values.iter().any(|(known, _)| known == a);
        let hidden: Vec<AttributeId> = layout.slots.iter().map(|s| s.attribute).filter(is_hidden).collect();
        let layout = layout.clone();
        sim.index.hidden.set(proxy.who, &layout, &hidden, true);
        Ok(sim.imported(row, proxy.at, after))
    }

    /// Sets the attributes of an own controller that the server does not replicate to this client. Nothing that reads
    /// them is predicted. [`RemoteMut::import_proxy`] sets the hidden attributes of a remote actor.
    pub fn set_hidden(&mut self, who: ControllerId, hidden: &[AttributeId]) -> Result<(), Refusal> {
        let layout = self.sim.index.layouts[self.sim.row(who)?.layout as usize].clone();
        self.sim.index.hidden.set(who, &layout, hidden, false);
        Ok(())
    }

    /// Moves a remote actor. The move is not recorded in the journal, because the position is received, not simulated.
    pub fn move_proxy(&mut self, who: ControllerId, anchor: Option<crate::Anchor>) -> Result<(), Refusal> {
        let mut flow = self.sim.flow();
        if flow.ix.casters_at(who).next().is_some() {
            flow.start(OpId::default(), who);
        }
        let moved = flow.move_to(who, anchor);
        flow.react();
        moved
    }

    /// Removes a controller without emitting facts, e.g. a controller that is no longer relevant to a client.
    pub fn remove_silently(&mut self, who: ControllerId) {
        let facts = self.sim.log.facts.list.len();
        let mut flow = self.sim.flow();
        if let Ok(slot) = flow.slot(who) {
            flow.drop_row(slot);
        }
        self.sim.log.facts.list.truncate(facts);
        self.sim.journals.remove(&who);
        self.sim.index.hidden.remove(who);
    }
}

/// Gives the row of a remote actor its actors and capability sets. Its capabilities do not run in the row.
fn put_holdings(rules: &Rules, limits: &Limits, row: &mut Row, holdings: &[Holding]) -> Result<(), Refusal> {
    let known = |set: AbilitySetId, is_known: bool| match is_known {
        true => Ok(set),
        false => Err(Refusal::UnknownName { kind: NameKind::AbilitySet, id: set.0 }),
    };
    for holding in holdings {
        match *holding {
            Holding::Owner(owner) => row.owner = owner,
            Holding::Avatar(avatar) => row.set_avatar(avatar),
            Holding::Set { handle, set } => {
                let entries = rules.entries_of(known(set, rules.has_capabilities(set))?);
                let (effects, grants, attributes) = Default::default();
                row.play_mut().sets.push(SetGrant { seq: handle, set, effects, grants, attributes });
                let records = &mut row.play_mut().capabilities_mut().records;
                for (position, &place) in entries.iter().enumerate() {
                    let key = RecordKey { handle, position: position as u16 };
                    let entry = rules.capability_entry(place);
                    records.extend(entry.map(|entry| new_record(entry, place.set, place.index, key)));
                }
                let max = limits.capabilities_per_controller;
                if records.len() > max as usize {
                    return Err(Refusal::Limit { what: LimitKind::Capabilities, max, link: 0 });
                }
            }
            Holding::LocalSet { set, .. } => {
                let set = known(set, rules.is_capability_set(set))?;
                row.play_mut().capabilities_mut().presets.push(set);
            }
        }
    }
    row.trim();
    Ok(())
}

impl Sim {
    fn imported(&self, mut row: Row, at: SimTime, after: JournalPosition) -> RowImage {
        row.rebuild();
        row.readers = 0;
        let JournalPosition { serial, dues } = after;
        let taken = CapturedAt { at, rules: self.rules.image_print(), serial, dues, foreign: true };
        RowImage { inner: Some(Captured::new(row, taken, &self.index, &self.state.definitions)) }
    }

    /// Creates the controller of an imported row, if this sim does not have it.
    pub(super) fn make_room(&mut self, row: &Row) -> Result<(), Refusal> {
        let who = row.id;
        let mut flow = self.flow();
        if flow.slot(who).is_ok() {
            return Ok(());
        }
        let max = flow.limits.controllers;
        // Ids are assigned by another sim and may be large. The last two ids are reserved for rows that are being
        // created.
        if flow.st.controllers.len() as u32 >= max || who.0 >= u32::MAX - 2 {
            return Err(Refusal::Limit { what: LimitKind::Controllers, max, link: 0 });
        }
        let target = flow.st.controllers.insert(row.clone(), &flow.rules.tags);
        if row_closes_cycle(&flow, who) {
            flow.st.controllers.remove(who);
            return Err(Refusal::Mismatch);
        }
        flow.st.hash_dirty.push(who);
        flow.st.next_id = flow.st.next_id.max(who.0 + 1);
        // Cannot fail: the check above found no dependency cycle.
        let _ = flow.link_row(target);
        flow.thaw_readers(who);
        flow.fact(who, Via::NOTHING, FactKind::Restored);
        Ok(())
    }
}
