//! The fix of `stat-by-rule`: replaces a combat rule about a stat with the modifier that does the same.

use crate::diagnostic::Edit;
use crate::{Node, Span};

/// The keys of a rule that a modifier can express.
const EXPRESSIBLE: [&str; 3] = ["On", "Attribute", "Modify"];

/// Returns the edits that remove the rule of a message and add the modifier of the message to the effect. Returns `None`
/// if a modifier cannot express the rule, or if the edits would remove a comment.
pub(crate) fn fix(message: &str, effect: &Node, text: &str) -> Option<(String, Vec<Edit>)> {
    let (place, rest) = message.split_once("].On: ")?;
    let index: usize = place.strip_prefix("Rules[")?.parse().ok()?;
    let modifier = &rest[rest.find("{Attribute: ")?..];
    let rules = effect.get("Rules")?;
    let rule = rules.items().get(index)?;
    let is_expressible = rule.entries().iter().all(|e| EXPRESSIBLE.contains(&e.key.as_str()));
    if !is_expressible || !["Attribute", "Modify"].iter().all(|key| rule.get(key).is_some()) {
        return None;
    }
    let added = insertion(effect, modifier, text)?;
    let removed = removal(effect, rules, index, text)?;
    let mut edits = vec![added, removed];
    edits.sort_by_key(|e| e.span);
    Some(("replace the rule with a modifier".to_owned(), edits))
}

/// Returns the edit that adds a modifier: to the list, or as a new key before `Rules`.
fn insertion(effect: &Node, modifier: &str, text: &str) -> Option<Edit> {
    let at = |at: usize, text: String| Some(Edit { span: Span::new(at, at), text });
    if let Some(last) = effect.get("Modifiers").and_then(|list| list.items().last()) {
        let list = effect.get("Modifiers")?;
        let end = last.span.end as usize;
        if list.span.of(text)?.starts_with('[') {
            return at(end, format!(", {modifier}"));
        }
        let line = text[end..].find('\n').map_or(text.len(), |n| end + n);
        if !text[end..line].trim().is_empty() {
            return None;
        }
        let start = text[..list.span.start as usize].rfind('\n').map_or(0, |n| n + 1);
        let indent = " ".repeat(text[start..list.span.start as usize].chars().count());
        return at(end, format!("\n{}- {modifier}", indent.trim_end_matches("- ")));
    }
    if effect.get("Modifiers").is_some() {
        return None;
    }
    let key = effect.entries().iter().find(|e| e.key == "Rules")?;
    let start = key.span.start as usize;
    let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
    let indent = &text[line..start];
    if !indent.trim().is_empty() {
        return None;
    }
    at(line, format!("{indent}Modifiers: [{modifier}]\n"))
}

/// Returns the edit that removes a rule, or the whole key if the rule is the only one.
fn removal(effect: &Node, rules: &Node, index: usize, text: &str) -> Option<Edit> {
    if rules.items().len() == 1 {
        return crate::fix::remove_entry(effect, "Rules", text);
    }
    let items = rules.items();
    let rule = items[index].span;
    let span = if rules.span.of(text)?.starts_with('[') {
        match items.get(index + 1) {
            Some(next) => Span { start: rule.start, end: next.span.start },
            None => Span { start: items[index - 1].span.end, end: rule.end },
        }
    } else {
        let (start, end) = (rule.start as usize, rule.end as usize);
        let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let stop = text[end..].find('\n').map_or(text.len(), |n| end + n + 1);
        if text[line..start].trim() != "-" || !text[end..stop].trim().is_empty() {
            return None;
        }
        Span::new(line, stop)
    };
    (!span.of(text)?.contains('#')).then(|| Edit { span, text: String::new() })
}

#[cfg(test)]
mod tests {
    use crate::Project;

    /// Returns an effect after `ugas fix`, or `None` if nothing was fixed.
    fn fixed(effect: &str) -> Option<String> {
        let table =
            "Kind: stat_table\nName: T\nStats: [{Tag: Stat.Haste, Default: 1}, {Tag: Stat.Crit, Default: 1}]\n---\n";
        let head = "Kind: gameplay_effect\nName: GE_It\nDurationPolicy: Infinite\n";
        let mut project = Project::default();
        project.put("a.yaml", format!("{table}{head}{effect}"));
        let fix = project.fixes().pop()?;
        Some(fix.text.split_once("Infinite\n").expect("the effect").1.to_owned())
    }

    #[test]
    fn a_rule_about_a_stat_becomes_a_modifier() {
        let rule = "{On: StatValue, Attribute: Stat.Haste, Modify: {Operation: Multiply, Factor: 1.25}}";
        let modifier = "{Attribute: Stat.Haste, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: 0.25}}";
        let own = "{Attribute: Stat.Crit, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}";
        let other = "{On: Interrupt, Restrict: true}";
        assert_eq!(fixed(&format!("Rules:\n  - {rule}\n")), Some(format!("Modifiers: [{modifier}]\n")));
        assert_eq!(
            fixed(&format!("Modifiers:\n  - {own}\nRules: [{rule}, {other}]\n")),
            Some(format!("Modifiers:\n  - {own}\n  - {modifier}\nRules: [{other}]\n"))
        );
        assert_eq!(
            fixed(&format!("Modifiers: [{own}]\nRules:\n  - {other}\n  - {rule}\n")),
            Some(format!("Modifiers: [{own}, {modifier}]\nRules:\n  - {other}\n"))
        );
    }

    #[test]
    fn a_rule_that_no_modifier_expresses_and_a_comment_are_left_to_people() {
        let conditional = "{On: StatValue, Attribute: Stat.Haste, When: level > 1, Modify: {Operation: Add, Value: 1}}";
        assert_eq!(fixed(&format!("Rules: [{conditional}]\n")), None);
        let rule = "{On: StatValue, Attribute: Stat.Haste, Modify: {Operation: Add, Value: 1}}";
        assert_eq!(fixed(&format!("Rules:\n  - {rule} # why\n")), None);
    }
}
