//! `CancelAbilitiesWithTags`, which has two meanings in the specification.

use super::{CheckedBy, LintCx, Report, Rule, implies};
use crate::diagnostic::{Edit, Severity};

pub(super) static RULE: Rule = Rule {
    id: "cancel-both-ways",
    severity: Severity::Info,
    strict: false,
    summary: "`CancelAbilitiesWithTags`, which cancels both this ability and other abilities",
    why: "The specification gives `CancelAbilitiesWithTags` two meanings. The ability is cancelled when its owner \
gains such a tag. The ability also cancels other abilities with such a tag when it is activated. Both meanings apply \
to every tag in the list, although a designer usually means only one.",
    example: "Kind: gameplay_ability\nName: GA_Fireball\nTags: {CancelAbilitiesWithTags: [State.Stunned]}",
    fix: "Write `CancelledByTags` for tags of the owner and `CancelOtherAbilitiesWithTags` for tags of other \
abilities. Keep `CancelAbilitiesWithTags` if the document must work with other implementations of the specification.",
    check: CheckedBy::Lint(check),
};

fn check(cx: &LintCx<'_>, report: &mut Report) {
    for (d, ability) in cx.each::<ugas_doc::Ability>() {
        let Some(entry) = d.tree.get("Tags").and_then(|tags| tags.entry("CancelAbilitiesWithTags")) else { continue };
        let tags = &ability.tags.cancel_abilities_with_tags;
        let of_ability = |tag: &String| {
            let mut all = cx.each::<ugas_doc::Ability>().flat_map(|(_, a)| &a.tags.ability_tags);
            all.any(|own| implies(own, tag))
        };
        // If the tags fit only one meaning, the fix renames the list. The other meaning could never have applied.
        let meant = match (tags.iter().any(of_ability), tags.iter().any(|tag| cx.is_granted(tag))) {
            (false, true) => Some("CancelledByTags"),
            (true, false) => Some("CancelOtherAbilitiesWithTags"),
            _ => None,
        };
        let message = "CancelAbilitiesWithTags means both CancelledByTags and CancelOtherAbilitiesWithTags".to_owned();
        let help = meant.map_or("write only the list that you mean".to_owned(), |field| format!("write {field}"));
        let rename = |field: &str| {
            let span = entry.span;
            (format!("write {field}"), vec![Edit { span, text: field.to_owned() }])
        };
        let taken = |field: &&str| d.tree.get("Tags").is_some_and(|tags| tags.get(field).is_some());
        report.add_with_fix(d, entry.span, message, &help, meant.filter(|field| !taken(field)).map(rename));
    }
}
