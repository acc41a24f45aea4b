//! `ugas why-not`: what speaks against an ability.

use crate::args::WhyNotArgs;
use crate::output::{Exit, Out, complain, complain_about};
use crate::sim::pick;
use std::io;
use ugas_core::SimTime;
use ugas_lab::{ExplainError, parse_time, why_not};

pub(crate) fn run(args: &WhyNotArgs, out: &mut Out) -> io::Result<Exit> {
    let Some(scenario) = pick(&args.file, args.scenario) else {
        return Ok(Exit::Unreadable);
    };
    let at = parse_time(&args.at, scenario.frame).filter(|t| (SimTime::ZERO..=SimTime::LONGEST).contains(t));
    let Some(at) = at else {
        complain(&format!(
            "error: --at {:?} is no time; write seconds (1.5), frames (12f) or milliseconds (250ms)",
            args.at
        ));
        return Ok(Exit::Unreadable);
    };
    match why_not(&scenario, &args.actor, &args.ability, args.target.as_deref(), at) {
        Ok(lines) if lines.is_empty() => {
            out.line(&format!("nothing speaks against {} at {at}", args.ability))?;
            Ok(Exit::Good)
        }
        Ok(lines) => {
            lines.iter().try_for_each(|line| out.line(line))?;
            Ok(Exit::Good)
        }
        Err(ExplainError::Scenario(errors)) => {
            complain_about(&errors);
            Ok(Exit::Unreadable)
        }
        Err(error) => {
            complain(&format!("error: {error}"));
            Ok(Exit::Unreadable)
        }
    }
}
