//! Tags: a hierarchy of dotted names. Ids are stable. An internal depth-first rank reduces the test for a descendant to
//! a range test.

use super::interner::Interner;
use super::table::NameTable;
use crate::TagId;
use crate::rng::fold;

/// The maximum length of a tag name. Every parent of a tag is a tag too, so the memory for a deep name grows
/// quadratically.
pub(super) const MAX_NAME: usize = 255;

/// Returns the segments of a tag name, or `None` if the name is not valid. A valid name has at most 255 characters and
/// consists of segments joined by dots. A segment is an upper-case letter followed by letters and digits.
///
/// ```
/// use ugas_core::tag_segments;
/// assert_eq!(tag_segments("State.Debuff.Stunned.Magic").unwrap().count(), 4);
/// assert!(tag_segments("state.debuff").is_none());
/// assert!(tag_segments("State..X").is_none());
/// assert!(tag_segments(&format!("A{}", ".B".repeat(200))).is_none());
/// ```
pub fn tag_segments(name: &str) -> Option<impl Iterator<Item = &str>> {
    let good = |segment: &str| {
        segment.starts_with(|c: char| c.is_ascii_uppercase()) && segment.chars().all(|c| c.is_ascii_alphanumeric())
    };
    (name.len() <= MAX_NAME && name.split('.').all(good)).then(|| name.split('.'))
}

/// Returns the ancestors of a tag name, nearest first.
///
/// ```
/// let parents: Vec<_> = ugas_core::tag_parents("State.Debuff.Stunned").collect();
/// assert_eq!(parents, ["State.Debuff", "State"]);
/// ```
pub fn tag_parents(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(name.rfind('.').map(|i| &name[..i]), |n| n.rfind('.').map(|i| &n[..i]))
}

#[derive(Clone, Debug)]
pub(crate) struct TagDef {
    pub(crate) parent: Option<TagId>,
    pub(crate) declared: bool,
    pub(crate) allow_multiple: bool,
    pub(crate) is_cooldown: bool,
}

/// Finds the ranks that are in one range, four at a time: adding the difference between 0x8000 and a bound sets the top
/// bit of each rank that is not below the bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankFilter {
    start: u64,
    end: u64,
}

impl RankFilter {
    /// All ranks are below this limit. The end of a range may be equal to the limit.
    pub(crate) const LIMIT: u32 = 0x7fff;
    const NOTHING: RankFilter = RankFilter::new((0, 0));

    const fn new((start, end): (u32, u32)) -> RankFilter {
        const fn four(bound: u32) -> u64 {
            let bound = if bound < RankFilter::LIMIT { bound } else { RankFilter::LIMIT };
            0x0001_0001_0001_0001 * (0x8000 - bound) as u64
        }
        RankFilter { start: four(start), end: four(end) }
    }

    /// Returns bits that are set if one of four ranks is in the range.
    #[inline]
    pub(crate) fn matches_in(self, four: u64) -> u64 {
        (four + self.start) & !(four + self.end)
    }

    #[inline]
    pub(crate) fn any(found: u64) -> bool {
        found & 0x8000_8000_8000_8000 != 0
    }
}

/// All tags of the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct TagTable {
    names: Interner,
    defs: Vec<TagDef>,
    /// The range of ranks of each tag and its descendants: the tag's own rank, and one past the last.
    spans: Vec<(u32, u32)>,
    sieves: Vec<RankFilter>,
    signatures: Vec<u32>,
    by_rank: Vec<TagId>,
    /// Number of ranks that share a bit of a signature, as a power of two.
    shift: u32,
    order: u64,
}

impl NameTable for TagTable {
    fn names(&self) -> &Interner {
        &self.names
    }

    fn intern(&mut self, name: &str) -> u32 {
        TagTable::intern(self, name).0
    }

    fn has(&self, id: u32) -> bool {
        (id as usize) < self.len()
    }
}

impl TagTable {
    /// Adds a tag and its ancestors. The name must be valid.
    pub(crate) fn intern(&mut self, name: &str) -> TagId {
        if let Some(id) = self.names.find(name) {
            return TagId(id);
        }
        let parent = name.rfind('.').map(|dot| self.intern(&name[..dot]));
        let id = self.names.intern(name);
        self.defs.push(TagDef {
            parent,
            declared: false,
            allow_multiple: false,
            is_cooldown: name == "Cooldown" || name.starts_with("Cooldown."),
        });
        TagId(id)
    }

    pub(crate) fn def_mut(&mut self, tag: TagId) -> &mut TagDef {
        &mut self.defs[tag.index()]
    }
    pub(crate) fn def(&self, tag: TagId) -> Option<&TagDef> {
        self.defs.get(tag.index())
    }
    pub(crate) fn find(&self, name: &str) -> Option<TagId> {
        self.names.find(name).map(TagId)
    }
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        self.names.nearest(name)
    }
    /// Returns the most similar tag that a registry declares. Tags declared by use may be typos too and are not
    /// suggested.
    pub(crate) fn nearest_declared(&self, name: &str) -> Option<&str> {
        self.names.nearest_of(name, |id| self.defs[id as usize].declared)
    }
    pub(crate) fn len(&self) -> usize {
        self.defs.len()
    }
    pub(crate) fn ids(&self) -> impl Iterator<Item = TagId> {
        (0..self.defs.len() as u32).map(TagId)
    }

    /// Clears all declarations and keeps the tags.
    pub(crate) fn undeclare(&mut self) {
        for def in &mut self.defs {
            (def.declared, def.allow_multiple) = (false, false);
        }
    }

    /// Numbers the tags depth first; call once after the last `intern`.
    pub(crate) fn rank(&mut self) {
        let n = self.defs.len();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut roots = Vec::new();
        for (i, d) in self.defs.iter().enumerate() {
            match d.parent {
                Some(p) => children[p.index()].push(i as u32),
                None => roots.push(i as u32),
            }
        }
        self.spans = vec![(0, 0); n];
        self.by_rank = Vec::with_capacity(n);
        self.shift = n.div_ceil(32).next_power_of_two().trailing_zeros();
        let mut stack: Vec<(u32, usize)> = Vec::new();
        for root in roots {
            self.enter(root);
            stack.push((root, 0));
            while let Some((tag, child)) = stack.pop() {
                match children[tag as usize].get(child) {
                    Some(&c) => {
                        self.enter(c);
                        stack.push((tag, child + 1));
                        stack.push((c, 0));
                    }
                    None => self.spans[tag as usize].1 = self.by_rank.len() as u32,
                }
            }
        }
        let signature = |&(start, end): &(u32, u32)| {
            let (first, last) = (self.stretch(start), self.stretch(end - 1));
            u32::MAX << first & u32::MAX >> (31 - last)
        };
        self.signatures = self.spans.iter().map(signature).collect();
        self.sieves = self.spans.iter().map(|&span| RankFilter::new(span)).collect();
        self.order = self.by_rank.iter().fold(n as u64, |hash, tag| fold(hash, tag.0 as u64));
    }

    fn enter(&mut self, tag: u32) {
        self.spans[tag as usize].0 = self.by_rank.len() as u32;
        self.by_rank.push(TagId(tag));
    }

    #[inline]
    pub(crate) fn parent(&self, tag: TagId) -> Option<TagId> {
        self.defs[tag.index()].parent
    }
    /// Returns a hash of the ranks of all tags.
    pub(crate) fn order(&self) -> u64 {
        self.order
    }
    /// Returns the tag of a rank.
    #[inline]
    pub(crate) fn at_rank(&self, rank: u32) -> TagId {
        self.by_rank[rank as usize]
    }
    /// Returns the range of ranks of a tag and its descendants, the tag's own rank first.
    #[inline]
    pub(crate) fn span(&self, tag: TagId) -> (u32, u32) {
        self.spans[tag.index()]
    }
    /// Returns the ranks of a tag and its descendants; an empty range for a tag that does not exist.
    #[inline]
    pub(crate) fn span_or_none(&self, tag: TagId) -> (u32, u32) {
        self.spans.get(tag.index()).copied().unwrap_or_default()
    }
    /// Returns a filter for the tag and its descendants; an empty one for a tag that does not exist.
    #[inline]
    pub(crate) fn rank_filter(&self, tag: TagId) -> RankFilter {
        self.sieves.get(tag.index()).copied().unwrap_or(RankFilter::NOTHING)
    }
    /// Returns whether `tag` is `of` or a descendant of `of`.
    #[inline]
    pub(crate) fn is_under(&self, tag: TagId, of: TagId) -> bool {
        let (start, end) = self.span(of);
        (start..end).contains(&self.span(tag).0)
    }
    /// Returns the signature bit of a rank. Ranks are divided into 32 ranges, one per bit.
    #[inline]
    pub(crate) fn stretch(&self, rank: u32) -> u32 {
        rank >> self.shift & 31
    }
    /// Returns the signature bits that a grant of the tag or a descendant can set.
    #[inline]
    pub(crate) fn signature(&self, tag: TagId) -> u32 {
        self.signatures.get(tag.index()).copied().unwrap_or(0)
    }
}

/// A tag query: a tag, or any, all or none of nested queries. A tag also matches its descendants, except in `HasExact`.
///
/// ```
/// use ugas_core::{Rules, TagQuery};
/// use ugas_doc::TagRegistry;
/// let rules = Rules::builder().add(TagRegistry::new(["State.Alive", "State.Debuff.Stunned"])).build().unwrap();
/// let query = TagQuery::parse("State.Alive & !State.Debuff", &rules).unwrap();
/// let alive = rules.tag("State.Alive").unwrap();
/// let stunned = rules.tag("State.Debuff.Stunned").unwrap();
/// assert!(query.matches(&rules, &[alive]));
/// assert!(!query.matches(&rules, &[alive, stunned]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum TagQuery {
    /// The tag or a descendant is present.
    Has(TagId),
    /// The tag itself is present.
    HasExact(TagId),
    /// At least one query is true. With an empty list, the result is false.
    Any(Vec<TagQuery>),
    /// All queries are true. With an empty list, the result is true.
    All(Vec<TagQuery>),
    /// No query is true. With an empty list, the result is true.
    None(Vec<TagQuery>),
}

impl TagQuery {
    /// Calls `visit` with each tag that the query tests.
    pub(crate) fn each_tag(&self, visit: &mut dyn FnMut(TagId)) {
        match self {
            TagQuery::Has(tag) | TagQuery::HasExact(tag) => visit(*tag),
            TagQuery::Any(list) | TagQuery::All(list) | TagQuery::None(list) => {
                list.iter().for_each(|query| query.each_tag(visit));
            }
        }
    }

    /// Parses a query such as `A & (B | !C)`. The error names the column of an unknown tag or a syntax error.
    pub fn parse(text: &str, rules: &super::Rules) -> Result<TagQuery, String> {
        TagQuery::parse_with(text, &mut |name| {
            let near = || rules.tags.nearest(name).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            rules.find_tag(name).ok_or_else(|| format!("unknown tag {name}{}", near()))
        })
    }

    /// Parses a query with a given tag look-up.
    pub(crate) fn parse_with(
        text: &str,
        tag: &mut dyn FnMut(&str) -> Result<TagId, String>,
    ) -> Result<TagQuery, String> {
        let mut p = QueryParser { text, at: 0, tag };
        let q = p.any()?;
        p.space();
        if p.at < text.len() {
            return Err(format!("column {}: expected &, | or the end, found {:?}", p.at + 1, &text[p.at..]));
        }
        Ok(q)
    }

    /// Evaluates the query. `has` tests whether the tag or a descendant is present. `exact` tests whether the tag
    /// itself is present.
    pub fn eval(&self, has: &dyn Fn(TagId) -> bool, exact: &dyn Fn(TagId) -> bool) -> bool {
        match self {
            TagQuery::Has(t) => has(*t),
            TagQuery::HasExact(t) => exact(*t),
            TagQuery::Any(list) => list.iter().any(|q| q.eval(has, exact)),
            TagQuery::All(list) => list.iter().all(|q| q.eval(has, exact)),
            TagQuery::None(list) => !list.iter().any(|q| q.eval(has, exact)),
        }
    }

    /// Evaluates the query against a list of tags. A tag that the rules do not define has no ancestors.
    pub fn matches(&self, rules: &super::Rules, tags: &[TagId]) -> bool {
        self.eval(&|t| tags.iter().any(|&x| rules.tag_is_under(x, t)), &|t| tags.contains(&t))
    }
}

struct QueryParser<'a> {
    text: &'a str,
    at: usize,
    tag: &'a mut dyn FnMut(&str) -> Result<TagId, String>,
}

/// Maximum depth of brackets.
const MAX_DEPTH: usize = 64;

impl QueryParser<'_> {
    fn space(&mut self) {
        self.at += self.text[self.at..].len() - self.text[self.at..].trim_start().len();
    }

    fn eat(&mut self, c: char) -> bool {
        self.space();
        let hit = self.text[self.at..].starts_with(c);
        if hit {
            // `&&` and `||` are accepted too.
            let doubled = matches!(c, '&' | '|') && self.text[self.at + 1..].starts_with(c);
            self.at += 1 + doubled as usize;
        }
        hit
    }

    fn any(&mut self) -> Result<TagQuery, String> {
        self.any_at(0)
    }

    fn any_at(&mut self, depth: usize) -> Result<TagQuery, String> {
        let mut list = vec![self.all_at(depth)?];
        while self.eat('|') {
            list.push(self.all_at(depth)?);
        }
        Ok(if list.len() == 1 { list.remove(0) } else { TagQuery::Any(list) })
    }

    fn all_at(&mut self, depth: usize) -> Result<TagQuery, String> {
        let mut list = vec![self.one_at(depth)?];
        while self.eat('&') {
            list.push(self.one_at(depth)?);
        }
        Ok(if list.len() == 1 { list.remove(0) } else { TagQuery::All(list) })
    }

    fn one_at(&mut self, depth: usize) -> Result<TagQuery, String> {
        if depth > MAX_DEPTH {
            return Err(format!("column {}: brackets nest deeper than {MAX_DEPTH}; simplify the query", self.at + 1));
        }
        if self.eat('!') {
            return Ok(TagQuery::None(vec![self.one_at(depth + 1)?]));
        }
        if self.eat('(') {
            let q = self.any_at(depth + 1)?;
            if !self.eat(')') {
                let rest = &self.text[self.at..];
                let found = if rest.is_empty() { "the end".to_owned() } else { format!("{rest:?}") };
                return Err(format!("column {}: expected ), found {found}", self.at + 1));
            }
            return Ok(q);
        }
        self.space();
        let rest = &self.text[self.at..];
        let len = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
        let name = &rest[..len];
        if tag_segments(name).is_none() {
            let found = if rest.is_empty() { "the end".to_owned() } else { format!("{rest:?}") };
            return Err(format!("column {}: expected a tag, ! or (, found {found}", self.at + 1));
        }
        let column = self.at + 1;
        self.at += len;
        (self.tag)(name).map(TagQuery::Has).map_err(|why| format!("column {column}: {why}"))
    }
}

/// A stand-alone set of tags, for hosts and tools. The tags of a controller are read through the sim.
///
/// ```
/// use ugas_core::{TagId, TagSet};
/// let a: TagSet = [TagId(1), TagId(2)].into_iter().collect();
/// let b: TagSet = [TagId(2), TagId(3)].into_iter().collect();
/// assert!(a.overlaps(&b));
/// assert_eq!(a.intersection(&b).iter().count(), 1);
/// assert_eq!(a.union(&b).iter().count(), 3);
/// assert!(a.is_subset(&a.union(&b)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagSet(Vec<TagId>);

impl TagSet {
    /// Returns whether the set contains exactly this tag.
    pub fn contains(&self, tag: TagId) -> bool {
        self.0.binary_search(&tag).is_ok()
    }
    /// Returns whether every tag of this tag set is in the other tag set.
    pub fn is_subset(&self, other: &TagSet) -> bool {
        self.0.iter().all(|&t| other.contains(t))
    }
    /// Returns whether the tag sets have a tag in common.
    pub fn overlaps(&self, other: &TagSet) -> bool {
        self.0.iter().any(|&t| other.contains(t))
    }
    /// Returns the tags that are in both sets.
    pub fn intersection(&self, other: &TagSet) -> TagSet {
        TagSet(self.0.iter().copied().filter(|&t| other.contains(t)).collect())
    }
    /// Returns the tags that are in at least one of the two sets.
    pub fn union(&self, other: &TagSet) -> TagSet {
        self.iter().chain(other.iter()).collect()
    }
    /// Iterates over the tags in id order.
    pub fn iter(&self) -> impl Iterator<Item = TagId> {
        self.0.iter().copied()
    }
    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<TagId> for TagSet {
    fn from_iter<I: IntoIterator<Item = TagId>>(tags: I) -> TagSet {
        let mut list: Vec<TagId> = tags.into_iter().collect();
        list.sort();
        list.dedup();
        TagSet(list)
    }
}
