//! Checks of the numbers of a request.

use super::RejectReason;
use crate::message::Request;
use ugas_core::{BadValue, Refusal, Target};

/// The largest coordinate: squares and sums of larger coordinates lose their precision.
const MAX_COORDINATE: f64 = 1e9;

/// Returns whether a number is zero or normal. Subnormal numbers are rejected: they only slow down sums.
fn is_normal_or_zero(v: &f64) -> bool {
    *v == 0.0 || v.is_normal()
}

fn is_coordinate(v: &f64) -> bool {
    is_normal_or_zero(v) && v.abs() <= MAX_COORDINATE
}

pub(super) fn check_point(target: &Target) -> Result<(), (RejectReason, Refusal)> {
    match target {
        Target::Point(p) if !p.iter().all(is_coordinate) => Err(BAD_NUMBER),
        Target::None | Target::Controller(_) | Target::Point(_) => Ok(()),
    }
}

const BAD_NUMBER: (RejectReason, Refusal) = (RejectReason::Number, Refusal::BadValue { what: BadValue::Number });

/// Checks the numbers of a request. Clients check their own requests too, so that they do not predict what the server
/// rejects.
pub(crate) fn check_numbers(request: &Request) -> Result<(), (RejectReason, Refusal)> {
    let hit = |h: &ugas_core::Hit| h.position.iter().flatten().chain(&h.distance).all(is_coordinate);
    let is_valid = match request {
        Request::Press { target, .. }
        | Request::Activate { target, .. }
        | Request::Aim { target, .. }
        | Request::Mispredicted { target, .. } => return check_point(target),
        Request::Complete { answer, .. } => is_normal_or_zero(&answer.value) && answer.hit.as_ref().is_none_or(hit),
        Request::Move { anchor, .. } => anchor.position.iter().chain(&anchor.facing).all(is_coordinate),
        Request::Axis { value, .. } => value.is_valid(),
        Request::Release { .. }
        | Request::LetGo { .. }
        | Request::Cancel { .. }
        | Request::End { .. }
        | Request::Commit { .. }
        | Request::Apply { .. } => true,
    };
    if is_valid { Ok(()) } else { Err(BAD_NUMBER) }
}
