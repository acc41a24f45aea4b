//! Own packets in flight: when they were sent, which fragments they contain, whether they arrived.
//!
//! A peer refuses whatever is of an earlier tick than the newest it read. So an acknowledgement also says which packets
//! can never arrive any more: those of an earlier tick that it leaves out. That is known one round trip after a loss,
//! without waiting for time to pass.

use std::collections::VecDeque;

use ugas_core::SimTime;

use super::PacketNumber;
use super::header::ReceivedPackets;
use super::outbox::Outbox;
use crate::types::Tick;

/// Packets without a verdict that are remembered; the oldest is given up beyond it.
pub(super) const MOST: usize = 1024;

/// How many packets back the share of lost ones remembers.
const LOSS_MEMORY: u32 = 64;
const WHOLE: u32 = 64_000_000;

#[derive(Clone, Copy, Debug)]
struct Packet {
    at: SimTime,
    tick: Tick,
    /// Whether the peer answers it without being asked again; only such packets measure the round trip.
    asks: bool,
    fragments: u16,
    /// Place of its first fragment, counted from the first ever held.
    held_from: u64,
    open: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// Number of the first packet remembered.
    first: u64,
    packets: VecDeque<Packet>,
    /// Fragments of the packets remembered, in order of sending.
    pub(super) held: VecDeque<u64>,
    held_from: u64,
    newest_arrived: Option<(u64, Tick)>,
    /// Smoothed share of packets that are lost, of [`WHOLE`].
    lost: u32,
    pub(super) verdicts: Vec<(PacketNumber, bool)>,
}

impl Sent {
    /// The number the next packet gets.
    pub(super) fn next(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Number and tick of the newest packet the peer is known to have.
    pub(super) fn newest_arrived(&self) -> Option<(u64, Tick)> {
        self.newest_arrived
    }

    /// Remembers a packet whose fragments were just appended to `held`.
    pub(super) fn push(&mut self, at: SimTime, tick: Tick, asks: bool, fragments: u16, outbox: &mut Outbox) {
        let held_from = self.held_from + (self.held.len() - usize::from(fragments)) as u64;
        self.packets.push_back(Packet { at, tick, asks, fragments, held_from, open: true });
        if self.packets.len() > MOST {
            self.close(0, false, outbox);
            self.forget();
        }
    }

    /// Applies an acknowledgement, which must be of a packet that was sent. Gives the round trip it measures.
    pub(super) fn heard(
        &mut self,
        ack: ReceivedPackets,
        now: SimTime,
        patience: SimTime,
        outbox: &mut Outbox,
    ) -> Option<SimTime> {
        let index = ack.newest.checked_sub(self.first)? as usize;
        let newest = *self.packets.get(index)?;
        let sample = (newest.open && newest.asks).then(|| now - newest.at);
        self.close(index, true, outbox);
        if self.newest_arrived.is_none_or(|(number, _)| number < ack.newest) {
            self.newest_arrived = Some((ack.newest, newest.tick));
        }
        for (i, back) in (0..index).rev().zip(0u32..) {
            let arrived = back < 32 && ack.mask & (1 << back) != 0;
            let Some(packet) = self.packets.get(i) else { break };
            if arrived || back >= 32 || packet.tick < newest.tick || now - packet.at >= patience {
                self.close(i, arrived, outbox);
            }
        }
        self.forget();
        sample
    }

    fn close(&mut self, index: usize, arrived: bool, outbox: &mut Outbox) {
        let Some(packet) = self.packets.get_mut(index) else { return };
        if !std::mem::replace(&mut packet.open, false) {
            return;
        }
        let number = self.first + index as u64;
        let from = (packet.held_from - self.held_from) as usize;
        for sequence in self.held.range(from..from + usize::from(packet.fragments)) {
            if arrived {
                outbox.arrived(*sequence);
            } else {
                outbox.lost(*sequence, number);
            }
        }
        self.verdicts.push((PacketNumber(number), arrived));
        let step = if arrived { 0 } else { WHOLE / LOSS_MEMORY };
        self.lost = self.lost - self.lost / LOSS_MEMORY + step;
    }

    /// How many of a thousand packets were lost of late.
    pub(super) fn lost_share(&self) -> u32 {
        self.lost / (WHOLE / 1000)
    }

    fn forget(&mut self) {
        while let Some(packet) = self.packets.front()
            && !packet.open
        {
            self.held.drain(..usize::from(packet.fragments));
            self.held_from += u64::from(packet.fragments);
            self.packets.pop_front();
            self.first += 1;
        }
    }
}
