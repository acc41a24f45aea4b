//! The kinds of events that a row listens to, as one bit per kind in a byte. The byte is recomputed when a listener is
//! added or removed, so that an event on a row without listeners costs one test.

use super::super::Flow;
use crate::rules::listen;
use crate::state::alert;

impl Flow<'_> {
    /// Recomputes the kinds of events that a row listens to.
    pub(crate) fn refresh_listeners(&mut self, slot: usize) {
        let row = self.row(slot);
        let play = row.play();
        let mut bits = 0;
        for g in &row.grants {
            let Some(def) = self.ability(g.ability) else { continue };
            for (listen_bit, alert_bit) in [
                (listen::TAG, alert::TAG),
                (listen::EVENT, alert::EVENT),
                (listen::EFFECT, alert::EFFECT),
                (listen::INPUT, alert::INPUT),
                (listen::ABILITY, alert::ABILITY),
                (listen::DEATH, alert::DEATH),
            ] {
                bits |= if def.flags.listens & listen_bit != 0 { alert_bit } else { 0 };
            }
            if !def.flags.watched.is_empty() {
                bits |= alert::ATTRIBUTE;
            }
            // The activation of an inactive passive ability is tried again when tags change, the owner is revived, or a
            // blocking ability ends.
            if def.passive && !play.activations.iter().any(|a| a.grant == g.id) {
                bits |= alert::TAG | alert::ATTRIBUTE | alert::ABILITY;
            }
        }
        for a in &play.activations {
            bits |= alert::DEATH;
            let Some(def) = self.ability(a.ability) else { continue };
            let presence = def.lasts_with_tag();
            let moves = def.cast.as_ref().is_some_and(|c| c.moving.is_some());
            if !def.cancelled_by.is_empty() || presence || moves {
                bits |= alert::TAG;
            }
        }
        if !play.capabilities().records.is_empty() {
            bits |= alert::ASLEEP;
        }
        bits |= self.task_alerts(slot) | self.input_alerts(slot);
        // A stat that multiplies combat values may change the maximum of charges.
        if !self.layout(slot).scales.is_empty() {
            bits |= alert::ATTRIBUTE;
        }
        // Another controller casts at this controller. The death and the tags of this controller may end that cast.
        if self.ix.casters_at(row.id).next().is_some() {
            bits |= alert::DEATH | alert::TAG;
        }
        self.st.controllers.row_mut(slot).alert = bits;
        self.refresh_frames(slot);
        self.refresh_aim(slot);
    }
}
