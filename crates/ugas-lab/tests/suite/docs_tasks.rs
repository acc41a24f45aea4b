//! The book's page of task types agrees with the code: every type once, with its parameters, which of them are
//! required, and its lists. The test reads the code from the errors of invalid tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use ugas_core::{Rules, TaskCategory};
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Value};

const PAGE: &str = "book/src/tasks.md";
/// A parameter that no task has, and that resembles none.
const NONE: &str = "Qqqqqqqqqqqqqqqq";

/// A row of the page.
#[derive(Debug, Default, PartialEq)]
struct Row {
    needs: BTreeSet<String>,
    /// Exactly one of them.
    either: BTreeSet<String>,
    may: BTreeSet<String>,
}

/// Words between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// Rows of tables whose first cell is one quoted word, by that word.
fn page() -> BTreeMap<String, Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let mut rows = BTreeMap::new();
    for line in std::fs::read_to_string(path).unwrap().lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let name = quoted(cells[0]).next().unwrap();
        let (fixed, open) = cells[1].split_once('[').unwrap_or((cells[1], ""));
        let mut row = Row { may: quoted(open).collect(), ..Row::default() };
        // `A` or `B`, `A` (or `B`); a single name is required.
        for part in fixed.split(", ") {
            let words: BTreeSet<String> = quoted(part).collect();
            match part.contains("(or ") {
                true => row.may.extend(words),
                false if words.len() > 1 => row.either.extend(words),
                false => row.needs.extend(words),
            }
        }
        assert!(rows.insert(name.clone(), row).is_none(), "{name} is on the page twice");
    }
    rows
}

/// The messages about one task.
fn errors_of(task: AbilityTask) -> Vec<String> {
    let builder = Rules::builder()
        .add(AttributeSet::new("Vitals").with(Attribute::new("Health", 1.0)))
        .add(Ability { tasks: vec![task], ..Ability::new("GA_It") });
    match builder.build() {
        Ok(_) => Vec::new(),
        Err(e) => e.issues.into_iter().map(|i| i.message).collect(),
    }
}

fn is_wait(category: TaskCategory) -> bool {
    !matches!(category, TaskCategory::Action | TaskCategory::Request | TaskCategory::Composite)
}

/// The accepted parameters, read from the errors of a task with one unknown parameter.
fn code(name: &str, category: TaskCategory) -> Row {
    let mut task = AbilityTask::new(name);
    task.params.insert(NONE.to_owned(), Value::Number(1.0));
    let mut row = Row::default();
    for message in errors_of(task) {
        let (place, reason) = message.split_once(": ").unwrap();
        let param = place.strip_prefix("Tasks[0].Params.");
        if let (Some(param), true) = (param, reason.starts_with("missing; ")) {
            row.needs.insert(param.to_owned());
        } else if let Some((_, words)) = reason.split_once(" needs either ") {
            let words = words.split_once(", found ").unwrap().0;
            row.either.extend(words.split(" or ").map(str::to_owned));
        } else if let Some((_, known)) = reason.split_once("; the parameters are ") {
            row.may.extend(known.split(", ").map(str::to_owned));
        }
    }
    if is_wait(category) {
        // Documented once for all of them.
        let common = ["TimeOut", "OnFail", "ClientAnswers", "ClientAnswersAfter", "ClientEffects"];
        assert!(common.into_iter().all(|param| row.may.remove(param)), "{name}");
    }
    row.may.retain(|p| !row.needs.contains(p) && !row.either.contains(p));
    row
}

#[test]
fn the_book_lists_every_task_type_with_its_parameters() {
    let page = page();
    let rules = Rules::builder().build().unwrap();
    let mut registered = BTreeSet::new();
    for (_, name, category) in rules.task_kinds().filter(|(_, name, _)| *name != "Validate") {
        registered.insert(name.to_owned());
        let found = page.get(name).unwrap_or_else(|| panic!("{PAGE} has no row for {name}"));
        if category == TaskCategory::Composite {
            continue;
        }
        let mut wanted = code(name, category);
        // Two spellings of one parameter: the page has them side by side.
        if let Some(one) = ["Tag", "EventName"].into_iter().find(|p| {
            let other = if *p == "Tag" { "WaitTag" } else { "EventTag" };
            wanted.needs.contains(*p) && wanted.may.contains(other)
        }) {
            wanted.needs.remove(one);
            wanted.may.insert(one.to_owned());
        }
        assert_eq!(found, &wanted, "{name}: on the page, and in the code");
    }
    let page: BTreeSet<String> = page.into_keys().collect();
    assert_eq!(page, registered, "{PAGE} names types that do not exist");
}

/// The lists and conditions that a type accepts, read from the errors of a task with all of them.
#[test]
fn the_book_lists_composites_with_their_fields() {
    let page = page();
    let rules = Rules::builder().build().unwrap();
    for (_, name, category) in rules.task_kinds().filter(|(_, name, _)| *name != "Validate") {
        let inner = vec![AbilityTask::new("CommitAbility")];
        let full = AbilityTask {
            tasks: inner.clone(),
            then: inner.clone(),
            r#else: inner,
            query: Some("State.Alive".to_owned()),
            when: Some("1".to_owned()),
            count: Some(1),
            ..AbilityTask::new(name)
        };
        let errors = errors_of(full);
        let has = |field: &str| !errors.iter().any(|m| m.ends_with(&format!(": {name} has no {field}")));
        let fields: BTreeSet<String> = ["Tasks", "Query", "When", "Then", "Else", "Count"]
            .into_iter()
            .filter(|f| has(f))
            .map(str::to_owned)
            .collect();
        if category == TaskCategory::Composite {
            let row = &page[name];
            let shown: BTreeSet<String> = row.needs.union(&row.either).cloned().collect();
            assert_eq!(shown, fields, "{name}");
        } else {
            let own: &[&str] = if name == "WaitGameplayEvent" { &["Tasks"] } else { &[] };
            assert_eq!(fields, own.iter().map(|f| (*f).to_owned()).collect(), "{name}");
        }
    }
}
