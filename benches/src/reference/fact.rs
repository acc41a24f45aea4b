//! Facts: one record of 96 bytes with the same content as a fact of the runtime.

/// The attribute, tag or effect of a fact that has none.
pub(crate) const NONE: u32 = u32::MAX;

/// The key of an effect, by which the effect is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct EffectKey {
    pub(crate) origin_id: u64,
    pub(crate) ordinal: u32,
}

impl EffectKey {
    pub(crate) const NONE: EffectKey = EffectKey { origin_id: 0, ordinal: 0 };
}

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Spawned,
    Applied,
    Executed,
    Removed,
    Changed,
    TagGained,
    TagLost,
    Activated,
    Ended,
}

/// A fact.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Fact {
    pub(crate) at: i64,
    pub(crate) who: u32,
    pub(crate) source: u32,
    pub(crate) key: EffectKey,
    pub(crate) definition: u32,
    /// The op that started the chain of causes.
    pub(crate) root: u64,
    /// The number of causes between the root and this fact.
    pub(crate) link: u32,
    pub(crate) kind: Kind,
    /// The attribute, the tag or the ability.
    pub(crate) subject: u32,
    pub(crate) old: f64,
    pub(crate) new: f64,
    pub(crate) old_base: f64,
    pub(crate) new_base: f64,
}

const _: () = assert!(size_of::<Fact>() == 96);

/// The data that all facts of one operation share: the source and the cause.
#[derive(Clone, Copy)]
pub(crate) struct Cause {
    pub(crate) source: u32,
    pub(crate) key: EffectKey,
    pub(crate) definition: u32,
    pub(crate) root: u64,
    pub(crate) link: u32,
}

impl Cause {
    /// Returns a fact without values.
    #[inline]
    pub(crate) fn fact(&self, at: i64, who: u32, kind: Kind, subject: u32) -> Fact {
        Fact {
            at,
            who,
            source: self.source,
            key: self.key,
            definition: self.definition,
            root: self.root,
            link: self.link,
            kind,
            subject,
            old: 0.0,
            new: 0.0,
            old_base: 0.0,
            new_base: 0.0,
        }
    }
}
