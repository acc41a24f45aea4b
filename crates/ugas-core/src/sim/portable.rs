//! Moves controllers from one sim to another, with their active effects, activations and timers.

use super::Sim;
use crate::check::{RowValidator, row_closes_cycle};
use crate::flow::Via;
use crate::image::{PORTABLE_VERSION, Portable};
use crate::state::{Row, Tags};
use crate::{ControllerId, FactKind, InsertError, LimitKind, RUNTIME_BIT, Refusal, SimTime};
use ugas_doc::Doc;

impl Sim {
    /// Removes a controller from the sim and returns it with its active effects, activations and timers. On other
    /// controllers, live modifiers that read an attribute of the removed controller keep their last value.
    pub fn extract(&mut self, who: ControllerId) -> Result<Portable, Refusal> {
        let portable = self.remote().snapshot(who)?;
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, who);
        let target = flow.slot(who)?;
        flow.drop_row(target).ok_or(Refusal::StaleHandle)?;
        flow.fact(who, Via::NOTHING, FactKind::Despawned);
        flow.owners_changed();
        flow.react();
        Ok(portable)
    }

    /// Returns a portable of a row: its attribute sets, tags and run-time definitions by name, and the sim's time.
    pub(super) fn pack(&self, row: Row) -> Result<Portable, Refusal> {
        let sets = self.layout(&row).sets.to_vec();
        let mut definitions = Vec::new();
        for (id, d) in self.state.definitions.used_by(&row) {
            definitions.push((id, serde_json::to_string(&d.doc).map_err(|_| Refusal::Mismatch)?));
        }
        let tags = row.tags.to_list(&self.rules.tags);
        let (rules, at) = (self.rules.fingerprint(), self.state.now);
        Ok(Portable { version: PORTABLE_VERSION, rules, at, sets, row, tags, definitions })
    }

    /// Inserts an extracted controller. The controller keeps its id. The controller's times are shifted by the
    /// difference between the clocks of the two sims.
    pub fn insert(&mut self, from: &Portable) -> Result<ControllerId, InsertError> {
        let who = from.row.id;
        self.check_origin(from)?;
        if self.exists(who) {
            return Err(InsertError::IdTaken(who));
        }
        let limit = self.config.limits;
        let over = |what, max| Err(InsertError::Limit(Refusal::Limit { what, max, link: 0 }));
        if self.state.controllers.len() as u32 >= limit.controllers || who.0 >= u32::MAX - 1 {
            return over(LimitKind::Controllers, limit.controllers);
        }
        if who.0 > self.state.next_id.saturating_add(limit.controllers) {
            return over(LimitKind::Controllers, limit.controllers);
        }
        if from.row.effects.len() + from.row.queue().len() > limit.effects_per_controller as usize {
            return over(LimitKind::Effects, limit.effects_per_controller);
        }
        if from.row.mods.len() > limit.modifiers_per_controller as usize {
            return over(LimitKind::Modifiers, limit.modifiers_per_controller);
        }
        if from.at.0.unsigned_abs() > SimTime::LONGEST.0 as u64 {
            return Err(InsertError::Damaged("the time is out of range"));
        }
        let known = self.state.definitions.list.len();
        let mut row = self.validated_row(from, false)?;
        let id = self.next_op();
        let mut flow = self.flow();
        flow.start(id, who);
        row.clock.shift(flow.st.now.0 - from.at.0);
        row.rebuild();
        row.readers = 0;
        let target = flow.st.controllers.insert(row, &flow.rules.tags);
        if row_closes_cycle(&flow, who) {
            flow.st.controllers.remove(who);
            flow.st.definitions.list.truncate(known);
            return Err(InsertError::Damaged("live magnitudes form a cycle"));
        }
        flow.st.hash_dirty.push(who);
        flow.st.next_id = flow.st.next_id.max(who.0 + 1);
        // Cannot fail: the check above found no dependency cycle.
        let _ = flow.link_row(target);
        flow.index_capabilities(target);
        flow.refresh_listeners(target);
        flow.retime(target);
        flow.publish(target);
        flow.fact(who, Via::NOTHING, FactKind::Restored);
        flow.relink_returned(who);
        if flow.work.role != crate::Role::Client {
            // This machine may control other controllers than the machine from which the controller comes.
            flow.evaluate_sides(who);
        }
        flow.owners_changed();
        flow.react();
        Ok(who)
    }

    /// Checks that a portable has the current format and was made under the same rules.
    pub(super) fn check_origin(&self, from: &Portable) -> Result<(), InsertError> {
        if from.version != PORTABLE_VERSION {
            return Err(InsertError::Damaged("unknown format version"));
        }
        let ours = self.rules.fingerprint();
        if from.rules != ours {
            return Err(InsertError::OtherRules { theirs: from.rules, ours });
        }
        Ok(())
    }

    /// Returns the validated row of a portable with this sim's ids, and adopts its run-time definitions.
    /// `is_owner_snapshot` is true for a server's snapshot for the owning client.
    pub(super) fn validated_row(&mut self, from: &Portable, is_owner_snapshot: bool) -> Result<Row, InsertError> {
        let mut row = from.row.clone();
        row.tags = Tags::from_list(&self.rules.tags, &from.tags).ok_or(InsertError::Damaged("the tags are invalid"))?;
        let known = self.state.definitions.list.len();
        self.adopt(from, &mut row)?;
        let mut flow = self.flow();
        let checked = flow
            .layout_for(&from.sets, from.row.id)
            .map_err(|_| "the attribute sets cannot be registered together")
            .and_then(|layout| {
                row.layout = layout;
                let (layout, defs) = (&flow.ix.layouts[layout as usize], &flow.st.definitions);
                RowValidator { layout, rules: flow.rules, defs, limits: flow.limits, at: from.at, is_owner_snapshot }
                    .row(&mut row)
            });
        match checked {
            Ok(()) => Ok(row),
            Err(what) => {
                self.state.definitions.list.truncate(known);
                Err(InsertError::Damaged(what))
            }
        }
    }

    /// Adds the run-time definitions of a portable to this sim. If a definition exists here under another id, the row's
    /// references are renumbered to that id.
    fn adopt(&mut self, from: &Portable, row: &mut Row) -> Result<(), InsertError> {
        let mut new = Vec::new();
        let mut renumber: Vec<(u32, u32)> = Vec::new();
        for (id, text) in &from.definitions {
            let doc: Doc = serde_json::from_str(text).map_err(|e| InsertError::Definition(e.to_string()))?;
            let known = &self.state.definitions;
            let same = known.get(*id).is_some_and(|d| d.doc == doc);
            let elsewhere = known.list.iter().position(|d| d.as_ref().is_some_and(|d| d.doc == doc));
            let number = match (same, elsewhere) {
                (true, _) => *id,
                (false, Some(at)) => RUNTIME_BIT | at as u32,
                (false, None) => {
                    let number = RUNTIME_BIT | (known.list.len() + new.len()) as u32;
                    new.push((doc, number));
                    number
                }
            };
            renumber.push((*id, number));
        }
        let room = self.config.limits.definitions as usize;
        if self.state.definitions.list.len() + new.len() > room {
            let max = self.config.limits.definitions;
            return Err(InsertError::Limit(Refusal::Limit { what: LimitKind::Definitions, max, link: 0 }));
        }
        let mut compiled = Vec::new();
        for (doc, number) in &new {
            let d = crate::flow::compile(&self.rules, doc, *number).map_err(|e| {
                InsertError::Definition(e.map_or("its kind cannot be defined at run time".into(), |e| e.to_string()))
            })?;
            compiled.push(Some(d));
        }
        self.state.definitions.list.extend(compiled);
        let map = |id: &mut u32| {
            if let Some((_, new)) = renumber.iter().find(|(old, _)| old == id) {
                *id = *new;
            }
        };
        row.each_definition(map);
        Ok(())
    }
}
