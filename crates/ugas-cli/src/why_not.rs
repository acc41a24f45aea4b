//! `ugas why-not`: explains why an ability cannot be activated, or why a capability is not active.

use crate::args::WhyNotArgs;
use crate::explain::{report_error, scenario_at};
use crate::output::{Exit, Out};
use std::io;
use ugas_lab::{why_not, why_not_capability};

pub(crate) fn run(args: &WhyNotArgs, out: &mut Out) -> io::Result<Exit> {
    let Some((scenario, at)) = scenario_at(&args.file, args.scenario.as_deref(), &args.at) else {
        return Ok(Exit::Unreadable);
    };
    let (name, outcome, found) = match (&args.capability, &args.ability) {
        (Some(class), _) => (class, "is active", why_not_capability(&scenario, &args.actor, class, at)),
        (None, Some(ability)) => {
            let reasons = why_not(&scenario, &args.actor, ability, args.target.as_deref(), at);
            (ability, "can be activated", reasons)
        }
        // The arguments require one of the two.
        (None, None) => return Ok(Exit::Unreadable),
    };
    match found {
        Ok(lines) if lines.is_empty() => {
            out.line(format!("{name} {outcome} at {at}"))?;
            Ok(Exit::Good)
        }
        Ok(lines) => {
            lines.iter().try_for_each(|line| out.line(line))?;
            Ok(Exit::Good)
        }
        Err(error) => Ok(report_error(&error)),
    }
}
