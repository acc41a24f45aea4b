//! Measures the time to read, resolve, build and lint a large project of five thousand generated definitions in memory.

use crate::clock;
use crate::table::{Table, figure};
use std::fmt::Write;
use std::path::Path;
use ugas_core::{Sim, SimConfig, SpawnSpec};
use ugas_data::{Diagnostic, Project, Reloader, Severity};

/// The number of definitions. The target is to check them within a second.
const DEFINITIONS: usize = 5000;
/// The number of definitions in a file.
const IN_FILE: usize = 50;

/// Returns the files of a project with attribute sets, tags, curves, effects, abilities and ability sets.
pub(crate) fn texts() -> Vec<String> {
    let mut files = Vec::new();
    for file in 0..DEFINITIONS / IN_FILE {
        let mut text = String::new();
        for at in 0..IN_FILE {
            let n = file * IN_FILE + at;
            if at > 0 {
                text.push_str("---\n");
            }
            let _ = definition(&mut text, file, at, n);
        }
        files.push(text);
    }
    files
}

fn definition(text: &mut String, file: usize, at: usize, n: usize) -> std::fmt::Result {
    match at {
        0 => {
            writeln!(text, "Kind: attribute_set\nName: Set{file}\nAttributes:")?;
            for a in 0..8 {
                writeln!(text, "  - {{Name: Stat{file}x{a}, DefaultBaseValue: {}, Clamping: {{Min: 0}}}}", 100 + a)?;
            }
            Ok(())
        }
        1 => {
            writeln!(text, "Kind: gameplay_tag\nTags:")?;
            for t in 0..IN_FILE {
                writeln!(text, "  - {{Tag: State.F{file}.T{t}, Description: generated}}")?;
                writeln!(text, "  - {{Tag: Cooldown.F{file}.T{t}, Description: generated}}")?;
            }
            Ok(())
        }
        2 => writeln!(text, "Kind: curve\nName: C_{file}\nPoints: [{{X: 1, Y: 10}}, {{X: 10, Y: 100}}]"),
        3 => {
            writeln!(text, "Kind: ability_set\nName: AS_{file}\nAttributeSets: [Set{file}]\nAbilities:")?;
            for a in (4..IN_FILE).filter(|a| a % 4 == 3) {
                writeln!(text, "  - {{Ability: GA_{}, Level: 1}}", file * IN_FILE + a)?;
            }
            Ok(())
        }
        _ => match at % 4 {
            0 => writeln!(
                text,
                "Kind: gameplay_effect\nName: GE_{n}\nDurationPolicy: HasDuration\n\
                 Duration: {{Type: ScalableFloat, Value: 5}}\nPeriod: {{Period: 0.5}}\nModifiers:\n  \
                 - {{Attribute: Stat{file}x{}, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: -2, Curve: C_{file}}}}}\n  \
                 - {{Attribute: Stat{file}x0, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: 5}}}}\n\
                 GrantedTags: [State.F{file}.T{at}]",
                at % 8
            ),
            1 => writeln!(
                text,
                "Kind: gameplay_effect\nName: GE_{n}\nDurationPolicy: Instant\nModifiers:\n  \
                 - {{Attribute: Stat{file}x0, Operation: Add, Magnitude: {{Type: ScalableFloat, Value: -10}}}}"
            ),
            2 => writeln!(
                text,
                "Kind: gameplay_effect\nName: GE_{n}\nDurationPolicy: HasDuration\n\
                 Duration: {{Type: ScalableFloat, Value: 8}}\nGrantedTags: [Cooldown.F{file}.T{at}]"
            ),
            _ => writeln!(
                text,
                "Kind: gameplay_ability\nName: GA_{n}\nTags:\n  AbilityTags: [State.F{file}.T{at}]\n  \
                 ActivationRequiredTags: [State.F{file}.T{}]\nCost: GE_{}\nCooldown: GE_{}\nTasks:\n  \
                 - {{Type: ApplyEffectToOwner, Params: {{EffectClass: GE_{}}}}}\n  - {{Type: WaitDelay, Params: {{Duration: 1}}}}",
                if at > 7 { at - 3 } else { 4 },
                n - 2,
                n - 1,
                if at > 7 { n - 3 } else { file * IN_FILE + 4 }
            ),
        },
    }
}

/// Returns a table with the milliseconds of each step in the fastest repetition.
pub(crate) fn table(repetitions: usize) -> Result<Table, String> {
    let texts = texts();
    let mut best = [f64::INFINITY; 3];
    let mut keep = |at: usize, since: u64| {
        best[at] = best[at].min((clock::nanoseconds() - since) as f64 / 1e6);
    };
    for _ in 0..repetitions {
        let start = clock::nanoseconds();
        let mut project = Project::default();
        for (i, text) in texts.iter().enumerate() {
            project.put(format!("file{i}.yaml"), text.clone());
        }
        keep(0, start);
        let built = clock::nanoseconds();
        for set in project.sets() {
            let (rules, issues) = project.build(&set);
            let slip = issues.first().map(|i| format!("{}: {}", i.document, i.message));
            rules.ok_or_else(|| format!("the generated project does not build: {slip:?}"))?;
        }
        keep(1, built);
        let checked = clock::nanoseconds();
        let findings = project.check();
        keep(2, checked);
        if let Some(f) = findings.iter().find(|f| f.severity != Severity::Info) {
            return Err(format!("the generated project is not clean: {}:{}: {}", f.file, f.line, f.message));
        }
    }
    // The worst case: one large file with many findings.
    let faulty = texts
        .join("---\n")
        .replace("Tag: State.", "Tag: Other.")
        .replace("Add, Magnitude: {Type: ScalableFloat, Value: 5}", "Add, Magnitude: {Type: ScalableFloat, Value: 0}");
    let start = clock::nanoseconds();
    let mut project = Project::default();
    project.put("one.yaml", faulty);
    let findings = project.check().len();
    let worst = (clock::nanoseconds() - start) as f64 / 1e6;
    let reloaded = reload(&texts, repetitions)?;
    let bytes: usize = texts.iter().map(String::len).sum();
    let title = format!("Loading {DEFINITIONS} definitions ({} KiB), ms of CPU time", bytes / 1024);
    let mut table = Table::new(title, &["step", "ms"]);
    table.row(vec!["read".to_owned(), figure(best[0])]);
    table.row(vec!["resolve and build".to_owned(), figure(best[1])]);
    table.row(vec!["lint".to_owned(), figure((best[2] - best[1]).max(0.0))]);
    table.row(vec!["all".to_owned(), figure(best[0] + best[2])]);
    table.row(vec![format!("all, one file, {findings} findings"), figure(worst)]);
    table.row(vec!["reload of one changed file".to_owned(), figure(reloaded)]);
    Ok(table)
}

/// Returns the milliseconds of a hot reload in the fastest repetition: reading one changed file of many, building new
/// rules with the same ids, and reloading a sim.
fn reload(texts: &[String], repetitions: usize) -> Result<f64, String> {
    let folder = std::env::temp_dir().join(format!("ugas-bench-reload-{}", std::process::id()));
    let result = reload_in(&folder, texts, repetitions);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn reload_in(folder: &Path, texts: &[String], repetitions: usize) -> Result<f64, String> {
    let say = |e: std::io::Error| e.to_string();
    std::fs::create_dir_all(folder).map_err(say)?;
    for (i, text) in texts.iter().enumerate() {
        std::fs::write(folder.join(format!("file{i}.yaml")), text).map_err(say)?;
    }
    let slip = |findings: Vec<Diagnostic>| findings.first().map_or(String::new(), |f| f.message.clone());
    let mut reloader = Reloader::open(folder).map_err(slip)?;
    let rules = reloader.rules().clone();
    let set = rules.find_set("Set7").ok_or("the generated project has no Set7")?;
    let mut sim = Sim::new(rules, SimConfig::default());
    for _ in 0..100 {
        sim.spawn(SpawnSpec::sets([set])).map_err(|r| r.to_string())?;
    }
    let mut best = f64::INFINITY;
    for n in 0..repetitions {
        let changed = texts[7].replace("DefaultBaseValue: 100", &format!("DefaultBaseValue: {}", 200 + n));
        std::fs::write(folder.join("file7.yaml"), changed).map_err(say)?;
        let start = clock::nanoseconds();
        let rules = reloader.poll().ok_or("the reloader did not detect the changed file")?.map_err(slip)?;
        let migration = sim.reload(rules).map_err(|e| e.to_string())?;
        best = best.min((clock::nanoseconds() - start) as f64 / 1e6);
        if migration.bases != 100 {
            return Err(format!("the reload did not change every controller: {migration}"));
        }
    }
    Ok(best)
}
