//! Cues: bursts are told, loops are counted per tag over effects and abilities alike. The first holder starts the loop,
//! the last one stops it.

use super::{Flow, Via};
use crate::rules::EffectDef;
use crate::state::CueCount;
use crate::{CueType, FactKind, TagId};

impl Flow<'_> {
    /// Counts an effect's looping cues.
    pub(crate) fn hold_cues(&mut self, def: &EffectDef, target: usize, via: Via) {
        for &tag in &def.cues {
            self.cue_in(target, tag, via);
        }
    }

    /// Gives an effect's looping cues back.
    pub(crate) fn release_cues(&mut self, def: &EffectDef, target: usize, via: Via) {
        for &tag in &def.cues {
            self.cue_out(target, tag, via);
        }
    }

    /// One more holder of a loop; the first one starts it.
    pub(crate) fn cue_in(&mut self, target: usize, tag: TagId, via: Via) {
        let row = self.row_mut(target);
        let who = row.id;
        match row.cues().binary_search_by_key(&tag, |c| c.tag) {
            Ok(i) => row.side_mut().cues[i].count += 1,
            Err(i) => {
                row.side_mut().cues.insert(i, CueCount { tag, count: 1 });
                self.fact(who, via, FactKind::Cue { tag, cue: CueType::Add });
            }
        }
    }

    /// One holder of a loop less; the last one stops it. Nothing if nobody holds it.
    pub(crate) fn cue_out(&mut self, target: usize, tag: TagId, via: Via) {
        let Ok(i) = self.row(target).cues().binary_search_by_key(&tag, |c| c.tag) else {
            return;
        };
        let row = self.row_mut(target);
        let who = row.id;
        row.side_mut().cues[i].count -= 1;
        if row.side_mut().cues[i].count == 0 {
            row.side_mut().cues.remove(i);
            self.fact(who, via, FactKind::Cue { tag, cue: CueType::Remove });
        }
    }
}
