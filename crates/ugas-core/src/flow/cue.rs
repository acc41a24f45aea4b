//! Cues. A burst emits a fact. A loop is counted per controller and tag, over effects and abilities together: the loop
//! starts when the count becomes 1 and stops when it becomes 0.

use super::{Flow, Via};
use crate::fact::{ParamValue, put_param};
use crate::rules::EffectDef;
use crate::state::CueCount;
use crate::{CueType, FactKind, Span, SpecExtra, TagId};

impl Flow<'_> {
    /// Counts an effect's loop cues.
    pub(crate) fn hold_cues(&mut self, def: &EffectDef, extra: Option<&SpecExtra>, target: usize, via: Via) {
        for &tag in &def.cues {
            self.cue_in(target, tag, extra, via);
        }
    }

    /// Emits an effect's burst cues, after the effect was applied or executed.
    pub(crate) fn burst_cues(&mut self, def: &EffectDef, extra: Option<&SpecExtra>, target: usize, via: Via) {
        let who = self.row(target).id;
        for &tag in &def.cues {
            let detail = self.cue_place(extra);
            self.fact(who, via, FactKind::Cue { tag, cue: CueType::Execute, detail });
        }
    }

    /// Stores the position of a hit in the details of the log, so that the position is available after the effect has
    /// ended.
    fn cue_place(&mut self, extra: Option<&SpecExtra>) -> Span {
        let Some(x) = extra else { return Span::default() };
        let mut bytes = Vec::new();
        if let Some(place) = x.hit.as_ref().and_then(|h| h.position) {
            put_param(&mut bytes, "Position", ParamValue::Vector(place));
        }
        if let Some(distance) = x.hit.as_ref().and_then(|h| h.distance) {
            put_param(&mut bytes, "Distance", ParamValue::Number(distance));
        }
        if let Some(origin) = x.origin {
            put_param(&mut bytes, "Origin", ParamValue::Vector(origin));
        }
        self.log.keep(&bytes)
    }

    /// Decrements the counts of an effect's loop cues.
    pub(crate) fn release_cues(&mut self, def: &EffectDef, target: usize, via: Via) {
        for &tag in &def.cues {
            self.cue_out(target, tag, via);
        }
    }

    /// Increments the count of a loop cue. The loop starts when the count becomes 1.
    pub(crate) fn cue_in(&mut self, target: usize, tag: TagId, extra: Option<&SpecExtra>, via: Via) {
        let row = self.row_mut(target);
        let who = row.id;
        match row.cues().binary_search_by_key(&tag, |c| c.tag) {
            Ok(i) => row.side_mut().cues[i].count += 1,
            Err(i) => {
                row.side_mut().cues.insert(i, CueCount { tag, count: 1 });
                let detail = self.cue_place(extra);
                self.fact(who, via, FactKind::Cue { tag, cue: CueType::Add, detail });
            }
        }
    }

    /// Decrements the count of a loop cue. The loop stops when the count becomes 0. Does nothing if the count is 0.
    pub(crate) fn cue_out(&mut self, target: usize, tag: TagId, via: Via) {
        let Ok(i) = self.row(target).cues().binary_search_by_key(&tag, |c| c.tag) else {
            return;
        };
        let row = self.row_mut(target);
        let who = row.id;
        row.side_mut().cues[i].count -= 1;
        if row.side_mut().cues[i].count == 0 {
            row.side_mut().cues.remove(i);
            self.fact(who, via, FactKind::Cue { tag, cue: CueType::Remove, detail: Span::default() });
        }
    }
}
