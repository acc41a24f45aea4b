//! New rules of the server: the client migrates its sim, keeps the actors that it shows, and drops everything that was
//! recorded under the old rules. Afterwards the server sends complete states.

use super::facts::Certainty;
use super::local::LocalAbilities;
use super::visible::{VisibleState, plain};
use super::{Client, ClientState};
use crate::mask::hidden_from_owners;
use crate::message::{Denial, ToServer, encode};
use crate::reload::{IncomingRules, RulesPart};
use std::sync::Arc;
use ugas_core::{ControllerId, FactKind, Rules};

/// The maximum number of bytes of new rules that a client accepts from a server.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The minimum number of bytes that each message counts toward [`MAX_BYTES`], so that a server cannot send an unlimited
/// number of small reloads.
const MIN_BYTES: usize = 4 * 1024;

impl Client {
    /// Receives a part of the server's new rules; the last part applies them.
    pub(super) fn receive_rules(&mut self, fingerprint: u64, parts: Vec<RulesPart>, is_last: bool) {
        if self.state != ClientState::Playing {
            self.counts.malformed += 1;
            return;
        }
        let length = |part: &RulesPart| match part {
            RulesPart::Keep { .. } => 8,
            RulesPart::Document(text) => text.len(),
        };
        self.rules_bytes = self.rules_bytes.saturating_add(parts.iter().map(length).sum::<usize>().max(MIN_BYTES));
        let old = self.sim.rules().clone();
        if self.rules_bytes > MAX_BYTES || self.incoming_rules.add(&old, parts).is_err() {
            return self.reject_rules(fingerprint);
        }
        if is_last {
            match self.incoming_rules.build(&old, fingerprint).filter(|rules| self.apply_rules(rules)) {
                Some(_) => self.report_rules(),
                None => self.reject_rules(fingerprint),
            }
        }
    }

    /// Migrates to new rules. Returns whether this was possible.
    fn apply_rules(&mut self, rules: &Arc<Rules>) -> bool {
        self.emit_pending();
        let old = self.sim.rules().fingerprint();
        let shown: Vec<ControllerId> = self.owned.clone();
        let before: Vec<VisibleState> = shown.iter().map(|&who| VisibleState::of(&self.sim, who)).collect();
        let remote: Vec<ControllerId> =
            self.proxies.iter().map(|p| p.who()).filter(|who| !shown.contains(who)).collect();
        let held: Vec<_> = remote.into_iter().map(|who| (who, self.held_capabilities(who))).collect();
        if self.sim.reload(rules.clone()).is_err() {
            return false;
        }
        self.pending_facts.resolve_all(&mut self.out);
        // The comparison below reports what the migration changed.
        self.sim.take_facts(&mut self.facts);
        let kind = FactKind::Reloaded { from: old, to: rules.fingerprint() };
        self.out.push(plain(self.sim.now(), ControllerId::NONE, kind), None, Certainty::Server);
        for before in before {
            let now = VisibleState::of(&self.sim, before.who());
            before.compare(&now, &[], self.sim.now(), &mut self.out);
        }
        for (who, held) in held {
            self.report_held_capabilities(who, &held);
        }
        let hidden = hidden_from_owners(rules);
        self.rows.iter_mut().for_each(|row| row.restart(&hidden));
        self.pending_facts.set_hidden(hidden);
        self.proxies.reload(rules.clone());
        self.touched.clear();
        self.local = LocalAbilities::default();
        true
    }

    /// Ends the session, because the client cannot use the server's rules.
    fn reject_rules(&mut self, fingerprint: u64) {
        self.incoming_rules = IncomingRules::default();
        self.report_rules();
        let client = self.sim.rules().fingerprint();
        self.state = ClientState::Denied(Denial::Rules { server: fingerprint, client });
    }

    /// Reports the hash of the client's rules to the server.
    fn report_rules(&mut self) {
        let report = ToServer::Rules { rules: self.sim.rules().fingerprint() };
        if self.carrier.push(&encode(&report)).is_err() {
            self.counts.malformed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Harness;
    use crate::link::LinkProfile;
    use crate::message::ToClient;
    use crate::server::{Secret, Server, ServerConfig};
    use crate::types::Tick;
    use ugas_core::{Sim, SimConfig, SpawnSpec};
    use ugas_doc::{Attribute, AttributeSet, Effect};

    fn joined() -> (Harness, ControllerId) {
        let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0));
        let rules = Rules::builder().add(set).add(Effect::instant("GE").add("Health", -1.0)).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
        net.join("Ana", LinkProfile::round_trip(20, 0), &[who]).unwrap();
        net.run(60);
        (net, who)
    }

    fn rules(documents: Vec<RulesPart>) -> ToClient {
        ToClient::Rules { rules: 5, documents, is_last: true }
    }

    #[test]
    fn invalid_rules_end_the_session_and_change_nothing() {
        let text = |text: &str| RulesPart::Document(text.to_owned());
        let keep = |first, count| RulesPart::Keep { first, count };
        let cases = [
            vec![],
            vec![keep(0, 2)],
            vec![keep(0, 3)],
            vec![keep(u32::MAX, u32::MAX)],
            vec![keep(0, 2), keep(0, 2)],
            (0..40_000).map(|_| keep(0, 2)).collect(),
            vec![text("{}")],
            vec![text(&"[".repeat(100_000))],
            vec![keep(0, 2), text("\u{0}")],
        ];
        for documents in cases {
            let (mut net, who) = joined();
            let ana = net.client_mut("Ana");
            let (before, hash) = (ana.sim.rules().fingerprint(), ana.sim.row_hash(who).unwrap());
            ana.receive_message(rules(documents.clone()), Tick(1));
            let denial = Denial::Rules { server: 5, client: before };
            assert_eq!(ana.state, ClientState::Denied(denial.clone()), "{} parts", documents.len());
            assert_eq!((ana.sim.rules().fingerprint(), ana.sim.row_hash(who).unwrap()), (before, hash));
            assert!(ana.incoming_rules.is_empty());
            net.run(30);
            // The server asked for nothing, so it rejects the report and keeps the client.
            assert_eq!(net.server().denied().count(), 0);
            assert!(net.server().counts().of(crate::authority::RejectReason::Message) > 0);
        }
    }

    #[test]
    fn a_server_cannot_send_rules_without_end() {
        let (mut net, _) = joined();
        let ana = net.client_mut("Ana");
        let mut accepted = 0;
        while ana.state == ClientState::Playing {
            let documents = vec![RulesPart::Keep { first: 0, count: 1 }];
            ana.receive_message(ToClient::Rules { rules: 5, documents, is_last: false }, Tick(1));
            accepted += 1;
            assert!(accepted <= MAX_BYTES / MIN_BYTES + 1, "the client accepts any number of messages");
        }
        assert!(accepted > 1000);
    }
}
