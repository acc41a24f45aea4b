//! `ugas why-not`: explains why an ability cannot be activated.

use crate::args::WhyNotArgs;
use crate::explain::{report_error, scenario_at};
use crate::output::{Exit, Out};
use std::io;
use ugas_lab::why_not;

pub(crate) fn run(args: &WhyNotArgs, out: &mut Out) -> io::Result<Exit> {
    let Some((scenario, at)) = scenario_at(&args.file, args.scenario.as_deref(), &args.at) else {
        return Ok(Exit::Unreadable);
    };
    match why_not(&scenario, &args.actor, &args.ability, args.target.as_deref(), at) {
        Ok(lines) if lines.is_empty() => {
            out.line(format!("{} can be activated at {at}", args.ability))?;
            Ok(Exit::Good)
        }
        Ok(lines) => {
            lines.iter().try_for_each(|line| out.line(line))?;
            Ok(Exit::Good)
        }
        Err(error) => Ok(report_error(&error)),
    }
}
