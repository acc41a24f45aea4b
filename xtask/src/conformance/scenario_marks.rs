//! Finds the requirement marks of scenario files.
//!
//! A file may contain several documents; each has its own `Scenario:` and `Covers:` key. Only these two top-level keys
//! are read, by line, because the report of the runner names a scenario by the line of its `Scenario:` key.

use super::rust_marks::split_ids;

/// A scenario and the requirements that it claims to cover.
#[derive(Debug, PartialEq)]
pub(crate) struct MarkedScenario {
    /// The sentence after `Scenario:`.
    pub(crate) name: String,
    /// The line of the `Scenario:` key.
    pub(crate) line: usize,
    pub(crate) ids: Vec<String>,
}

/// The marks of one scenario file.
#[derive(Debug, Default)]
pub(crate) struct FileScenarios {
    /// Scenarios with at least one id.
    pub(crate) scenarios: Vec<MarkedScenario>,
    /// Lines of `Covers:` keys in documents without a `Scenario:` key.
    pub(crate) loose: Vec<usize>,
}

/// Finds the marks of one scenario file.
pub(crate) fn find(text: &str) -> FileScenarios {
    let mut found = FileScenarios::default();
    let lines: Vec<&str> = text.lines().collect();
    let mut start = 0;
    for end in 0..=lines.len() {
        if lines.get(end).is_none_or(|line| is_separator(line)) {
            document(&lines[start..end], start, &mut found);
            start = end + 1;
        }
    }
    found
}

fn is_separator(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn document(lines: &[&str], offset: usize, found: &mut FileScenarios) {
    let key =
        |name: &str| lines.iter().position(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
    let Some(covers) = key("Covers") else { return };
    let Some(scenario) = key("Scenario") else {
        found.loose.push(offset + covers + 1);
        return;
    };
    let ids = ids_at(&lines[covers..]);
    if !ids.is_empty() {
        let name = without_comment(&lines[scenario]["Scenario:".len()..]).trim();
        let name = unquoted(name).to_owned();
        found.scenarios.push(MarkedScenario { name, line: offset + scenario + 1, ids });
    }
}

/// Returns the ids of the `Covers:` key on the first line: a flow list, a block list or one id.
fn ids_at(lines: &[&str]) -> Vec<String> {
    let first = without_comment(&lines[0]["Covers:".len()..]).trim();
    if let Some(rest) = first.strip_prefix('[') {
        let tail = lines[1..].iter().map(|line| without_comment(line));
        let mut list = String::new();
        for part in std::iter::once(rest).chain(tail) {
            if let Some((before, _)) = part.split_once(']') {
                list.push_str(before);
                break;
            }
            list.push_str(part);
            list.push(' ');
        }
        return split_ids(&list).iter().map(|id| unquoted(id).to_owned()).collect();
    }
    if !first.is_empty() {
        return vec![unquoted(first).to_owned()];
    }
    let items = lines[1..].iter().map(|line| without_comment(line).trim()).filter(|line| !line.is_empty());
    items.map_while(|line| line.strip_prefix("- ")).map(|id| unquoted(id.trim()).to_owned()).collect()
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn without_comment(text: &str) -> &str {
    if text.trim_start().starts_with('#') {
        return "";
    }
    text.split_once(" #").map_or(text, |(before, _)| before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str, line: usize, ids: &[&str]) -> MarkedScenario {
        MarkedScenario { name: name.into(), line, ids: ids.iter().map(|id| (*id).into()).collect() }
    }

    #[test]
    fn flow_lists_are_read() {
        let text = "Scenario: Poison ticks  # a note\nCovers: [T-1, \"T-2\"] # more\nActors:\n  Covers: [T-3]\n";
        assert_eq!(find(text).scenarios, [scenario("Poison ticks", 1, &["T-1", "T-2"])]);
        let text = "Covers: [T-1,\n  T-2, # why\n  T-3]\nScenario: 'Late: key'\n";
        assert_eq!(find(text).scenarios, [scenario("Late: key", 4, &["T-1", "T-2", "T-3"])]);
    }

    #[test]
    fn block_lists_are_read() {
        let text = "Scenario: A\nCovers:\n  - T-1\n  # why\n\n- T-2\nSeed: 7\n- T-3\n";
        assert_eq!(find(text).scenarios, [scenario("A", 1, &["T-1", "T-2"])]);
    }

    #[test]
    fn each_document_has_its_own() {
        let text = "# head\nScenario: A\nCovers: [T-1]\n---\nScenario: B\n---\nScenario: C\nCovers: T-2\n";
        assert_eq!(find(text).scenarios, [scenario("A", 2, &["T-1"]), scenario("C", 7, &["T-2"])]);
    }

    #[test]
    fn covers_without_a_scenario_is_loose() {
        let found = find("Scenario: A\n---\nKind: x\nCovers: [T-1]\n");
        assert_eq!(found.loose, [4]);
        assert!(found.scenarios.is_empty());
    }
}
