//! Where others stand. Places come by a channel of their own, more often than anything else; the sim is given the newest,
//! since that is what reaches and ranges are judged by, and who draws is given the way between the samples.

use super::Client;
use crate::types::Tick;
use crate::view::{Pose, Track, read_next};
use crate::wire::bits::{BitReader, WireError};
use std::collections::BTreeMap;
use ugas_core::{Anchor, ControllerId, SimTime};

/// Where others stood lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    tracks: BTreeMap<ControllerId, Track>,
    /// By how much the client's clock is ahead of the newest tick it heard of, smoothed.
    lead: Option<SimTime>,
}

impl Places {
    /// The newest place heard of.
    pub(super) fn newest(&self, who: ControllerId) -> Option<Anchor> {
        self.tracks.get(&who)?.last().map(|(_, pose)| pose.anchor())
    }

    /// It is out of sight.
    pub(super) fn forget(&mut self, who: ControllerId) {
        self.tracks.remove(&who);
    }

    /// A packet of a tick came while the client was at a time.
    pub(super) fn hear(&mut self, now: SimTime, tick: SimTime) {
        let lead = now - tick;
        self.lead = Some(self.lead.map_or(lead, |old| SimTime(old.0 + (lead.0 - old.0) / 16)));
    }

    fn push(&mut self, who: ControllerId, at: SimTime, pose: Pose, most: usize) {
        if self.tracks.len() < most || self.tracks.contains_key(&who) {
            self.tracks.entry(who).or_default().push(at, pose);
        }
    }
}

impl Client {
    /// The time others are shown at: a little before the newest news, so that there is a place before and one after.
    pub fn shown_at(&self) -> SimTime {
        self.sim.now() - self.places.lead.unwrap_or(SimTime::ZERO) - self.config.interpolation
    }

    /// Where to show a controller: an own one where it was played to, another between the last places heard of.
    pub fn place(&self, who: ControllerId) -> Option<Anchor> {
        match self.owned.contains(&who) {
            true => self.sim.anchor(who).ok().flatten(),
            false => self.places.tracks.get(&who)?.at(self.shown_at()),
        }
    }

    /// Reads the places in a packet.
    pub(super) fn read_places(&mut self, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        let (mut last, at) = (None, tick.time(self.length));
        while let Some(who) = read_next(from, &mut last)? {
            self.places.push(who, at, Pose::get(from)?, self.config.proxies);
            if !self.owned.contains(&who) {
                // One of which nothing else is known yet is placed when it is shown.
                let _ = self.sim.remote_mut().move_proxy(who, self.places.newest(who));
            }
        }
        Ok(())
    }

    /// Something could not be read, and what else was in the packet is lost though the server counts it as heard.
    pub(super) fn ask_again(&mut self) {
        self.counts.damaged += 1;
        self.ask_for_all();
    }

    /// Everything about others is wanted anew.
    pub(super) fn ask_for_all(&mut self) {
        // One question at a time: it is answered with everything.
        if self.carrier.is_idle() {
            // A queue that is idle takes it.
            let _ = self.carrier.push(&super::encode(&super::ToServer::Again));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::Harness;
    use crate::link::LinkProfile;
    use crate::server::{Secret, Server, ServerConfig};
    use crate::view::Proxies;
    use ugas_core::{Op, Rules, Sim, SimConfig, SpawnSpec, Spec};
    use ugas_doc::{Attribute, AttributeSet, ControllerReplication, Effect};

    #[test]
    fn a_client_that_lost_its_footing_asks_once_and_is_told_everything() {
        let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0));
        let rules = Rules::builder().add(set).add(Effect::instant("GE_Hit").add("Health", -1.0)).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let spawn = || SpawnSpec::sets([rules.set("S").unwrap()]);
        let (hero, foe, still) =
            (sim.spawn(spawn()).unwrap(), sim.spawn(spawn()).unwrap(), sim.spawn(spawn()).unwrap());
        let config = ServerConfig { mode: ControllerReplication::Full, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
        net.join("Ana", LinkProfile::GOOD, &[hero]).unwrap();
        net.run(60);
        assert_eq!(net.client("Ana").proxies().len(), 2);
        let length = net.server().length();
        net.client_mut("Ana").proxies = Proxies::new(rules.clone(), length);
        let hit = rules.effect("GE_Hit").unwrap();
        for _ in 0..60 {
            net.server_mut().sim_mut().run(Op::Apply(Spec::new(hit, foe))).unwrap();
            net.step();
        }
        net.run(30);
        let (ana, health) = (net.client("Ana"), rules.attribute("Health").unwrap());
        assert!(ana.counts().damaged > 0);
        assert_eq!(ana.proxies().get(foe).unwrap().value(health), Some(40.0));
        assert_eq!(ana.proxies().get(still).unwrap().value(health), Some(100.0), "the one that did not change too");
        assert_eq!(net.server().counts().iter().count(), 0);
    }
}
