//! Reloads of packs with namespaces, patches and tables.

use crate::kit::folder::Folder;
use std::fs;
use ugas_data::{PackSet, Project, Reloader};

const SET: &str = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: MaxHealth, DefaultBaseValue: 10}]\n";

#[test]
fn a_reloader_applies_namespaces() {
    let f = Folder::empty("ns");
    f.write("a/pack.yaml", "Name: a\nNamespace: a\n");
    f.write("a/a.yaml", SET);
    let r = Reloader::open(f.0.join("a")).unwrap();
    assert!(
        r.rules().find_attribute("a::MaxHealth").is_some(),
        "namespace lost; short: {:?}",
        r.rules().find_attribute("MaxHealth")
    );
}

#[test]
fn a_reloader_applies_patches() {
    let f = Folder::empty("patch");
    f.write("a/pack.yaml", "Name: a\n");
    f.write("a/a.yaml", SET);
    f.write("b/pack.yaml", "Name: b\nRequires: [a]\n");
    f.write("b/p.yaml", "Kind: patch\nTarget: Vitals\nSet: {\"Attributes[MaxHealth].DefaultBaseValue\": 20}\n");
    PackSet::read([f.0.join("b")]).unwrap();
    let r = Reloader::open(f.0.join("b"));
    assert!(r.is_ok(), "{:?}", r.err());
}

#[test]
fn a_reloader_notices_tables() {
    let f = Folder::empty("csv");
    f.write("c.yaml", "Kind: curve\nName: C\nCsv: c.csv\n");
    f.write("c.csv", "1,10\n");
    let mut r = Reloader::open(&f.0).unwrap();
    r.poll();
    r.poll();
    f.write("c.csv", "1,20\n2,30\n");
    assert!(r.poll().is_some(), "table change missed");
}

#[test]
fn an_unreadable_file_is_reported_once() {
    let f = Folder::empty("bad");
    f.write("a.yaml", SET);
    let mut r = Reloader::open(&f.0).unwrap();
    fs::write(f.0.join("z.yaml"), [0xff, 0xfe, 0xff]).unwrap();
    assert!(r.poll().unwrap().is_err());
    r.poll();
    assert!(r.poll().is_none(), "reported repeatedly");
}

#[test]
fn points_of_a_patch_override_a_table() {
    let f = Folder::empty("pc");
    f.write("a/pack.yaml", "Name: a\n");
    f.write("a/c.yaml", "Kind: curve\nName: C\nCsv: c.csv\n");
    f.write("a/c.csv", "1,10\n");
    f.write("b/pack.yaml", "Name: b\nRequires: [a]\n");
    f.write("b/p.yaml", "Kind: patch\nTarget: C\nSet: {Points: [{X: 1, Y: 99}]}\n");
    let set = PackSet::read([f.0.join("b")]).unwrap();
    let read = format!("{:?}", set.docs().map(|l| l.doc.clone()).collect::<Vec<_>>());
    assert!(read.contains("99"), "{read}");
}

#[test]
fn a_patch_may_name_its_target_last() {
    let go = |patch: &str| {
        let mut p = Project::default();
        p.put("p/a/pack.yaml", "Name: a\n");
        p.put("p/a/a.yaml", "Kind: gameplay_ability\nName: GA_Hit\n");
        p.put("p/b/pack.yaml", "Name: b\nNamespace: b\nRequires: [a]\n");
        p.put("p/b/e.yaml", "Kind: gameplay_effect\nName: GE_Cost\nDurationPolicy: Instant\n");
        p.put("p/b/p.yaml", patch);
        let errors: Vec<String> = p
            .check()
            .into_iter()
            .filter(|f| f.severity == ugas_data::Severity::Error)
            .map(|f| format!("{}:{}: {}", f.file, f.line, f.message))
            .collect();
        errors
    };
    assert_eq!(go("Kind: patch\nTarget: GA_Hit\nSet:\n  Cost: GE_Cost\n"), Vec::<String>::new(), "usual order");
    assert_eq!(go("Kind: patch\nSet:\n  Cost: GE_Cost\nTarget: GA_Hit\n"), Vec::<String>::new(), "Set first");
}

#[test]
fn a_table_used_by_two_documents_updates_both() {
    let f = Folder::empty("shared");
    f.write("a.yaml", "Kind: curve\nName: CA\nCsv: c.csv\n");
    f.write("b.yaml", "Kind: curve\nName: CB\nCsv: c.csv\n");
    f.write("c.csv", "1,10\n");
    let mut r = Reloader::open(&f.0).unwrap();
    r.poll();
    r.poll();
    f.write("c.csv", "1,20\n2,30\n");
    r.poll().unwrap().unwrap();
    let t = format!(
        "{:?}",
        r.project()
            .sources()
            .iter()
            .flat_map(|s| &s.docs)
            .map(|d| d.loaded.as_ref().map(|l| l.doc.clone()))
            .collect::<Vec<_>>()
    );
    assert!(!t.contains("10.0"), "{t}");
}

#[test]
fn a_table_saved_within_one_tick_is_noticed() {
    let f = Folder::empty("tick");
    f.write("a.yaml", "Kind: curve\nName: CA\nCsv: c.csv\n");
    f.write("c.csv", "1,10\n");
    let at = fs::metadata(f.0.join("c.csv")).unwrap().modified().unwrap();
    let mut r = Reloader::open(&f.0).unwrap();
    f.write("c.csv", "1,20\n"); // the same length, within one tick of the clock
    fs::File::options().write(true).open(f.0.join("c.csv")).unwrap().set_modified(at).unwrap();
    assert!(r.poll().is_some() || r.poll().is_some(), "missed for ever");
}

#[test]
fn patches_over_the_work_limit_are_reported() {
    let mut big = String::from("Kind: gameplay_effect\nName: GE_Big\nDurationPolicy: Instant\nModifiers:\n");
    let mut patches = String::new();
    for i in 0..800 {
        big.push_str("  - {Attribute: MaxHealth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 6}}\n");
        patches
            .push_str(&format!("---\nKind: patch\nTarget: GE_Big\nSet: {{\"Modifiers[{i}].Magnitude.Value\": 4}}\n"));
    }
    let mut p = Project::default();
    p.put("a.yaml", SET);
    p.put("big.yaml", big);
    p.put("patches.yaml", patches);
    let limits: Vec<_> = p.check().into_iter().filter(|f| f.id == "limit").collect();
    assert_eq!(limits.len(), 1, "{limits:?}");
    assert!(&*limits[0].file == "patches.yaml" && limits[0].help.is_some());
}

#[test]
fn the_tables_of_one_file_share_a_limit_of_lines() {
    let f = Folder::empty("many");
    let table: String = (0..40_000).map(|i| format!("{i},1\n")).collect();
    f.write("c.csv", &table);
    let curves: String = (0..4).map(|i| format!("---\nKind: curve\nName: C{i}\nCsv: c.csv\n")).collect();
    f.write("c.yaml", &curves);
    let findings = Reloader::open(&f.0).err().unwrap();
    assert!(findings[0].message.contains("more than 100000 lines") && findings[0].line == 12, "{findings:?}");
}
