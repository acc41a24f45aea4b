//! All proxies of a client, by rising id.

use super::Shapes;
use super::code::Cx;
use super::proxy::{ProxyChange, ShapeHistory, ChangeSink, Proxy, get_head};
use crate::types::Tick;
use crate::wire::bits::{BitReader, WireError};
use std::collections::BTreeMap;
use std::sync::Arc;
use ugas_core::{ControllerId, Rules, SimTime};

/// How many proxies that went are remembered, so that packets that were overtaken can still be read.
const GRAVES: usize = 256;

/// How many of those that found no place are remembered, so that what is told of them can be read past.
const CROWD: usize = 16_384;

/// The controllers a client is told of.
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
    /// Those that went, oldest first.
    graves: Vec<RemovedProxy>,
    /// The most there may be.
    most: usize,
    /// Those that found no place, with the shapes needed to read past them.
    crowd: BTreeMap<ControllerId, ShapeHistory>,
    refused: u64,
    places: Vec<usize>,
}

/// A proxy that went.
#[derive(Clone, Debug)]
struct RemovedProxy {
    who: ControllerId,
    /// What is not later than this is about what went.
    at: Tick,
    /// Empty if it went before anything was heard of it.
    history: ShapeHistory,
}

impl Proxies {
    /// None yet, for ticks of this length.
    pub fn new(rules: Arc<Rules>, length: SimTime) -> Proxies {
        Proxies {
            shapes: Shapes::new(rules),
            length,
            list: Vec::new(),
            graves: Vec::new(),
            most: usize::MAX,
            crowd: BTreeMap::new(),
            refused: 0,
            places: Vec::new(),
        }
    }

    /// With a limit to how many there are. Those who come when there is no place are read past and counted.
    pub fn at_most(mut self, most: usize) -> Proxies {
        self.most = most;
        self
    }

    /// How many sections were read past because there was no place for another proxy.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Whether somebody found no place, and now there are many.
    pub fn has_free_slots(&self) -> bool {
        !self.crowd.is_empty() && self.list.len() + self.most / 8 < self.most
    }

    /// One of them.
    pub fn get(&self, who: ControllerId) -> Option<&Proxy> {
        self.list.get(self.find(who).ok()?)
    }

    /// One of them, to foresee its bursts.
    pub fn get_mut(&mut self, who: ControllerId) -> Option<&mut Proxy> {
        let at = self.find(who).ok()?;
        self.list.get_mut(at)
    }

    /// All of them, by rising id.
    pub fn iter(&self) -> impl Iterator<Item = &Proxy> {
        self.list.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn find(&self, who: ControllerId) -> Result<usize, usize> {
        self.list.binary_search_by_key(&who, Proxy::who)
    }

    /// A controller is gone or out of sight since a tick. News of that tick and before are about what went.
    pub fn remove(&mut self, who: ControllerId, at: Tick) {
        self.crowd.remove(&who);
        let history = match self.find(who) {
            // It was told everything later: it is back already.
            Ok(place) if self.list[place].told() > at => return,
            Ok(place) => self.list.remove(place).into_history(),
            // What it was told may still be under way.
            Err(_) => ShapeHistory::default(),
        };
        if self.graves.len() >= GRAVES {
            self.graves.remove(0);
        }
        self.graves.push(RemovedProxy { who, at, history });
    }

    /// Reads the section of one controller, of this tick; what changed is added to the list. A section about somebody
    /// unknown is read past if he went lately, and else cannot be read: then neither can the rest of its packet, and the
    /// session asks for everything anew. After an error some of the section may have been taken over.
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
            tick,
            length: self.length,
        };
        let mut news = ChangeSink { changes, places: &mut self.places };
        let found = self.list.binary_search_by_key(&who, Proxy::who);
        if let Ok(at) = found {
            return match all {
                Some(shape) => self.list[at].read_all(from, &cx, shape, &mut news),
                None => self.list[at].read(from, &cx, parts, &mut news),
            };
        }
        let grave = self.graves.iter().rev().find(|g| g.who == who);
        let history = grave.map(|g| &g.history).or(self.crowd.get(&who)).cloned().unwrap_or_default();
        let (Some(shape), Err(at)) = (all, found) else {
            let unknown = WireError::BadValue { what: "an actor nothing is known of" };
            let shape = history.newest().ok_or(unknown)?;
            let mut unseen = ChangeSink { changes: &mut Vec::new(), places: news.places };
            return Proxy::new(who, shape, history).read(from, &cx, parts, &mut unseen);
        };
        let mut proxy = Proxy::new(who, shape.clone(), history);
        if grave.is_some_and(|g| tick <= g.at) {
            let mut unseen = ChangeSink { changes: &mut Vec::new(), places: news.places };
            return proxy.read_all(from, &cx, shape, &mut unseen);
        }
        if self.list.len() >= self.most {
            let mut unseen = ChangeSink { changes: &mut Vec::new(), places: news.places };
            proxy.read_all(from, &cx, shape, &mut unseen)?;
            self.refused += 1;
            if self.crowd.len() < CROWD || self.crowd.contains_key(&who) {
                self.crowd.insert(who, proxy.into_history());
            }
            return Ok(());
        }
        proxy.read_all(from, &cx, shape, &mut news)?;
        self.list.insert(at, proxy);
        self.crowd.remove(&who);
        Ok(())
    }
}
