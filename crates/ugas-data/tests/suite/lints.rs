//! Every lint rule has a page, a file that triggers it at a known place and a file that does not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use ugas_data::{Project, Severity, lint_rule, lint_rules};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lint")
}

fn text(id: &str, name: &str) -> String {
    let path = fixtures().join(id).join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: every rule needs this file: {e}", path.display()))
}

fn found(text: &str, strict: bool) -> Vec<(String, u32, u32)> {
    let mut project = Project::default();
    project.put("fixture.yaml", text);
    let findings = project.check_with(strict);
    // Rules do not check a fixture that does not build, so it must not count as a good one.
    let broken = |f: &ugas_data::Diagnostic| f.severity == Severity::Error;
    if findings.iter().any(broken) {
        let describe = |f: ugas_data::Diagnostic| (format!("{}: {}", f.id, f.message), f.line, f.column);
        return findings.into_iter().map(describe).collect();
    }
    findings.into_iter().map(|f| (f.id, f.line, f.column)).collect()
}

fn places(text: &str, id: &str, strict: bool) -> Vec<String> {
    let of_rule = found(text, strict).into_iter().filter(|f| f.0 == id || f.0.contains(": "));
    let shown = |(found, line, column): (String, u32, u32)| match found == id {
        true => format!("{line}:{column}"),
        false => format!("{line}:{column} {found}"),
    };
    of_rule.map(shown).collect()
}

// covers: UGAS-B.0-04
#[test]
fn every_rule_reports_its_bad_fixture_and_not_its_good_one() {
    let mut failures = Vec::new();
    for rule in lint_rules() {
        let bad = text(rule.id, "bad.yaml");
        let expected = bad.lines().next().and_then(|l| l.strip_prefix("# expect: "));
        let expected: Vec<&str> = expected.expect("the first line has the expected locations").split(' ').collect();
        let found = places(&bad, rule.id, true);
        if found != expected {
            failures.push(format!("{}: bad.yaml: expected {expected:?}, found {found:?}", rule.id));
        }
        let found = places(&text(rule.id, "good.yaml"), rule.id, true);
        if !found.is_empty() {
            failures.push(format!("{}: good.yaml: found {found:?}", rule.id));
        }
        // A file that is in no pack need not pin a version.
        let asked = rule.strict || rule.id == "schema-missing";
        if places(&bad, rule.id, false).is_empty() != asked {
            failures.push(format!("{}: reports in the wrong mode without --strict", rule.id));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_fixture_belongs_to_a_rule() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(lint_rule(&name).is_some(), "tests/lint/{name} belongs to no rule");
    }
}

#[test]
fn every_rule_has_a_page() {
    let mut ids = BTreeSet::new();
    for rule in lint_rules() {
        assert!(ids.insert(rule.id), "{} is listed twice", rule.id);
        for (what, text) in [("why", rule.why), ("example", rule.example), ("fix", rule.fix)] {
            assert!(text.len() > 20, "{}: the {what} is too short", rule.id);
        }
        assert!(!rule.summary.ends_with('.') && rule.summary.len() < 120, "{}: {}", rule.id, rule.summary);
        let file = format!("src/lint/{}.rs", rule.id.replace('-', "_"));
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file).is_file(), "{} should be in {file}", rule.id);
    }
}

#[test]
fn a_finding_has_a_location_a_message_and_a_help() {
    let mut project = Project::default();
    project.put("a.yaml", text("multiply-as-factor", "bad.yaml"));
    let findings = project.check();
    let finding = findings.iter().find(|f| f.id == "multiply-as-factor").unwrap();
    assert_eq!(finding.message, "Multiply 1.5 is a bonus of 150 %: 2.5 times Speed");
    assert_eq!(finding.help.as_deref(), Some("for 1.5 times the value, write 0.5"));
    assert_eq!(finding.span.of(&project.sources()[0].text), Some("1.5"));
    assert_eq!((finding.end_line, finding.end_column), (finding.line, finding.column + 3));
}

// covers: UGAS-B.0-04
#[test]
fn a_pack_pins_the_version_for_its_documents() {
    let check = |pack: &str| {
        let mut project = Project::default();
        project.put("one/pack.yaml", pack);
        project.put("one/a.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Alive}]\n");
        project.check().into_iter().map(|f| (f.id, f.line, f.column)).collect::<Vec<_>>()
    };
    assert_eq!(check("Name: one\n"), [("schema-missing".to_owned(), 1, 7)]);
    assert_eq!(check("Name: one\nSpecification: v1.0.0-draft.3\n"), []);
}

#[test]
fn a_finding_in_a_required_pack_is_reported_in_that_pack_only() {
    let mut project = Project::default();
    let pack = "Specification: v1.0.0-draft.3\n";
    project.put("core/pack.yaml", format!("Name: core\n{pack}"));
    project.put("core/a.yaml", text("unbounded-stacking", "bad.yaml"));
    project.put("one/pack.yaml", format!("Name: one\nRequires: [core]\n{pack}"));
    project.put("one/a.yaml", "Kind: gameplay_tag\nTags: [{Tag: State.Alive}]\n");
    let findings = project.check();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(&*findings[0].file, "core/a.yaml");
}

/// Every id that the sources name has a page, wherever the finding comes from.
#[test]
fn every_finding_has_a_page() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for folder in ["ugas-core/src/rules", "ugas-data/src"] {
        let mut folders = vec![crates.join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => sources.push(path),
                }
            }
        }
    }
    // Words with a hyphen that are not ids.
    let other = ["no-such-rule", "no-such-id"];
    let mut missing = BTreeSet::new();
    let mut count = 0;
    for path in sources.iter().filter(|path| !path.ends_with("tests.rs")) {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let words = code.split('"').filter(|word| {
            let mut parts = word.split('-');
            word.contains('-') && parts.all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_lowercase()))
        });
        for id in words.filter(|word| !other.contains(word) && !word.starts_with("x-ugas-")) {
            count += 1;
            if ugas_data::finding_page(id).is_none() {
                missing.insert(id.to_owned());
            }
        }
    }
    assert!(count > 150, "{count} ids");
    assert!(missing.is_empty(), "these ids have no page in finding_page.rs: {missing:?}");
    for page in ugas_data::finding_pages() {
        assert!(lint_rule(page.id).is_none(), "{} has two pages", page.id);
        assert!(page.summary.ends_with('.') && page.fix.ends_with('.'), "{}", page.id);
    }
}

const INTRO: &str = "# Lints

`ugas check` reports errors first: files that cannot be read and definitions that cannot be built. If there are no errors, it
runs the lint rules, which find data that loads but is probably wrong. Each rule has an id, a severity and a page, which `ugas
explain-lint <id>` prints. Rules marked strict run only with `--strict`, because they also report valid data. `ugas fix`
applies the safe fixes and lists each change. It keeps comments and order. It writes a file only if the new text parses to the
old tree plus the listed changes. `ugas fix --dry-run` only lists the changes.

To allow a finding, write a comment on the line of the finding, or alone on the line above:

```yaml
Modifiers:
  # ugas-allow: multiply-as-factor (two and a half times the gravity)
  - {Attribute: GravityScale, Operation: Multiply, Magnitude: {Type: ScalableFloat, Value: 1.5}}
```

| Rule | Severity | What it finds |
|---|---|---|
";

const OTHERS: &str = "
## Errors

These ids come from reading files and building rules. `ugas explain-lint <id>` prints the same text.

| Id | Cause | How to fix it |
|---|---|---|
";

/// The book's page, made from the rules; `UGAS_BLESS=1` writes it.
#[test]
fn the_book_lists_every_rule() {
    let mut page = INTRO.to_owned();
    for rule in lint_rules() {
        let severity = if rule.strict { "strict" } else { rule.severity.name() };
        page += &format!("| [`{0}`](#{0}) | {severity} | {1} |\n", rule.id, rule.summary);
    }
    page += OTHERS;
    for other in ugas_data::finding_pages() {
        page += &format!("| `{}` | {} | {} |\n", other.id, other.summary, other.fix);
    }
    for rule in lint_rules() {
        page += &format!("\n#{}", rule.page().replace("\n## ", "\n### "));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/lints.md");
    if std::env::var_os("UGAS_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == page, "book/src/lints.md is not what the rules say; write it with UGAS_BLESS=1");
}
