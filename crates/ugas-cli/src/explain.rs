//! `ugas explain`: how a number came about.

use crate::args::ExplainArgs;
use crate::output::{Exit, Out, complain, complain_about};
use crate::sim::pick;
use std::io;
use ugas_core::SimTime;
use ugas_lab::{ExplainError, explain, parse_time};

pub(crate) fn run(args: &ExplainArgs, out: &mut Out) -> io::Result<Exit> {
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
    match explain(&scenario, &args.actor, &args.attribute, at) {
        Ok(text) => {
            out.line(text.trim_end())?;
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
