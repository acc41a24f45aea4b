//! Why a prediction was corrected.

use crate::types::Tick;
use std::collections::VecDeque;
use ugas_core::{ControllerId, RowDifference, Rules};

/// The maximum number of reasons that a client keeps.
const MAX_REASONS: usize = 64;

/// Why a client corrected an owned controller ([`ClientCounts::corrections`](super::ClientCounts::corrections)): the
/// first difference between the prediction and the server's state of a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectionReason {
    /// The controller.
    pub who: ControllerId,
    /// The tick of the server's state.
    pub tick: Tick,
    /// The first difference. The first state is the prediction, the second the server's.
    pub what: RowDifference,
}

impl CorrectionReason {
    /// Describes the reason in one line.
    pub fn describe(&self, rules: &Rules) -> String {
        format!("tick {}: {}", self.tick.0, self.what.describe(rules))
    }
}

/// The reasons of the latest corrections, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct CorrectionReasons {
    list: VecDeque<CorrectionReason>,
}

impl CorrectionReasons {
    pub(crate) fn push(&mut self, reason: CorrectionReason) {
        if self.list.len() >= MAX_REASONS {
            self.list.pop_front();
        }
        self.list.push_back(reason);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &CorrectionReason> {
        self.list.iter()
    }
}
