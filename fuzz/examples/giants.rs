//! `cargo run --release --example giants [target [name]]`: runs the hostile inputs of the largest size under the limits and prints the dearest thing
//! that was done with each. The exit code is 1 if one breaks a limit.

use std::process::ExitCode;
use ugas_fuzz::limit::measure;
use ugas_fuzz::{body, giants};

fn main() -> ExitCode {
    let mut wanted = std::env::args().skip(1);
    let (target, giant) = (wanted.next(), wanted.next());
    let mut held = true;
    for (name, body) in body::TARGETS.into_iter().filter(|(name, _)| target.as_ref().is_none_or(|t| t == name)) {
        for (what, text) in giants::of(name).into_iter().filter(|(n, _)| giant.as_ref().is_none_or(|g| g == n)) {
            let mut costs = Vec::new();
            measure(body, text.as_bytes(), &mut |cost| {
                if !cost.is_held() || std::env::var_os("EACH").is_some() {
                    eprintln!("! {what}: {}: {:.0} ms, {} MiB", cost.what, cost.seconds * 1e3, cost.bytes >> 20);
                }
                costs.push(cost);
            });
            let kept = costs.iter().all(|cost| cost.is_held());
            held &= kept;
            let slowest = costs.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("there is an end");
            let most = costs.iter().max_by_key(|cost| cost.bytes).expect("there is an end");
            println!(
                "{} {name}: {what}: {} bytes; {} {:.0} ms; {} {} MiB",
                if kept { ' ' } else { '!' },
                text.len(),
                slowest.what,
                slowest.seconds * 1e3,
                most.what,
                most.bytes >> 20
            );
        }
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
