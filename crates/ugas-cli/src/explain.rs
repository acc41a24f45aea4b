//! `ugas explain`: explains how the value of an attribute is computed, or lists the capabilities of an actor.

use crate::args::ExplainArgs;
use crate::output::{Exit, Out, complain, complain_about};
use crate::sim::pick;
use std::io;
use std::path::Path;
use ugas_core::SimTime;
use ugas_lab::{ExplainError, Scenario, explain, explain_capabilities, longest_time, parse_time};

pub(crate) fn run(args: &ExplainArgs, out: &mut Out) -> io::Result<Exit> {
    let Some((scenario, at)) = scenario_at(&args.file, args.scenario.as_deref(), &args.at) else {
        return Ok(Exit::Unreadable);
    };
    let explained = match &args.attribute {
        Some(attribute) => explain(&scenario, &args.actor, attribute, at),
        None => explain_capabilities(&scenario, &args.actor, at),
    };
    match explained {
        Ok(text) if text.is_empty() => {
            out.line(format!("{} has no capabilities and no blocks at {at}", args.actor))?;
            Ok(Exit::Good)
        }
        Ok(text) => {
            out.text(&format!("{}\n", text.trim_end()))?;
            Ok(Exit::Good)
        }
        Err(error) => Ok(report_error(&error)),
    }
}

/// Returns the selected scenario and the parsed time. If either is invalid, reports an error and returns `None`.
pub(crate) fn scenario_at(file: &Path, scenario: Option<&str>, at: &str) -> Option<(Scenario, SimTime)> {
    let scenario = pick(file, scenario)?;
    match parse_time(at, scenario.frame) {
        Some(time) if (SimTime::ZERO..=SimTime::LONGEST).contains(&time) => return Some((scenario, time)),
        Some(_) => {
            let limit = longest_time();
            complain(&format!("error: --at {at} is out of range; expected a time from 0 s to {limit}"));
        }
        None => complain(&format!(
            "error: --at {at:?} is not a time; write seconds (1.5), frames (12f) or milliseconds (250ms)"
        )),
    }
    None
}

/// Reports why an attribute could not be explained.
pub(crate) fn report_error(error: &ExplainError) -> Exit {
    match error {
        ExplainError::Scenario(errors) => complain_about(errors),
        error => complain(&format!("error: {error}")),
    }
    Exit::Unreadable
}
