//! `cargo xtask conformance`: lists the requirements that passing tests cover.
//!
//! The inputs are the two requirement catalogues, the `covers` marks in Rust tests, scenarios and browser tests, and
//! the outcomes of one run of these tests. The output is `conformance/MATRIX.md`. Unknown ids, more than six ids on one
//! test, marks without a test, and a lower count than before are errors. A test that did not pass covers no
//! requirement.

mod browser;
mod catalogue;
mod log;
mod matrix;
mod rust_marks;
mod scenario_marks;
mod scenarios;
mod suite;
mod targets;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::repo;
use catalogue::Catalogue;
use log::Outcome;
use matrix::Shown;

/// The maximum number of requirements that one test may claim.
const IDS_MAX: usize = 6;
const MATRIX: &str = "conformance/MATRIX.md";
const RUST_FOLDERS: [&str; 4] = ["crates/", "xtask/", "benches/", "examples/"];

#[derive(Debug, Default)]
struct ConformanceOptions {
    log: Option<PathBuf>,
    scenarios: Option<PathBuf>,
    browser: Option<PathBuf>,
    check: bool,
    allow_fall: bool,
}

impl ConformanceOptions {
    fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut file = || args.next().map(PathBuf::from).with_context(|| format!("{arg} needs a file"));
            match arg.as_str() {
                "--log" => options.log = Some(file()?),
                "--scenarios" => options.scenarios = Some(file()?),
                "--browser" => options.browser = Some(file()?),
                "--check" => options.check = true,
                "--allow-fall" => options.allow_fall = true,
                other => bail!("unknown option `{other}` of conformance"),
            }
        }
        Ok(options)
    }
}

/// The position of a mark, and the data that identifies the outcome of its test.
#[derive(Debug)]
enum Place {
    Rust { path: Vec<String> },
    Scenario,
    Browser,
}

/// A test or scenario with its claims.
#[derive(Debug)]
struct Claim {
    file: String,
    line: usize,
    name: String,
    ids: Vec<String>,
    place: Place,
}

/// All claims of the repository and their errors.
#[derive(Debug, Default)]
struct Claims {
    claims: Vec<Claim>,
    errors: Vec<String>,
}

impl Claims {
    fn add_rust(&mut self, file: &str, text: &str) {
        let found = rust_marks::find(text);
        for line in found.loose {
            self.errors.push(format!(
                "{file}:{line}: this mark belongs to no test; move it directly above a test or into a test"
            ));
        }
        for test in found.tests {
            let (line, name, ids) = (test.line, test.name().to_owned(), test.ids);
            self.claims.push(Claim { file: file.into(), line, name, ids, place: Place::Rust { path: test.path } });
        }
    }

    fn add_scenarios(&mut self, file: &str, text: &str) {
        let found = scenario_marks::find(text);
        for line in found.loose {
            self.errors.push(format!("{file}:{line}: `Covers` is in a document without `Scenario`"));
        }
        for scenario in found.scenarios {
            let (line, name, ids) = (scenario.line, scenario.name, scenario.ids);
            self.claims.push(Claim { file: file.into(), line, name, ids, place: Place::Scenario });
        }
    }

    fn add_browser(&mut self, file: &str, text: &str) {
        let (tests, loose) = browser::find(text);
        for line in loose {
            self.errors.push(format!("{file}:{line}: this mark is not directly above `test(\"…\"`"));
        }
        for browser::Marked { name, line, ids } in tests {
            self.claims.push(Claim { file: file.into(), line, name, ids, place: Place::Browser });
        }
    }

    /// Checks the ids of every claim.
    fn check(&mut self, catalogue: &Catalogue) {
        for claim in &self.claims {
            let place = format!("{}:{}: {}", claim.file, claim.line, claim.name);
            if claim.ids.len() > IDS_MAX {
                let count = claim.ids.len();
                self.errors.push(format!("{place} claims {count} requirements, more than {IDS_MAX}; split the test"));
            }
            for id in claim.ids.iter().filter(|id| !catalogue.contains(id)) {
                self.errors.push(format!("{place} claims {id}, which is not in a catalogue"));
            }
        }
    }
}

/// Runs the command; returns `false` if it found errors.
pub(crate) fn run(args: &[String]) -> Result<bool> {
    let options = ConformanceOptions::parse(args)?;
    let root = repo::root()?;
    let files = repo::files(&root)?;
    let catalogue = Catalogue::read(&root)?;

    let claims = claims_of_tree(&root, &files, &catalogue)?;
    if !claims.errors.is_empty() {
        report("error", &claims.errors);
        return Ok(false);
    }
    let (shown, notes) = counted(&root, &files, &options, &claims.claims)?;
    report("not counted", &notes);
    print!("{}", matrix::summary(&catalogue, &shown));
    conclude(&root, &options, &matrix::render(&catalogue, &shown), shown.len())
}

fn report(kind: &str, lines: &[String]) {
    for line in lines {
        eprintln!("{kind}: {line}");
    }
}

fn claims_of_tree(root: &Path, files: &[String], catalogue: &Catalogue) -> Result<Claims> {
    let mut claims = Claims::default();
    for file in files {
        let is_rust = file.ends_with(".rs") && RUST_FOLDERS.iter().any(|folder| file.starts_with(folder));
        if !is_rust && !is_scenario_file(file) && !browser::is_test_file(file) {
            continue;
        }
        let Some(text) = repo::read_text(root, file)? else { bail!("{file} is not UTF-8 text") };
        if is_rust {
            claims.add_rust(file, &text);
        } else if is_scenario_file(file) {
            claims.add_scenarios(file, &text);
        } else {
            claims.add_browser(file, &text);
        }
    }
    claims.check(catalogue);
    Ok(claims)
}

fn is_scenario_file(file: &str) -> bool {
    file.starts_with("scenarios/") && (file.ends_with(".yaml") || file.ends_with(".yml"))
}

/// Returns the requirements of claims whose test passed, and a note for each claim that does not count.
fn counted(
    root: &Path,
    files: &[String],
    options: &ConformanceOptions,
    claims: &[Claim],
) -> Result<(Shown, Vec<String>)> {
    let sources: Vec<&str> = files.iter().filter(|file| file.ends_with(".rs")).map(String::as_str).collect();
    let results = match &options.log {
        Some(log) => suite::from_log(root, log, &sources)?,
        None => suite::run(root)?,
    };
    let report = match &options.scenarios {
        Some(file) => scenarios::read(root, file)?,
        None if files.iter().any(|file| is_scenario_file(file)) => {
            let folder = root.join("target");
            std::fs::create_dir_all(&folder)?;
            scenarios::run(root, &folder.join("scenarios.json"))?
        }
        None => scenarios::ScenarioReport::new(),
    };
    let pages = match &options.browser {
        Some(file) => browser::read(file)?,
        None if claims.iter().any(|claim| matches!(claim.place, Place::Browser)) => browser::run(root)?,
        None => browser::BrowserReport::new(),
    };
    let roots = roots(root)?;

    let mut shown = Shown::new();
    let mut notes = Vec::new();
    for claim in claims {
        let outcome = match &claim.place {
            Place::Rust { path } => targets::outcome(&claim.file, path, &roots, &results),
            Place::Scenario => report
                .get(&(claim.file.clone(), claim.line))
                .map(|passed| if *passed { Outcome::Passed } else { Outcome::Failed }),
            Place::Browser => pages.get(&(claim.file.clone(), claim.name.clone())).copied(),
        };
        let reason = match outcome {
            Some(Outcome::Passed) => {
                for id in &claim.ids {
                    shown.entry(id.clone()).or_default().insert(format!("{}::{}", claim.file, claim.name));
                }
                continue;
            }
            Some(Outcome::Failed) => "failed",
            Some(Outcome::Ignored) => "is ignored",
            None => "did not run",
        };
        notes.push(format!("{}:{}: {} {reason} ({})", claim.file, claim.line, claim.name, claim.ids.join(", ")));
    }
    Ok((shown, notes))
}

fn roots(root: &Path) -> Result<Vec<targets::Root>> {
    let mut roots = Vec::new();
    for target in repo::packages(root)?.iter().flat_map(|package| &package.targets) {
        if let Some(file) = repo::relative(root, &target.src_path) {
            roots.push(targets::Root { file, is_test: target.kind.iter().any(|kind| kind == "test") });
        }
    }
    Ok(roots)
}

/// Compares the count with the committed count, then writes the matrix or compares it with the committed matrix.
fn conclude(root: &Path, options: &ConformanceOptions, text: &str, count: usize) -> Result<bool> {
    let in_tree = std::fs::read_to_string(root.join(MATRIX)).ok();
    let committed = repo::git(root, &["show", &format!("HEAD:{MATRIX}")]);
    let before = committed.or_else(|| in_tree.clone()).as_deref().and_then(matrix::count_in).unwrap_or(0);
    if count < before && !options.allow_fall {
        eprintln!(
            "error: {count} requirements are covered, {before} were covered before; add passing tests for the others"
        );
        eprintln!("       (for a deliberate removal: cargo xtask conformance --allow-fall)");
        return Ok(false);
    }
    if !options.check {
        std::fs::write(root.join(MATRIX), text).with_context(|| format!("cannot write {MATRIX}"))?;
        println!("wrote {MATRIX}");
    } else if in_tree.as_deref() != Some(text) {
        eprintln!("error: {MATRIX} is out of date; run `cargo xtask conformance` and commit it");
        return Ok(false);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        let mut catalogue = Catalogue::default();
        for n in 1..=7 {
            catalogue.add(&format!("- {{id: T-{n}, level: MAY, area: tags, text: a, check: b}}\n"), None).unwrap();
        }
        catalogue
    }

    #[test]
    fn unknown_ids_and_loose_marks_are_errors() {
        let mut claims = Claims::default();
        claims.add_rust("crates/a/src/lib.rs", "// covers: T-1 T-8\n#[test]\nfn a() {}\n\n// covers: T-2\n");
        claims.add_scenarios("scenarios/a.yaml", "Scenario: A\nCovers: [T-9]\n---\nCovers: [T-1]\n");
        claims.check(&catalogue());
        let heads: Vec<_> = claims.errors.iter().map(|e| e.split_whitespace().next().unwrap_or_default()).collect();
        assert_eq!(
            heads,
            ["crates/a/src/lib.rs:5:", "scenarios/a.yaml:4:", "crates/a/src/lib.rs:3:", "scenarios/a.yaml:1:"]
        );
        assert!(claims.errors[2].contains("T-8"), "{:?}", claims.errors);
    }

    #[test]
    fn six_ids_are_allowed_and_seven_are_not() {
        let mut claims = Claims::default();
        claims.add_rust("crates/a/src/lib.rs", "// covers: T-1 T-2 T-3 T-4 T-5 T-6\n#[test]\nfn a() {}\n");
        claims.check(&catalogue());
        assert_eq!(claims.errors, Vec::<String>::new());
        claims.add_scenarios("scenarios/a.yaml", "Scenario: A\nCovers: [T-1, T-2, T-3, T-4, T-5, T-6, T-7]\n");
        claims.check(&catalogue());
        assert_eq!(claims.errors.len(), 1, "{:?}", claims.errors);
    }

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let args = ["--log", "a", "--check"].map(str::to_owned);
        let options = ConformanceOptions::parse(&args).unwrap();
        assert!(options.check && !options.allow_fall && options.log == Some("a".into()));
        assert!(ConformanceOptions::parse(&["--log".to_owned()]).is_err());
        assert!(ConformanceOptions::parse(&["--logs".to_owned()]).is_err());
    }
}
