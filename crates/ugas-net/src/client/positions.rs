//! Positions of remote actors. Positions are sent separately from other state and arrive more often. The sim has the
//! newest position, which range checks use; rendering uses an interpolated position.

use super::Client;
use crate::types::Tick;
use crate::view::{Pose, Track, read_next};
use crate::wire::bits::{BitReader, WireError};
use std::collections::BTreeMap;
use ugas_core::{Anchor, ControllerId, SimTime};

/// The latest positions of remote actors.
#[derive(Clone, Debug, Default)]
pub(super) struct RemotePositions {
    tracks: BTreeMap<ControllerId, Track>,
    /// By how much the client's clock is ahead of the newest received tick, smoothed.
    lead: Option<SimTime>,
}

impl RemotePositions {
    /// Returns the newest received position.
    pub(super) fn newest(&self, who: ControllerId) -> Option<Anchor> {
        self.tracks.get(&who)?.last().map(|(_, pose)| pose.anchor())
    }

    /// Returns whether the positions of an actor are not kept, because there are too many actors.
    fn is_full(&self, who: ControllerId, most: usize) -> bool {
        self.tracks.len() >= most && !self.tracks.contains_key(&who)
    }

    /// Returns the position received for exactly this time.
    fn sample(&self, who: ControllerId, at: SimTime) -> Option<Pose> {
        self.tracks.get(&who)?.sample(at)
    }

    /// Removes an actor.
    pub(super) fn remove(&mut self, who: ControllerId) {
        self.tracks.remove(&who);
    }

    /// Updates the lead with a packet: the client's time at its arrival and the time of its tick.
    pub(super) fn packet_arrived(&mut self, now: SimTime, tick: SimTime) {
        let lead = now - tick;
        self.lead = Some(self.lead.map_or(lead, |old| SimTime(old.0 + (lead.0 - old.0) / 16)));
    }

    fn push(&mut self, who: ControllerId, at: SimTime, pose: Pose, most: usize) {
        if !self.is_full(who, most) {
            self.tracks.entry(who).or_default().push(at, pose);
        }
    }
}

impl Client {
    /// Returns the time of the state in which remote actors are rendered. This time is before the newest received
    /// state, so that positions can be interpolated.
    pub fn render_time(&self) -> SimTime {
        self.sim.now() - self.positions.lead.unwrap_or(SimTime::ZERO) - self.config.interpolation_delay
    }

    /// Returns the anchor at which to render a controller: the predicted anchor of an owned controller, or the
    /// interpolated anchor of a remote actor.
    pub fn render_anchor(&self, who: ControllerId) -> Option<Anchor> {
        match self.owned.contains(&who) {
            true => self.sim.anchor(who).ok().flatten(),
            false => self.positions.tracks.get(&who)?.at(self.render_time()),
        }
    }

    /// Reads the positions in a packet.
    pub(super) fn read_positions(&mut self, tick: Tick, from: &mut BitReader) -> Result<(), WireError> {
        let (mut last, at) = (None, tick.time(self.length));
        while let Some(who) = read_next(from, &mut last)? {
            let baseline = |back: u32| self.positions.sample(who, tick.minus(back).time(self.length));
            let Some(pose) = Pose::get(from, baseline)? else {
                if self.positions.is_full(who, self.config.max_proxies) {
                    continue;
                }
                // The request that follows makes the server send the whole position.
                return Err(WireError::BadValue { what: "the baseline of a position" });
            };
            self.positions.push(who, at, pose, self.config.max_proxies);
            if !self.owned.contains(&who) {
                // An actor whose state has not arrived gets its position together with the state.
                let _ = self.sim.remote_mut().move_proxy(who, self.positions.newest(who));
            }
        }
        Ok(())
    }

    /// Counts a malformed packet and requests the state of all remote actors again, since the server counts the packet
    /// as received.
    pub(super) fn request_resync(&mut self) {
        self.counts.malformed += 1;
        self.request_all();
    }

    /// Requests the state of all remote actors again.
    pub(super) fn request_all(&mut self) {
        // One request at a time: the answer contains everything.
        if self.carrier.is_idle() {
            // An idle queue accepts the message.
            let _ = self.carrier.push(&super::encode(&super::ToServer::Resync));
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
    fn a_client_that_cannot_read_updates_requests_a_resync_once_and_receives_everything() {
        let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0));
        let rules = Rules::builder().add(set).add(Effect::instant("GE_Hit").add("Health", -1.0)).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let spawn = || SpawnSpec::sets([rules.set("S").unwrap()]);
        let (hero, foe, still) =
            (sim.spawn(spawn()).unwrap(), sim.spawn(spawn()).unwrap(), sim.spawn(spawn()).unwrap());
        let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
        let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
        net.join("Ana", LinkProfile::GOOD, &[hero]).unwrap();
        net.run(60);
        assert_eq!(net.client("Ana").proxies().len(), 2);
        let length = net.server().tick_length();
        net.client_mut("Ana").proxies = Proxies::new(rules.clone(), length);
        let hit = rules.effect("GE_Hit").unwrap();
        for _ in 0..60 {
            net.server_mut().sim_mut().run(Op::Apply(Spec::new(hit, foe))).unwrap();
            net.step();
        }
        net.run(30);
        let (ana, health) = (net.client("Ana"), rules.attribute("Health").unwrap());
        assert!(ana.counts().malformed > 0);
        assert_eq!(ana.proxies().get(foe).unwrap().value(health), Some(40.0));
        assert_eq!(ana.proxies().get(still).unwrap().value(health), Some(100.0), "the unchanged actor is resent too");
        assert_eq!(net.server().counts().iter().count(), 0);
    }
}
