//! The confirmations for a client, numbered and kept until acknowledged: one list about remote actors, one about its
//! own controllers.
//!
//! The list is a sliding window. A packet contains the confirmations that are in no packet in flight, the oldest first,
//! and repeats a few of the newest ones that are in flight, so that a single lost packet costs no round trip. When a
//! packet is lost, its confirmations are sent again. A list that is full drops its oldest confirmation. The next
//! packets contain the newest tick of which a confirmation was dropped; the client reports predicted facts up to that
//! tick that have no confirmation as unknown.

use crate::confirm::{ListHeader, MAX_KEPT, Serial, write_list};
use crate::types::Tick;
use crate::wire::bits::BitWriter;
use std::collections::VecDeque;

/// A confirmation that the client has not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Unacked {
    tick: Tick,
    hash: u32,
    /// The number of packets in flight that contain it.
    in_flight: u16,
    /// Whether the client acknowledged this confirmation, but not yet an earlier one.
    is_acked: bool,
}

/// A run of confirmations in a packet: the serial of the first, and their number.
pub(crate) type SentRun = (Serial, u32);

/// Confirmations that the client has not acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfirmationQueue {
    list: VecDeque<Unacked>,
    /// The serial of the first in the list.
    first: Serial,
    /// The newest tick of which a confirmation was dropped because the list was full.
    dropped_until: Option<Tick>,
}

impl ConfirmationQueue {
    /// Adds the confirmation of a change in a tick.
    pub(crate) fn push(&mut self, tick: Tick, hash: u32) {
        if self.list.iter().rev().take_while(|e| e.tick == tick).any(|e| e.hash == hash) {
            return;
        }
        if self.list.len() >= MAX_KEPT
            && let Some(dropped) = self.list.pop_front()
        {
            self.first += 1;
            if !dropped.is_acked {
                self.dropped_until = Some(dropped.tick);
            }
        }
        self.list.push_back(Unacked { tick, hash, in_flight: 0, is_acked: false });
    }

    /// Writes confirmations that fit: those in no packet in flight, and the newest `repeats` of the others. The runs
    /// that were written are added to `sent`.
    pub(crate) fn write(
        &mut self,
        tick: Tick,
        out: &mut BitWriter,
        room: usize,
        repeats: usize,
        sent: &mut Vec<SentRun>,
    ) {
        out.bit(!self.list.is_empty());
        if self.list.is_empty() {
            // The client has acknowledged all, so it also knows about those that were dropped.
            self.dropped_until = None;
            return;
        }
        let repeated = self.list.iter().rev().filter(|e| !e.is_acked && e.in_flight > 0).take(repeats).count();
        let mut others = self.list.iter().filter(|e| !e.is_acked && e.in_flight > 0).count() - repeated;
        let (first, list) = (self.first, &self.list);
        let selected = list.iter().enumerate().filter(|(_, e)| {
            let is_repeat = e.in_flight > 0;
            let is_skipped = e.is_acked || is_repeat && others > 0;
            others -= usize::from(is_repeat && !e.is_acked && is_skipped);
            !is_skipped
        });
        let header = ListHeader { first, count: list.len() as u32, dropped_until: self.dropped_until };
        let begun = sent.len();
        write_list(header, tick, selected.map(|(at, e)| (first + at as Serial, e.tick, e.hash)), out, room, sent);
        for &(start, count) in &sent[begun..] {
            self.run_mut((start, count)).for_each(|e| e.in_flight = e.in_flight.saturating_add(1));
        }
    }

    /// Writes all confirmations for the reliable stream, which resends them until they arrive.
    pub(crate) fn write_all(&self, tick: Tick, out: &mut BitWriter) {
        out.bit(!self.list.is_empty());
        if self.list.is_empty() {
            return;
        }
        let header = ListHeader { first: self.first, count: self.list.len() as u32, dropped_until: self.dropped_until };
        let all = self.list.iter().enumerate().map(|(at, e)| (self.first + at as Serial, e.tick, e.hash));
        write_list(header, tick, all, out, usize::MAX, &mut Vec::new());
    }

    fn run_mut(&mut self, (start, count): SentRun) -> impl Iterator<Item = &mut Unacked> {
        let place = |serial: Serial| serial.saturating_sub(self.first).min(self.list.len() as Serial) as usize;
        let range = place(start)..place(start + count as Serial);
        self.list.range_mut(range)
    }

    /// Drops the confirmations up to a tick at which the prediction was right.
    pub(crate) fn drop_until(&mut self, tick: Tick) {
        let known = self.list.iter().take_while(|e| e.tick <= tick).count();
        self.list.drain(..known);
        self.first += known as Serial;
    }

    /// Processes the ack or the loss of a packet with these confirmations.
    pub(crate) fn on_packet_result(&mut self, runs: &[SentRun], arrived: bool) {
        for &run in runs {
            for e in self.run_mut(run) {
                e.in_flight = e.in_flight.saturating_sub(1);
                e.is_acked |= arrived;
            }
        }
        while self.list.pop_front_if(|e| e.is_acked).is_some() {
            self.first += 1;
        }
    }

    /// Returns the number of kept confirmations.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ConfirmationWindow;
    use crate::confirm::read_list;
    use crate::wire::bits::BitReader;

    /// Writes a packet. Returns its bytes and its runs.
    fn packet(queue: &mut ConfirmationQueue, tick: u32, room: usize, repeats: usize) -> (Vec<u8>, Vec<SentRun>) {
        let (mut out, mut sent) = (BitWriter::new(), Vec::new());
        queue.write(Tick(tick), &mut out, room, repeats, &mut sent);
        (out.finish().to_vec(), sent)
    }

    /// Receives a packet. Returns the new confirmations and the tick up to which they are complete.
    fn receive(window: &mut ConfirmationWindow, bytes: &[u8], tick: u32) -> (Vec<u32>, u32) {
        let list = read_list(Tick(tick), &mut BitReader::new(bytes)).unwrap();
        let new = window.receive(list, Tick(tick));
        (new.into_iter().map(|(_, hash)| hash).collect(), window.complete_until().0)
    }

    #[test]
    fn confirmations_that_do_not_fit_are_sent_in_the_next_packets() {
        let (mut queue, mut window) = (ConfirmationQueue::default(), ConfirmationWindow::default());
        for (tick, hash) in [(5, 1), (5, 1), (5, 2), (6, 3), (8, 4)] {
            queue.push(Tick(tick), hash);
        }
        let (bytes, sent) = packet(&mut queue, 9, 80, 0);
        assert_eq!((receive(&mut window, &bytes, 9), sent), ((vec![1, 2], 0), vec![(0, 2)]));
        let (bytes, sent) = packet(&mut queue, 10, 1000, 0);
        assert_eq!((receive(&mut window, &bytes, 10), sent), ((vec![3, 4], 10), vec![(2, 2)]));
        // Nothing was acknowledged: an empty packet is complete too, because the client has all of them.
        let (bytes, sent) = packet(&mut queue, 11, 1000, 0);
        assert_eq!((receive(&mut window, &bytes, 11), sent), ((vec![], 11), vec![]));
        queue.on_packet_result(&[(2, 2)], true);
        queue.on_packet_result(&[(0, 2)], true);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_lost_packet_delays_only_what_it_contained() {
        let (mut queue, mut window) = (ConfirmationQueue::default(), ConfirmationWindow::default());
        queue.push(Tick(5), 1);
        let (_, lost) = packet(&mut queue, 5, 1000, 0);
        queue.push(Tick(6), 2);
        let (bytes, _) = packet(&mut queue, 6, 1000, 0);
        assert_eq!(receive(&mut window, &bytes, 6), (vec![2], 0), "tick 5 is missing");
        queue.on_packet_result(&lost, false);
        let (bytes, sent) = packet(&mut queue, 7, 1000, 0);
        assert_eq!(receive(&mut window, &bytes, 7), (vec![1], 7));
        assert_eq!(sent, [(0, 1)]);
        // A repeated confirmation is not new.
        let (bytes, sent) = packet(&mut queue, 8, 1000, 1);
        assert_eq!((receive(&mut window, &bytes, 8), sent), ((vec![], 8), vec![(1, 1)]));
    }

    #[test]
    fn a_full_list_drops_the_oldest_and_reports_it() {
        let (mut queue, mut window) = (ConfirmationQueue::default(), ConfirmationWindow::default());
        for n in 0..MAX_KEPT as u32 + 3 {
            queue.push(Tick(1 + n / 2), n);
        }
        assert_eq!(queue.len(), MAX_KEPT);
        let (bytes, _) = packet(&mut queue, 9000, 100, 0);
        let (new, _) = receive(&mut window, &bytes, 9000);
        assert_eq!((new[0], window.unknown_until()), (3, Some(Tick(2))));
        queue.drop_until(Tick(u32::MAX));
        let (bytes, _) = packet(&mut queue, 9001, 100, 0);
        assert_eq!(receive(&mut window, &bytes, 9001), (vec![], 9001));
    }
}
