//! New rules while clients are connected. Each client gets the new rules as documents and reports the hash of the rules
//! that it then has. Until its report arrives, it gets no states. A client that cannot use the new rules is denied.

use super::Server;
use super::owner::Owned;
use super::peer::{Peer, Phase};
use crate::authority::RejectReason;
use crate::mask::hidden_from_owners;
use crate::message::{Denial, ToClient, encode};
use crate::reload::messages;
use crate::types::PeerId;
use std::sync::Arc;
use ugas_core::{Migration, ReloadError, Rules};

/// The maximum number of earlier versions of the rules that are kept. A client that joins with one of them gets the
/// current rules.
const MAX_EARLIER: usize = 8;

impl Server {
    /// Migrates the sim to new rules, as [`Sim::reload`](ugas_core::Sim::reload) does, and with the next tick the
    /// session and its clients. If the reload is refused, nothing changes.
    ///
    /// Connected clients get the changed documents in the reliable stream. A client builds the same rules from its own
    /// documents and host code, and applies them between two ticks. Then it gets its complete state. A client is denied
    /// with [`Denial::Rules`] if the hash of its new rules differs from the server's, for example because its host code
    /// differs, or if the messages with the changed documents have more than 96 KiB. Up to eight earlier versions of
    /// the rules are kept: a client that connects with one of them gets the current rules in the same way.
    ///
    /// If the rules of the sim are changed through [`Server::sim_mut`], the next tick does the same.
    ///
    /// ```
    /// use ugas_core::{NoHost, Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet};
    /// use ugas_net::server::{Secret, Server, ServerConfig};
    /// let vitals = |most| AttributeSet::new("Vitals").with(Attribute::new("Health", most));
    /// let rules = Rules::builder().add(vitals(100.0)).build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// let mut server = Server::new(sim, ServerConfig::default(), Secret::known(1));
    /// server.reload(Rules::builder().after(rules.clone()).add(vitals(150.0)).build()?)?;
    /// assert_eq!(server.sim().get(hero, rules.attribute("Health").unwrap())?, 150.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reload(&mut self, rules: Arc<Rules>) -> Result<Migration, ReloadError> {
        // The clients get every version: the ids of new names depend on the versions before.
        self.follow_rules();
        self.sim.reload(rules)
    }

    /// Returns whether the session follows the rules of the sim.
    pub(super) fn has_current_rules(&self) -> bool {
        Arc::ptr_eq(&self.rules, self.sim.rules())
    }

    /// Migrates the session to the rules of the sim, if they changed since the last tick.
    pub(super) fn follow_rules(&mut self) {
        if self.has_current_rules() {
            return;
        }
        let old = std::mem::replace(&mut self.rules, self.sim.rules().clone());
        if old.fingerprint() == self.rules.fingerprint() {
            return;
        }
        self.hidden = hidden_from_owners(&self.rules);
        self.store.reload(&self.sim, self.tick);
        let update = messages(&old, &self.rules);
        for p in self.peers.values_mut().filter(|p| p.phase == Phase::Playing) {
            p.send_rules(update.as_deref(), &old, &self.rules);
        }
        if self.earlier_rules.len() >= MAX_EARLIER {
            self.earlier_rules.pop_front();
        }
        self.earlier_rules.push_back(old);
    }

    /// Sends the current rules to a client that joined with earlier ones, and all versions in between: the ids of new
    /// names depend on the versions before.
    pub(super) fn send_rules_after(&mut self, peer: PeerId, fingerprint: u64) {
        let Server { earlier_rules, rules, peers, .. } = self;
        let first = earlier_rules.iter().rposition(|rules| rules.fingerprint() == fingerprint);
        let (Some(first), Some(p)) = (first, peers.get_mut(&peer)) else { return };
        let versions: Vec<&Arc<Rules>> = earlier_rules.iter().skip(first).chain([&*rules]).collect();
        for pair in versions.windows(2).filter(|pair| pair[0].fingerprint() != pair[1].fingerprint()) {
            if p.phase == Phase::Playing {
                p.send_rules(messages(pair[0], pair[1]).as_deref(), pair[0], pair[1]);
            }
        }
    }

    /// Receives the report of a client about the rules that it has.
    pub(super) fn receive_rules(&mut self, peer: PeerId, fingerprint: u64) {
        let Some(p) = self.peers.get_mut(&peer) else { return };
        let Some(awaited) = p.awaited_rules.pop_front() else {
            return self.count_rejection(peer, RejectReason::Message);
        };
        if fingerprint != awaited {
            p.deny(Denial::Rules { server: awaited, client: fingerprint });
        } else if p.awaited_rules.is_empty() {
            // The client dropped its baselines with the old rules.
            p.rows.iter_mut().for_each(|row| *row = Owned::new(row.who));
        }
    }
}

impl Peer {
    /// Queues the messages with new rules, or denies the client if there are none.
    fn send_rules(&mut self, update: Option<&[Vec<u8>]>, old: &Rules, new: &Rules) {
        let (client, server) = (old.fingerprint(), new.fingerprint());
        let is_queued = update.is_some_and(|list| list.iter().all(|message| self.carrier.push(message).is_ok()));
        match is_queued {
            true => self.awaited_rules.push_back(server),
            false => self.deny(Denial::Rules { server, client }),
        }
    }

    /// Denies a client that has joined.
    fn deny(&mut self, denial: Denial) {
        // A full stream belongs to a client that never acknowledges; it gets no states either.
        let _ = self.carrier.push(&encode(&ToClient::Denied(denial.clone())));
        self.phase = Phase::Denied(denial);
    }
}
