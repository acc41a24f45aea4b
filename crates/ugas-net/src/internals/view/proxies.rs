//! All remote actors of a client, sorted by id.

use super::Shapes;
use super::code::Cx;
use super::proxy::{ChangeSink, Proxy, ProxyChange, ShapeHistory, get_head};
use crate::types::Tick;
use crate::wire::bits::{BitReader, WireError};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::{ControllerId, Rules, SimTime};

/// How many removed proxies are kept, so that late packets can be read.
const MAX_REMOVED: usize = 256;

/// How many skipped actors are kept, so that their sections can be skipped.
const MAX_SKIPPED: usize = 16_384;

/// The remote actors of a client.
///
/// ```
/// use ugas_core::{Rules, Sim, SimConfig, SimTime, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication};
/// use ugas_net::types::Tick;
/// use ugas_net::internals::view::{ReplicationStore, ProxyChange, Proxies};
/// use ugas_net::internals::wire::bits::{BitReader, BitWriter};
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
/// let (length, health) = (SimTime::millis(20), rules.attribute("Health").unwrap());
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()]))?;
/// let (mut store, mut out) = (ReplicationStore::new(rules.clone(), length), BitWriter::new());
/// store.add(&sim, who, ControllerReplication::Full, Tick(1))?;
/// store.write(who, Tick(0), &mut out);
///
/// let (mut proxies, mut changes) = (Proxies::new(rules, length), Vec::new());
/// proxies.read(&mut BitReader::new(out.finish()), who, Tick(1), &mut changes)?;
/// assert_eq!(proxies.get(who).unwrap().value(health), Some(9.0));
/// assert_eq!(changes[1].1, ProxyChange::Attribute { attribute: health, old: None, new: 9.0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Proxies {
    shapes: Shapes,
    length: SimTime,
    /// By rising id.
    list: Vec<Proxy>,
    /// Removed proxies, the oldest first.
    removed: Vec<RemovedProxy>,
    /// The maximum number of proxies.
    most: usize,
    /// Skipped actors, with the shapes needed to skip their sections.
    skipped: BTreeMap<ControllerId, ShapeHistory>,
    refused: u64,
    indices: Vec<usize>,
}

/// A removed proxy.
#[derive(Clone, Debug)]
struct RemovedProxy {
    who: ControllerId,
    /// Sections up to this tick belong to the removed actor.
    at: Tick,
    /// The shapes of the actor; empty if it was removed before a section was received.
    history: ShapeHistory,
}

impl Proxies {
    /// Creates an empty list for ticks of this length.
    pub fn new(rules: Arc<Rules>, length: SimTime) -> Proxies {
        Proxies {
            shapes: Shapes::new(rules),
            length,
            list: Vec::new(),
            removed: Vec::new(),
            most: usize::MAX,
            skipped: BTreeMap::new(),
            refused: 0,
            indices: Vec::new(),
        }
    }

    /// Reads sections under new rules. The proxies keep their values until their next full section.
    pub(crate) fn reload(&mut self, rules: Arc<Rules>) {
        self.shapes = Shapes::new(rules);
    }

    /// Limits the number of proxies. Further actors are skipped and counted.
    pub fn at_most(mut self, most: usize) -> Proxies {
        self.most = most;
        self
    }

    /// Returns how many sections were skipped because the maximum number of proxies was reached.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns whether actors were skipped and more than an eighth of the slots is free now.
    pub fn has_free_slots(&self) -> bool {
        !self.skipped.is_empty() && self.list.len() + self.most / 8 < self.most
    }

    /// Returns a proxy.
    pub fn get(&self, who: ControllerId) -> Option<&Proxy> {
        self.list.get(self.find(who).ok()?)
    }

    /// Returns a mutable reference to a proxy, to record predicted bursts.
    pub fn get_mut(&mut self, who: ControllerId) -> Option<&mut Proxy> {
        let at = self.find(who).ok()?;
        self.list.get_mut(at)
    }

    /// Returns all proxies, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = &Proxy> {
        self.list.iter()
    }

    /// Returns the number of proxies.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are no proxies.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn find(&self, who: ControllerId) -> Result<usize, usize> {
        self.list.binary_search_by_key(&who, Proxy::who)
    }

    /// Removes a proxy at a tick. Sections up to that tick belong to the removed actor.
    pub fn remove(&mut self, who: ControllerId, at: Tick) {
        self.skipped.remove(&who);
        let history = match self.find(who) {
            // A later full section arrived: the actor has returned already.
            Ok(position) if self.list[position].full_tick() > at => return,
            Ok(position) => self.list.remove(position).into_history(),
            // Its sections may still be in flight.
            Err(_) => ShapeHistory::default(),
        };
        if self.removed.len() >= MAX_REMOVED {
            self.removed.remove(0);
        }
        self.removed.push(RemovedProxy { who, at, history });
    }

    /// Reads the section of an actor at a tick and appends its changes to `changes`. The section of a recently removed
    /// actor is skipped. A partial section of an unknown actor cannot be read, and neither can the rest of its packet;
    /// the session then requests the state of all remote actors again. After an error part of the section may have been
    /// applied.
    pub fn read(
        &mut self,
        from: &mut BitReader,
        who: ControllerId,
        tick: Tick,
        changes: &mut Vec<(ControllerId, ProxyChange)>,
    ) -> Result<(), WireError> {
        let (parts, all) = get_head(from, &mut self.shapes)?;
        let cx = Cx {
            rules: self.shapes.rules(),
            tag_bits: self.shapes.tag_bits,
            effect_bits: self.shapes.effect_bits,
            has_holdings: self.shapes.has_holdings,
            tick,
            length: self.length,
        };
        let mut sink = ChangeSink { changes, indices: &mut self.indices };
        let found = self.list.binary_search_by_key(&who, Proxy::who);
        if let Ok(at) = found {
            return match all {
                Some(shape) => self.list[at].read_all(from, &cx, shape, &mut sink),
                None => self.list[at].read(from, &cx, parts, &mut sink),
            };
        }
        let removed_proxy = self.removed.iter().rev().find(|g| g.who == who);
        let history = removed_proxy.map(|g| &g.history).or(self.skipped.get(&who)).cloned().unwrap_or_default();
        let (Some(shape), Err(at)) = (all, found) else {
            let unknown = WireError::BadValue { what: "a partial section of an unknown actor" };
            let shape = history.newest().ok_or(unknown)?;
            let mut ignored = ChangeSink { changes: &mut Vec::new(), indices: sink.indices };
            return Proxy::new(who, shape, history).read(from, &cx, parts, &mut ignored);
        };
        let mut proxy = Proxy::new(who, shape.clone(), history);
        if removed_proxy.is_some_and(|g| tick <= g.at) {
            let mut ignored = ChangeSink { changes: &mut Vec::new(), indices: sink.indices };
            return proxy.read_all(from, &cx, shape, &mut ignored);
        }
        if self.list.len() >= self.most {
            let mut ignored = ChangeSink { changes: &mut Vec::new(), indices: sink.indices };
            proxy.read_all(from, &cx, shape, &mut ignored)?;
            self.refused += 1;
            if self.skipped.len() < MAX_SKIPPED || self.skipped.contains_key(&who) {
                self.skipped.insert(who, proxy.into_history());
            }
            return Ok(());
        }
        proxy.read_all(from, &cx, shape, &mut sink)?;
        self.list.insert(at, proxy);
        self.skipped.remove(&who);
        Ok(())
    }
}
