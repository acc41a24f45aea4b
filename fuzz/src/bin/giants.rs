//! `giants [target [name]]`: runs the hostile inputs of the largest size under the limits and prints what each cost.
//! The exit code is 1 if one breaks a limit.

use std::process::ExitCode;
use ugas_fuzz::limit::{BYTES, SECONDS, measure};
use ugas_fuzz::{body, giants};

fn main() -> ExitCode {
    let mut wanted = std::env::args().skip(1);
    let (target, giant) = (wanted.next(), wanted.next());
    let mut held = true;
    for (name, body) in body::TARGETS.into_iter().filter(|(name, _)| target.as_ref().is_none_or(|t| t == name)) {
        for (what, text) in giants::of(name).into_iter().filter(|(n, _)| giant.as_ref().is_none_or(|g| g == n)) {
            let cost = measure(body, text.as_bytes());
            let kept = cost.seconds <= SECONDS && cost.bytes <= BYTES;
            held &= kept;
            let (mark, milliseconds, mebibytes) = (if kept { ' ' } else { '!' }, cost.seconds * 1e3, cost.bytes >> 20);
            println!("{mark} {name}: {what}: {} bytes, {milliseconds:.0} ms, {mebibytes} MiB", text.len());
        }
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
