//! Own packets in flight: when they were sent, which fragments they contain, and whether they arrived.
//!
//! A peer rejects a packet whose tick is earlier than the newest tick it received. An ack therefore also shows which
//! packets are lost: all packets of earlier ticks than the acknowledged packet that the ack does not list. Such a loss
//! is known after one round trip, without a timeout. A packet of the same tick that the ack does not list counts as
//! lost after a timeout.

use std::collections::VecDeque;

use ugas_core::SimTime;

use super::PacketNumber;
use super::header::ReceivedPackets;
use super::outbox::Outbox;
use crate::types::Tick;

/// The maximum number of packets in flight; if there are more, the oldest counts as lost.
pub(super) const MAX_PACKETS: usize = 1024;

/// The number of packets over which the loss rate is smoothed.
const LOSS_MEMORY: u32 = 64;
/// The value of `lost` at which every packet is lost.
const LOSS_SCALE: u32 = 64_000_000;

#[derive(Clone, Copy, Debug)]
struct Packet {
    at: SimTime,
    tick: Tick,
    /// Whether the peer acknowledges it at once; only such packets measure the round trip.
    needs_ack: bool,
    fragments: u16,
    /// The index of its first fragment, counted since the start of the connection.
    first_fragment: u64,
    /// Whether it is neither acknowledged nor lost.
    open: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// The number of the first packet in `packets`.
    first: u64,
    packets: VecDeque<Packet>,
    /// The sequence numbers of the fragments of these packets, in order of sending.
    pub(super) fragments: VecDeque<u64>,
    first_fragment: u64,
    newest_arrived: Option<(u64, Tick)>,
    /// The smoothed loss rate, as a part of [`LOSS_SCALE`].
    lost: u32,
    pub(super) results: Vec<(PacketNumber, bool)>,
}

impl Sent {
    /// Returns the number of the next packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Returns number and tick of the newest acknowledged packet.
    pub(super) fn newest_arrived(&self) -> Option<(u64, Tick)> {
        self.newest_arrived
    }

    /// Adds a sent packet, whose fragments are the last ones in `fragments`.
    pub(super) fn push(&mut self, at: SimTime, tick: Tick, needs_ack: bool, fragments: u16, outbox: &mut Outbox) {
        let first_fragment = self.first_fragment + (self.fragments.len() - usize::from(fragments)) as u64;
        self.packets.push_back(Packet { at, tick, needs_ack, fragments, first_fragment, open: true });
        if self.packets.len() > MAX_PACKETS {
            self.close(0, false, outbox);
            self.drop_closed();
        }
    }

    /// Applies an ack of a sent packet. Returns the round trip it measures.
    pub(super) fn on_ack(
        &mut self,
        ack: ReceivedPackets,
        now: SimTime,
        loss_timeout: SimTime,
        outbox: &mut Outbox,
    ) -> Option<SimTime> {
        let index = ack.newest.checked_sub(self.first)? as usize;
        let newest = *self.packets.get(index)?;
        let sample = (newest.open && newest.needs_ack).then(|| now - newest.at);
        self.close(index, true, outbox);
        if self.newest_arrived.is_none_or(|(number, _)| number < ack.newest) {
            self.newest_arrived = Some((ack.newest, newest.tick));
        }
        for (i, back) in (0..index).rev().zip(0u32..) {
            let arrived = back < 32 && ack.mask & (1 << back) != 0;
            let Some(packet) = self.packets.get(i) else { break };
            if arrived || back >= 32 || packet.tick < newest.tick || now - packet.at >= loss_timeout {
                self.close(i, arrived, outbox);
            }
        }
        self.drop_closed();
        sample
    }

    /// Records that a packet arrived or was lost.
    fn close(&mut self, index: usize, arrived: bool, outbox: &mut Outbox) {
        let Some(packet) = self.packets.get_mut(index) else { return };
        if !std::mem::replace(&mut packet.open, false) {
            return;
        }
        let number = self.first + index as u64;
        let from = (packet.first_fragment - self.first_fragment) as usize;
        for sequence in self.fragments.range(from..from + usize::from(packet.fragments)) {
            if arrived {
                outbox.arrived(*sequence);
            } else {
                outbox.lost(*sequence, number);
            }
        }
        self.results.push((PacketNumber(number), arrived));
        let step = if arrived { 0 } else { LOSS_SCALE / LOSS_MEMORY };
        self.lost = self.lost - self.lost / LOSS_MEMORY + step;
    }

    /// Returns how many of a thousand packets were lost recently.
    pub(super) fn lost_share(&self) -> u32 {
        self.lost / (LOSS_SCALE / 1000)
    }

    /// Drops the oldest packets that arrived or were lost.
    fn drop_closed(&mut self) {
        while let Some(packet) = self.packets.front()
            && !packet.open
        {
            self.fragments.drain(..usize::from(packet.fragments));
            self.first_fragment += u64::from(packet.fragments);
            self.packets.pop_front();
            self.first += 1;
        }
    }
}
