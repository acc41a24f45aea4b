//! Requests that wait until the prediction window opens.
//!
//! A request that the player makes while the window is closed is not lost: it runs, in order, as soon as the window
//! opens. The queue is bounded. A release or cancel waits only for a queued request that it would otherwise overtake.

use super::{Client, CommandStatus};
use crate::message::Request;
use std::collections::VecDeque;
use ugas_core::{ControllerId, Refusal};

/// The maximum number of queued requests. Releases and cancels of queued requests may use as many entries again.
const MAX_QUEUED: usize = 32;
/// The maximum number of results that the host has not taken.
const MAX_RESULTS: usize = 2 * MAX_QUEUED;

/// The number of a queued request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u64);

/// What the client did with a queued request when the prediction window opened.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueResult {
    /// The number that [`CommandStatus::Queued`] contained.
    pub id: QueueId,
    /// The result that [`Client::command`] would have returned.
    pub result: Result<CommandStatus, Refusal>,
}

/// The queue and the results of requests that left it.
#[derive(Clone, Debug, Default)]
pub(super) struct CommandQueue {
    waiting: VecDeque<(QueueId, Request)>,
    results: VecDeque<QueueResult>,
    last: u64,
}

impl CommandQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether a queued request must run before a release or cancel.
    pub(super) fn must_precede(&self, later: &Request) -> bool {
        self.waiting.iter().any(|(_, queued)| must_precede(queued, later))
    }

    /// Removes the queued move of a controller: a pose replaces earlier poses.
    fn remove_move(&mut self, who: ControllerId) {
        self.waiting.retain(|(_, queued)| !matches!(queued, Request::Move { who: moved, .. } if *moved == who));
    }

    fn push(&mut self, request: Request) -> Option<QueueId> {
        let most = if request.is_release() { 2 * MAX_QUEUED } else { MAX_QUEUED };
        if self.waiting.len() >= most {
            return None;
        }
        self.last += 1;
        let id = QueueId(self.last);
        self.waiting.push_back((id, request));
        Some(id)
    }

    fn push_result(&mut self, id: QueueId, result: Result<CommandStatus, Refusal>) {
        if self.results.len() >= MAX_RESULTS {
            self.results.pop_front();
        }
        self.results.push_back(QueueResult { id, result });
    }
}

/// Returns whether a queued request must run before a later release or cancel: the release of an input after its press,
/// the cancel of an ability after a request that may activate it.
fn must_precede(queued: &Request, later: &Request) -> bool {
    match (queued, later) {
        (Request::Press { who, input, .. }, Request::Release { who: other, input: released }) => {
            who == other && input == released
        }
        (Request::Press { who, .. }, Request::Cancel { who: other, .. }) => who == other,
        (Request::Activate { who, ability, .. }, Request::Cancel { who: other, ability: cancelled }) => {
            who == other && ability == cancelled
        }
        (Request::Press { who, .. }, Request::LetGo { who: other, .. }) => who == other,
        // Releases, cancels and axes keep their order.
        (
            Request::Release { who, .. }
            | Request::Axis { who, .. }
            | Request::LetGo { who, .. }
            | Request::Cancel { who, .. },
            _,
        ) => *who == later.who(),
        (
            Request::Press { .. }
            | Request::Activate { .. }
            | Request::End { .. }
            | Request::Commit { .. }
            | Request::Apply { .. }
            | Request::Complete { .. }
            | Request::Move { .. }
            | Request::Aim { .. }
            | Request::Mispredicted { .. },
            _,
        ) => false,
    }
}

impl Client {
    /// Queues a request until the prediction window opens.
    pub(super) fn enqueue(&mut self, request: Request) -> Result<CommandStatus, Refusal> {
        if let Request::Move { who, .. } = request {
            self.queue.remove_move(who);
        }
        match self.queue.push(request) {
            Some(id) => {
                self.counts.queued += 1;
                Ok(CommandStatus::Queued(id))
            }
            None => {
                self.counts.window_closed += 1;
                Err(Refusal::PredictionWindowClosed)
            }
        }
    }

    /// Runs queued requests while the prediction window is open.
    pub(super) fn run_queued(&mut self) {
        while self.can_predict() && self.queue.waiting.front().is_some_and(|(_, request)| !self.is_full(request)) {
            let Some((id, request)) = self.queue.waiting.pop_front() else { return };
            let is_owned = self.owned.contains(&request.who());
            let result = if is_owned { self.run_request(request) } else { Err(Refusal::Authority) };
            self.queue.push_result(id, result);
        }
    }

    /// Returns how many requests wait until the prediction window opens.
    pub fn queued_commands(&self) -> usize {
        self.queue.waiting.len()
    }

    /// Removes the requests that wait until the prediction window opens, for example because the player opened a menu
    /// meanwhile. Releases and cancels stay: the server must run them.
    pub fn clear_queue(&mut self) {
        self.queue.waiting.retain(|(_, request)| request.is_release());
    }

    /// Replaces the content of `into` with the results of queued requests that ran since the last call. The client
    /// keeps the last 64 results. A queued move that a later move replaced has no result.
    pub fn take_queue_results(&mut self, into: &mut Vec<QueueResult>) {
        into.clear();
        into.extend(self.queue.results.drain(..));
    }
}
