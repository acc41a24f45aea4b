//! `ugas preview`: shows the changes that an effect or an ability would make.

use crate::args::{PreviewArgs, PreviewFormat};
use crate::explain::{report_error, scenario_at};
use crate::output::{Exit, Out};
use std::io;
use ugas_lab::{PreviewOf, preview};

pub(crate) fn run(args: &PreviewArgs, out: &mut Out) -> io::Result<Exit> {
    let Some((scenario, at)) = scenario_at(&args.file, args.scenario.as_deref(), &args.at) else {
        return Ok(Exit::Unreadable);
    };
    let of = match (&args.effect, &args.ability) {
        (_, Some(ability)) => PreviewOf::Ability { ability, target: args.target.as_deref() },
        (effect, None) => PreviewOf::Effect {
            effect: effect.as_deref().unwrap_or_default(),
            from: args.from.as_deref(),
            level: args.level,
            stacks: args.stacks,
        },
    };
    match preview(&scenario, &args.actor, of, at) {
        Ok(preview) => {
            let text = match args.format {
                PreviewFormat::Table => preview.to_table(),
                PreviewFormat::Json => preview.to_json(),
            };
            out.text(&format!("{}\n", text.trim_end()))?;
            Ok(Exit::Good)
        }
        Err(error) => Ok(report_error(&error)),
    }
}
