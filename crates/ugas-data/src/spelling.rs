//! Finds the nearest spelling of a mistyped name, for "did you mean" suggestions.

/// Returns the candidate whose spelling is nearest to `name`, or `None` if no candidate is near enough. At most a third
/// of the letters may differ. Two swapped neighbouring letters count as one difference, and case is ignored.
///
/// ```
/// assert_eq!(ugas_data::nearest("MaxHelth", ["Health", "MaxHealth"]), Some("MaxHealth"));
/// assert_eq!(ugas_data::nearest("Mana", ["Health", "MaxHealth"]), None);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names longer than this are not misspelt field names, and the cost of comparing them is quadratic.
    if name.len() > 64 {
        return None;
    }
    let name: Vec<char> = name.to_lowercase().chars().collect();
    // A single letter cannot be a misspelling.
    let allowed = if name.len() < 2 { 0 } else { (name.len() / 3).max(1) };
    candidates
        .into_iter()
        .filter(|c| c.len() <= 128)
        .map(|c| (distance(&name, &c.to_lowercase().chars().collect::<Vec<_>>()), c))
        .filter(|(d, _)| *d <= allowed)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_single_character_edits() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(d("Name", "Name"), 0);
        assert_eq!(d("Nmae", "Name"), 1);
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("abc", ""), 3);
        assert_eq!(d("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_of_several_wins_and_far_ones_are_not_suggested() {
        assert_eq!(nearest("Multiplay", ["Add", "Multiply"]), Some("Multiply"));
        assert_eq!(nearest("add", ["Add", "AddPost"]), Some("Add"));
        assert_eq!(nearest("Divide", ["Add", "Multiply", "AddPost", "Override"]), None);
        assert_eq!(nearest(&"a".repeat(1000), ["a"]), None);
    }
}
