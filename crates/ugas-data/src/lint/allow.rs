//! Comments that allow findings: `# ugas-allow: <id>, <id>`. A comment after a value allows findings on its line. A
//! comment that is alone on a line allows findings on the next line that is neither empty nor a comment.

use crate::diagnostic::Diagnostic;
use crate::project::Project;
use std::collections::BTreeSet;

const MARK: &str = "ugas-allow:";

pub(super) fn retain(project: &Project, findings: &mut Vec<Diagnostic>) {
    let mut allowed: BTreeSet<(&str, u32, &str)> = BTreeSet::new();
    for source in project.sources().iter().filter(|s| s.text.contains(MARK)) {
        for (line, id) in allowances(&source.text) {
            allowed.insert((&source.name, line, id));
        }
    }
    if !allowed.is_empty() {
        findings.retain(|f| !allowed.contains(&(&*f.file, f.line, f.id.as_str())));
    }
}

/// Returns the lines and the ids that they allow.
fn allowances(text: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    let mut waiting: Vec<&str> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let alone = line.trim_start().starts_with('#');
        if !alone && !line.trim().is_empty() {
            found.extend(waiting.drain(..).map(|id| (number, id)));
        }
        let Some((_, ids)) = line.split_once('#').and_then(|(_, comment)| comment.split_once(MARK)) else { continue };
        let ids = ids.split(',').map(|id| id.split_whitespace().next().unwrap_or("")).filter(|id| !id.is_empty());
        match alone {
            true => waiting.extend(ids),
            false => found.extend(ids.map(|id| (number, id))),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_allows_its_line_or_the_next() {
        let text = "# ugas-allow: a, b\n# because\n\nx: 1\ny: 2 # ugas-allow: c on purpose\n";
        assert_eq!(allowances(text), [(4, "a"), (4, "b"), (5, "c")]);
    }
}
