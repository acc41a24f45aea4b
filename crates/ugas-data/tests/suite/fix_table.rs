//! The changes of `ugas fix` to each invalid document and to each lint's bad example. `fixes.txt` lists the lines
//! before and after. After an intended change, regenerate the file with `UGAS_BLESS=1 cargo test -p ugas-data --test
//! suite fix_table` and review the difference, because users get these changes without confirmation.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use ugas_data::{AppliedFix, FileFix, Project, lint_rules};

/// Valid documents that the invalid ones refer to.
const BASE: &str = include_str!("../base.yaml");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The invalid documents, by name: those that use the valid ones, and the bad examples of the lints.
fn fixtures() -> Vec<(String, String, &'static str)> {
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a text");
    let names = std::fs::read_dir(folder().join("invalid")).expect("the folder of wrong documents");
    let mut list: Vec<(String, String, &str)> = names
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), read(path), BASE))
        .collect();
    list.sort();
    for rule in lint_rules() {
        list.push((format!("{}.yaml", rule.id), read(folder().join("lint").join(rule.id).join("bad.yaml")), ""));
    }
    list
}

fn project(name: &str, text: &str, base: &str) -> Project {
    let mut project = Project::default();
    if !base.is_empty() {
        project.put("base.yaml", base);
    }
    project.put(name, text);
    project
}

/// The fix of the invalid file; the valid ones have none.
fn fix_of(name: &str, text: &str, base: &str) -> Option<FileFix> {
    let mut fixes = project(name, text, base).fixes();
    assert!(fixes.iter().all(|fix| &*fix.name == name), "{name}: valid files are unchanged");
    fixes.pop().filter(|fix| !fix.changes.is_empty())
}

/// The text with the edits that the findings of one check carry, put in by hand.
fn by_hand(name: &str, text: &str, base: &str) -> String {
    let findings = project(name, text, base).check();
    let mut edits: Vec<_> = findings.iter().filter(|f| &*f.file == name).filter_map(|f| f.fix.as_ref()).collect();
    edits.sort_by_key(|fix| fix.edits[0].span);
    edits.dedup_by(|a, b| a.edits == b.edits);
    let mut out = text.to_owned();
    for edit in edits.iter().rev().flat_map(|fix| fix.edits.iter().rev()) {
        out.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
    }
    out
}

fn rows(before: &str, fix: &FileFix) -> String {
    let mut out = String::new();
    for AppliedFix { id, line, column, title } in &fix.changes {
        let _ = writeln!(out, "  {line}:{column} {id}: {title}");
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), fix.text.lines().collect());
    // Lines that both have at the beginning and at the end stay.
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let changed = |lines: &[&str], other: &[&str], sign: char, out: &mut String| {
        for line in lines[start..lines.len() - end].iter().filter(|l| !other[start..other.len() - end].contains(l)) {
            let _ = writeln!(out, "  {sign} {line}");
        }
    };
    changed(&old, &new, '-', &mut out);
    changed(&new, &old, '+', &mut out);
    out
}

#[test]
fn every_fix_equals_its_row_of_the_table() {
    let mut table = String::new();
    for (name, text, base) in fixtures() {
        let Some(fix) = fix_of(&name, &text, base) else { continue };
        assert_eq!(fix.text, by_hand(&name, &text, base), "{name}: the listed edits and no others");
        assert!(fix.refused.is_empty(), "{name}: {:?}", fix.refused);
        assert_eq!(fix_of(&name, &fix.text, base), None, "{name}: once is enough");
        let _ = write!(table, "{name}\n{}", rows(&text, &fix));
    }
    let path = folder().join("fixes.txt");
    if std::env::var_os("UGAS_BLESS").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == table, "tests/fixes.txt is not what is done:\n{table}");
}

/// The same files as people keep them: a comment at every line's end and empty lines between.
#[test]
fn fixes_keep_comments_and_blank_lines() {
    let mut some = 0;
    for (name, text, base) in fixtures() {
        let Some(plain) = fix_of(&name, &text, base) else { continue };
        let kept = |line: &str| match line.trim().is_empty() || line.starts_with("---") {
            true => format!("{line}\n"),
            false => format!("{line}   # kept, with: signs\n\n"),
        };
        let busy: String = text.lines().map(kept).collect();
        let Some(fix) = fix_of(&name, &busy, base) else {
            // A line that goes would take its comment along, so it is left to people.
            assert!(plain.changes.iter().all(|c| c.title.starts_with("remove ")), "{name} is no longer fixed");
            continue;
        };
        some += 1;
        assert_eq!(fix.text, by_hand(&name, &busy, base), "{name}");
        assert_eq!(
            fix.text.matches("   # kept, with: signs\n\n").count(),
            busy.matches('#').count() - text.matches('#').count()
        );
        // So is a rule that a modifier replaces.
        let taken_out = plain.changes.iter().filter(|c| c.title.starts_with("replace ")).count();
        assert_eq!(fix.changes.len(), plain.changes.len() - taken_out, "{name}");
    }
    assert!(some > 15, "{some}");
}

/// A fixed document gives the rules of the correct one; a document without fixes keeps its rules.
#[test]
fn a_fix_gives_the_rules_of_the_correct_document() {
    let hash = |text: &str| {
        let project = project("a.yaml", text, BASE);
        let (rules, issues) = project.build(&project.sets()[0]);
        rules.unwrap_or_else(|| panic!("{issues:?}")).fingerprint()
    };
    let effect = "Kind: gameplay_effect\nName: GE_A\nDurationPolicy: Infinite\nGrantedTags: [State.Alive] # tag\n\
                  Modifiers:\n  - {Attribute: Health, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 5}}\n";
    for (right, wrong) in [
        ("Attribute: Health", "Attribute: Helth"),
        ("Operation: Add", "Operation: Ad"),
        ("[State.Alive]", "[State.Alife]"),
        ("DurationPolicy:", "DurationPolic:"),
        ("Value: 5}}", "Value: 5}, Channel: Boots}"),
    ] {
        let broken = effect.replace(right, wrong);
        let fix = fix_of("a.yaml", &broken, BASE).unwrap_or_else(|| panic!("{wrong} is fixed"));
        assert_eq!(fix.text, effect, "{wrong}");
        assert_eq!(hash(&fix.text), hash(effect));
    }
}
