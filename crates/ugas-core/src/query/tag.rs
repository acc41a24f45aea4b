//! Queries about tags and loop cues.

use crate::{ControllerId, NameKind, ReadError, Sim, TagId, TagQuery};

impl Sim {
    fn known(&self, tag: TagId) -> Result<(), ReadError> {
        let known = self.rules().tags.def(tag).is_some();
        if known { Ok(()) } else { Err(ReadError::UnknownName { kind: NameKind::Tag, id: tag.0 }) }
    }

    /// Returns whether the controller has the tag or a descendant of it. The run time does not depend on the number of
    /// tags.
    #[inline]
    pub fn has_tag(&self, who: ControllerId, tag: TagId) -> Result<bool, ReadError> {
        Ok(self.row(who)?.tags.has(&self.rules().tags, tag))
    }

    /// Returns whether the controller has the tag itself. Descendants do not count.
    pub fn has_tag_exact(&self, who: ControllerId, tag: TagId) -> Result<bool, ReadError> {
        Ok(self.tag_count(who, tag)? > 0)
    }

    /// Returns how many times the tag itself is granted. Descendants do not count.
    pub fn tag_count(&self, who: ControllerId, tag: TagId) -> Result<u64, ReadError> {
        self.known(tag)?;
        Ok(self.row(who)?.tags.count(&self.rules().tags, tag) as u64)
    }

    /// Returns how many times the tag and its descendants are granted in total.
    pub fn tag_count_all(&self, who: ControllerId, tag: TagId) -> Result<u64, ReadError> {
        self.known(tag)?;
        Ok(self.row(who)?.tags.count_all(&self.rules().tags, tag))
    }

    /// Returns whether the controller has at least one of the tags. Returns false for an empty list.
    #[inline]
    pub fn has_any(&self, who: ControllerId, tags: &[TagId]) -> Result<bool, ReadError> {
        let (row, table) = (self.row(who)?, &self.rules().tags);
        // Tests all of them without a branch: lists are short, and a mispredicted branch costs more than a test.
        Ok(tags.iter().fold(false, |any, &t| any | row.tags.has(table, t)))
    }

    /// Returns whether the controller has all of the tags. Returns true for an empty list.
    #[inline]
    pub fn has_all(&self, who: ControllerId, tags: &[TagId]) -> Result<bool, ReadError> {
        let (row, table) = (self.row(who)?, &self.rules().tags);
        Ok(tags.iter().fold(true, |all, &t| all & row.tags.has(table, t)))
    }

    /// Returns whether the controller has none of the tags.
    pub fn has_none(&self, who: ControllerId, tags: &[TagId]) -> Result<bool, ReadError> {
        Ok(!self.has_any(who, tags)?)
    }

    /// Returns whether a tag query matches the controller's tags.
    pub fn matches(&self, who: ControllerId, query: &TagQuery) -> Result<bool, ReadError> {
        let (row, table) = (self.row(who)?, &self.rules().tags);
        let exact = |t: TagId| table.def(t).is_some() && row.tags.count(table, t) > 0;
        Ok(query.eval(&|t| row.tags.has(table, t), &exact))
    }

    /// Returns the explicitly granted tags with their counts, parents before children.
    pub fn tags(&self, who: ControllerId) -> Result<Vec<(TagId, u32)>, ReadError> {
        Ok(self.row(who)?.tags.iter(&self.rules().tags).collect())
    }

    /// Iterates over the tags that [`Sim::tags`] returns, without allocating a list.
    pub fn each_tag(&self, who: ControllerId) -> Result<impl Iterator<Item = (TagId, u32)>, ReadError> {
        Ok(self.row(who)?.tags.iter(&self.rules().tags))
    }

    /// Returns the number of distinct tags that are explicitly granted.
    pub fn tag_kinds(&self, who: ControllerId) -> Result<usize, ReadError> {
        Ok(self.row(who)?.tags.len())
    }

    /// Returns the number of active effects and abilities that play the loop cue `tag`. However high the count, the
    /// host plays one instance of the cue.
    pub fn cue_count(&self, who: ControllerId, tag: TagId) -> Result<u32, ReadError> {
        let row = self.row(who)?;
        Ok(row.cues().binary_search_by_key(&tag, |c| c.tag).map_or(0, |i| row.cues()[i].count))
    }

    /// Returns the loop cues that play on a controller.
    pub fn cues(&self, who: ControllerId) -> Result<Vec<TagId>, ReadError> {
        Ok(self.row(who)?.cues().iter().map(|c| c.tag).collect())
    }

    /// Iterates over the cues that [`Sim::cues`] returns, in order of tag id, without allocating a list.
    pub fn each_cue(&self, who: ControllerId) -> Result<impl Iterator<Item = TagId>, ReadError> {
        Ok(self.row(who)?.cues().iter().map(|c| c.tag))
    }
}
