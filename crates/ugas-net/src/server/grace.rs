//! The grace before the end of a cooldown ([`ServerConfig::grace`](super::ServerConfig::grace)): which commands the server
//! keeps until that end, and the clients that use the grace too often.
//!
//! A kept command runs as of the end of the cooldown, so two uses are never closer than the cooldown. While a command is
//! kept, later commands of its client wait, so that commands run in order. Moves do not wait.

use super::Server;
use crate::message::{Command, Request};
use crate::types::{PeerId, Tick};
use ugas_core::{SimTime, Which};

/// The number of latest uses that are compared with [`REPORTED_USES`].
const WINDOW: u32 = 20;
/// The number of uses inside the grace, of the last [`WINDOW`], from which a client is reported.
const REPORTED_USES: u32 = 10;
/// The maximum number of reports that wait for the host.
const MAX_REPORTS: usize = 256;

/// The report that a client often uses abilities inside the grace before the end of a cooldown, which an unmodified
/// client rarely does. See [`Server::take_reports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraceReport {
    /// The client.
    pub peer: PeerId,
    /// The tick of the report.
    pub tick: Tick,
    /// How many of the latest uses were inside the grace.
    pub inside: u32,
    /// The number of latest uses, at most 20.
    pub uses: u32,
}

/// A command that the server keeps until the end of a cooldown.
#[derive(Clone, Debug)]
pub(crate) struct KeptCommand {
    pub(crate) command: Command,
    /// The end of the cooldown.
    pub(crate) until: SimTime,
}

/// Which of a client's last uses were inside the grace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GraceMeter {
    /// One bit per use, the latest use in the lowest bit.
    inside: u32,
    uses: u32,
    is_reported: bool,
}

impl GraceMeter {
    /// Records a use. Returns the number of uses inside the grace and of all uses, if they must be reported. A client is
    /// reported once until the number falls below the limit.
    pub(crate) fn record(&mut self, is_inside: bool) -> Option<(u32, u32)> {
        self.inside = (self.inside << 1 | u32::from(is_inside)) & ((1 << WINDOW) - 1);
        self.uses = (self.uses + 1).min(WINDOW);
        let count = self.inside.count_ones();
        let was_reported = std::mem::replace(&mut self.is_reported, count >= REPORTED_USES);
        (self.is_reported && !was_reported).then_some((count, self.uses))
    }
}

impl Server {
    /// Returns the grace of a client now.
    pub(super) fn grace_for(&self, id: PeerId) -> SimTime {
        let round_trip = self.peers.get(&id).and_then(|p| p.carrier.round_trip());
        self.config.grace_of(round_trip.unwrap_or(SimTime::ZERO))
    }

    /// Returns the end of the cooldowns that refuse a request now, if the request is inside the grace before that end.
    pub(super) fn grace_end(&self, id: PeerId, request: &Request, claimed: SimTime) -> Option<SimTime> {
        let grace = self.grace_for(id);
        if grace <= SimTime::ZERO {
            return None;
        }
        let (who, which, target) = match *request {
            Request::Activate { who, ability, target } => (who, Which::Ability(ability), target),
            Request::Press { who, input, target } => (who, Which::Input(input), target),
            Request::Release { .. }
            | Request::Axis { .. }
            | Request::LetGo { .. }
            | Request::Cancel { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. } => return None,
        };
        let end = self.sim.remote().cooldowns_end(who, which, target)?;
        (end - claimed.min(self.sim.now()) <= grace).then_some(end)
    }

    /// Records a use of a client, and reports the client if too many of its uses are inside the grace. The report also
    /// raises the anomaly score of the client to the suggested threshold.
    pub(super) fn record_use(&mut self, id: PeerId, is_inside: bool) {
        let now = self.tick.time(self.config.tick_length);
        let Some(p) = self.peers.get_mut(&id) else { return };
        let Some((inside, uses)) = p.grace_meter.record(is_inside) else { return };
        p.anomalies.record_report(now);
        if self.reports.len() >= MAX_REPORTS {
            self.reports.remove(0);
        }
        self.reports.push(GraceReport { peer: id, tick: self.tick, inside, uses });
    }

    /// Replaces the content of `into` with the reports since the last call. A client is reported when 10 of its last 20
    /// uses of abilities were inside the grace before the end of a cooldown
    /// ([`ServerConfig::grace`](super::ServerConfig::grace)), and again only after the number fell below 10. The server
    /// keeps the last 256 reports. A report also raises the [anomaly score](Server::anomaly) of the client.
    ///
    /// ```
    /// use ugas_core::{Rules, Sim, SimConfig};
    /// use ugas_net::server::{Secret, Server, ServerConfig};
    /// let rules = Rules::builder().build()?;
    /// let config = ServerConfig { grace: 0.2, ..ServerConfig::default() };
    /// let mut server = Server::new(Sim::new(rules, SimConfig::default()), config, Secret::known(1));
    /// let mut reports = Vec::new();
    /// server.take_reports(&mut reports);
    /// assert!(reports.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_reports(&mut self, into: &mut Vec<GraceReport>) {
        into.clear();
        std::mem::swap(&mut self.reports, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_the_last_twenty_uses_are_reported_once() {
        let mut meter = GraceMeter::default();
        let reports: Vec<_> = (0..40).filter_map(|_| meter.record(true)).collect();
        assert_eq!(reports, [(10, 10)]);
        // Every other use, which keeps the number at the limit.
        assert!((0..40).all(|n| meter.record(n % 2 == 0).is_none()));
        assert!((0..20).all(|_| meter.record(false).is_none()));
        let reports: Vec<_> = (0..30).filter_map(|n| meter.record(n % 2 == 0)).collect();
        assert_eq!(reports, [(10, 20)], "again after the number fell");
        let mut honest = GraceMeter::default();
        assert!((0..200).all(|n| honest.record(n % 20 < 9).is_none()));
    }
}
