//! The nearest spelling of a mistyped name, and names as messages show them.

/// Names longer than this are not compared, because the cost is quadratic.
const LONGEST: usize = 64;

/// Returns the candidate that is spelled most like `name`, if at most a third of the letters differ. Two swapped
/// neighbours count as one difference; case is ignored.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let (name, most) = (lower(name), (name.len() / 3).max(1));
    let near = candidates.into_iter().filter(|candidate| candidate.len() <= 2 * LONGEST);
    let far = near.map(|candidate| (distance(&name, &lower(candidate)), candidate));
    far.filter(|(far, _)| *far <= most).min_by_key(|(far, _)| *far).map(|(_, candidate)| candidate)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut best = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Returns a name for a message: escaped, because a name may come from a file of someone else, and not too long.
pub(crate) fn shown(name: &str) -> String {
    let short: String = name.chars().take(LONGEST).collect();
    let more = if short.len() < name.len() { "…" } else { "" };
    format!("{}{more}", short.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_name() {
        let names = ["Key.Space", "Key.Slash", "Mouse.LeftButton"];
        assert_eq!(nearest("key.spcae", names), Some("Key.Space"));
        assert_eq!(nearest("Mouse.LeftButon", names), Some("Mouse.LeftButton"));
        assert_eq!(nearest("Gamepad.DPad.Up", names), None);
        assert_eq!(nearest(&"x".repeat(10_000), names), None);
    }

    #[test]
    fn messages_show_control_characters_escaped_and_cut() {
        assert_eq!(shown("a\u{1b}[31m"), "a\\u{1b}[31m");
        assert_eq!(shown(&"x".repeat(100)).chars().count(), LONGEST + 1);
    }
}
