//! The sources of blocks.

use crate::{ControllerId, EffectKey, ParamId};
use serde::{Deserialize, Serialize};

/// Who blocks the capabilities of a controller. A tag stays blocked until every source has removed its block. A block
/// is also removed when its source ends: a controller that is destroyed, an effect that ends, a capability that is
/// removed.
///
/// ```
/// use ugas_core::BlockSource;
/// assert_eq!(BlockSource::host("Cutscene"), BlockSource::host("Cutscene"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BlockSource {
    /// A name that the host chose.
    Host(ParamId),
    /// A controller.
    Controller(ControllerId),
    /// An active effect.
    Effect(EffectKey),
    /// A capability of the same controller.
    Capability {
        /// The handle of the grant that added the capability.
        handle: u64,
        /// The position of the capability among the capabilities of the grant.
        position: u16,
    },
}

impl BlockSource {
    /// Returns the source with this name.
    pub fn host(name: &str) -> BlockSource {
        BlockSource::Host(ParamId::named(name))
    }

    /// Returns the numbers that identify the source in a hash.
    pub(crate) fn words(self) -> [u64; 3] {
        match self {
            BlockSource::Host(name) => [1, name.0 as u64, 0],
            BlockSource::Controller(who) => [2, who.0 as u64, 0],
            BlockSource::Effect(EffectKey { origin_id, target, ordinal }) => {
                [3, origin_id, (target.0 as u64) << 32 | ordinal as u64]
            }
            BlockSource::Capability { handle, position } => [4, handle, position as u64],
        }
    }
}
