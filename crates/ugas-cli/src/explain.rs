//! `ugas explain`: how a number came about.

use crate::args::ExplainArgs;
use crate::output::{Exit, Out, complain, complain_about};
use crate::sim::pick;
use std::io;
use std::path::Path;
use ugas_core::SimTime;
use ugas_lab::{ExplainError, Scenario, explain, parse_time};

pub(crate) fn run(args: &ExplainArgs, out: &mut Out) -> io::Result<Exit> {
    let Some((scenario, at)) = moment(&args.file, args.scenario.as_deref(), &args.at) else {
        return Ok(Exit::Unreadable);
    };
    match explain(&scenario, &args.actor, &args.attribute, at) {
        Ok(text) => {
            out.line(text.trim_end())?;
            Ok(Exit::Good)
        }
        Err(error) => Ok(unanswered(&error)),
    }
}

/// The scenario and the time that a question is about; complains if there is none.
pub(crate) fn moment(file: &Path, scenario: Option<&str>, at: &str) -> Option<(Scenario, SimTime)> {
    let scenario = pick(file, scenario)?;
    let time = parse_time(at, scenario.frame).filter(|t| (SimTime::ZERO..=SimTime::LONGEST).contains(t));
    if time.is_none() {
        complain(&format!("error: --at {at:?} is no time; write seconds (1.5), frames (12f) or milliseconds (250ms)"));
    }
    Some((scenario, time?))
}

/// Complains that a question has no answer.
pub(crate) fn unanswered(error: &ExplainError) -> Exit {
    match error {
        ExplainError::Scenario(errors) => complain_about(errors),
        error => complain(&format!("error: {error}")),
    }
    Exit::Unreadable
}
