//! Times that are not a whole number of frames, in a document with a frame rate.

use super::{CheckedBy, LintCx, Report, Rule};
use crate::diagnostic::Severity;
use ugas_doc::{Time, Timeline};

pub(super) static RULE: Rule = Rule {
    id: "time-not-whole-frame",
    severity: Severity::Warning,
    strict: false,
    summary: "a time that is not a whole number of frames, in a document with a FrameRate",
    why: "A timeline with a frame rate describes an animation in frames. A sim uses the exact time, but an engine that \
works in frames reaches a time between two frames only at the next frame. The two results then differ.",
    example: "Kind: timeline\nName: TL_Swing\nFrameRate: 60\nLength: 30f\nNotifies: [{At: 0.21, Name: Hit}]",
    fix: "Write frames, such as `13f`.",
    check: CheckedBy::Lint(check),
};

/// Returns every time of a timeline, with its path.
fn times(t: &Timeline) -> Vec<(String, Time)> {
    let mut all = vec![("Length".to_owned(), t.length)];
    all.extend(t.notifies.iter().enumerate().map(|(i, n)| (format!("Notifies[{i}].At"), n.at)));
    all.extend(t.answers.iter().enumerate().map(|(i, a)| (format!("Answers[{i}].After"), a.after)));
    all
}

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, t) in cx.each::<Timeline>() {
        let Some(rate) = t.frame_rate.map(f64::from) else { continue };
        for (way, time) in times(t) {
            let Time::Seconds(seconds) = time else { continue };
            let frames = seconds * rate;
            if (frames - frames.round()).abs() > 1e-6 {
                let shown = (frames * 1000.0).round() / 1000.0;
                let message = format!("{seconds} s is {shown} frames at {rate} frames per second");
                let help = format!("write {}f or {}f", frames.floor(), frames.ceil());
                report.add(d, d.span(&way), message, &help);
            }
        }
    }
}
