//! Curves and stats from CSV tables: accepted formats, errors with locations, and no reads outside the folder.

use crate::kit::folder::Folder;
use std::path::PathBuf;
use ugas_data::{Code, Project, Severity, read_file, read_packs};
use ugas_doc::Doc;

impl Folder {
    /// A pack with one curve over `table.csv`.
    fn table(name: &str, csv: &str) -> Folder {
        Folder::new(name, &[("p/pack.yaml", "Name: p\nNamespace: p\n"), ("p/c.yaml", CURVE), ("p/table.csv", csv)])
    }

    fn points(&self) -> Vec<(f64, f64)> {
        let packs = read_packs([self.0.join("p")]).unwrap();
        let Doc::Curve(curve) = &packs[0].documents.docs[0].doc else { panic!("a curve") };
        assert_eq!((curve.name.as_str(), &curve.csv), ("p::C_It", &None));
        curve.points.iter().map(|p| (p.x, p.y)).collect()
    }

    /// File, line, column and message of each error.
    fn errors(&self) -> Vec<String> {
        let found = Project::open(self.0.join("p")).unwrap().check();
        let errors = found.iter().filter(|f| f.severity == Severity::Error);
        let name = |f: &str| PathBuf::from(f).file_name().unwrap().to_string_lossy().into_owned();
        let messages: Vec<String> =
            errors.map(|f| format!("{}:{}:{}: {}", name(&f.file), f.line, f.column, f.message)).collect();
        // Reading packs for a game reports the same.
        let also = read_packs([self.0.join("p")]).unwrap_err();
        let also: Vec<String> =
            also.iter().map(|f| format!("{}:{}:{}: {}", name(&f.file), f.line, f.column, f.message)).collect();
        assert_eq!(messages, also);
        messages
    }
}

const CURVE: &str = "Kind: curve\nName: C_It\nCsv: table.csv\n";

#[test]
fn csv_tables_are_read_in_the_formats_of_spreadsheets() {
    for (name, csv) in [
        ("plain", "1,10\n2,20.5\n"),
        ("header", "Level,Damage\r\n1,10\r\n\r\n2,20.5\r\n"),
        ("semicolons", "\u{feff}\"Level\";\"Damage\"\n1;10\n2;20.5"),
        ("tabs", "1\t10\n 2 \t \"20.5\"\n"),
    ] {
        assert_eq!(Folder::table(name, csv).points(), [(1.0, 10.0), (2.0, 20.5)], "{name}");
    }
    let folder = Folder::new("below", &[("c.yaml", "Kind: curve\nName: C\nCsv: t/a.csv\n"), ("t/a.csv", "1,2\n")]);
    let Doc::Curve(curve) = &read_file(folder.0.join("c.yaml")).unwrap().docs[0].doc else { panic!("a curve") };
    assert_eq!(curve.points.len(), 1);
}

#[test]
fn errors_of_a_table_are_reported_at_their_line_of_the_table() {
    let errors_of = |name: &str, csv: &str| Folder::table(name, csv).errors();
    assert_eq!(errors_of("words", "X,Y\n1,10\n2, ten\n"), ["table.csv:3:4: expected a number, found \"ten\""]);
    assert_eq!(errors_of("infinite", "1,10\ninf,3\n"), ["table.csv:2:1: expected a number, found \"inf\""]);
    assert_eq!(errors_of("three", "1,10\n2,20,5\n"), ["table.csv:2:6: expected two columns, X and Y, found 3"]);
    assert_eq!(errors_of("one", "1,10\n2\n"), ["table.csv:2:1: expected two columns, X and Y, found one"]);
    assert_eq!(
        errors_of("falling", "1,10\n3,5\n2,20\n"),
        ["table.csv:3:1: X is 2; write more than 3, the X of the previous point"]
    );
    assert_eq!(
        errors_of("empty", "Level,Damage\n"),
        ["table.csv:1:1: the table has no points; write lines such as 1,10"]
    );
}

#[test]
fn the_size_and_the_errors_of_a_table_are_limited() {
    let long: String = (0..=ugas_data::limits::MAX_POINTS).map(|i| format!("{i},1\n")).collect();
    let folder = Folder::table("long", &long);
    let errors = read_packs([folder.0.join("p")]).unwrap_err();
    assert_eq!((errors[0].code, errors[0].line), (Code::Limit, ugas_data::limits::MAX_POINTS as u32 + 1));
    let wrong = "a,b,c\n".repeat(1000);
    assert!(Folder::table("wrong", &wrong).errors().len() <= ugas_data::limits::MAX_ERRORS_PER_DOCUMENT);
}

#[test]
fn nothing_outside_the_folder_is_read() {
    for (name, csv) in [
        ("up", "../secret.csv"),
        ("deep", "a/../../secret.csv"),
        ("root", "/etc/passwd"),
        ("windows", "C:\\\\secret.csv"),
        ("nothing", ""),
    ] {
        let text = format!("Kind: curve\nName: C_It\nCsv: \"{csv}\"\n");
        let folder = Folder::new(name, &[("p/pack.yaml", "Name: p\n"), ("p/c.yaml", &text), ("secret.csv", "1,2\n")]);
        let errors = folder.errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(
            errors[0].starts_with("c.yaml:3:6: Csv: ") && errors[0].ends_with("is outside the folder of the document")
        );
    }
}

#[cfg(unix)]
#[test]
fn a_symlink_out_of_the_folder_is_not_followed() {
    let folder = Folder::new("link", &[("p/pack.yaml", "Name: p\n"), ("p/c.yaml", CURVE), ("secret.csv", "1,2\n")]);
    std::os::unix::fs::symlink(folder.0.join("secret.csv"), folder.0.join("p/table.csv")).unwrap();
    let errors = Project::open(folder.0.join("p/c.yaml")).unwrap().check();
    assert_eq!(errors[0].message, "Csv: \"table.csv\" is a symbolic link to a file outside the folder of the document");
    assert!(read_packs([folder.0.join("p")]).is_err());
}

/// Returns a pack with a stat table over `table.csv` and an effect that modifies `Stat.Haste`.
fn stats(name: &str, csv: &str) -> Folder {
    let effect = "Kind: gameplay_effect\nName: GE_Haste\nDurationPolicy: Infinite\nModifiers: [{Attribute: Stat.Haste, \
                  Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]\n";
    let table = "Kind: stat_table\nName: T_Stats\nCsv: table.csv\n";
    let files = [("p/pack.yaml", "Name: p\n"), ("p/t.yaml", table), ("p/e.yaml", effect), ("p/table.csv", csv)];
    Folder::new(name, &files)
}

#[test]
fn a_table_of_stats_is_read_from_a_csv_file() {
    let csv = "Tag,Default,Max,Modifiable,Scales\nStat.Haste,1,3,,CastLength\nStat.Mass,80,,no,\n";
    let folder = stats("stats", csv);
    let packs = read_packs([folder.0.join("p")]).unwrap();
    let mut docs = packs[0].documents.docs.iter();
    let table = docs.find_map(|d| if let Doc::StatTable(table) = &d.doc { Some(table) } else { None }).unwrap();
    assert_eq!(table.csv, None);
    let [haste, mass] = table.stats.as_slice() else { panic!("two stats: {:?}", table.stats) };
    assert_eq!((haste.tag.as_str(), haste.default, haste.max, haste.modifiable), ("Stat.Haste", 1.0, Some(3.0), true));
    assert_eq!(haste.scales, Some("CastLength".into()));
    assert_eq!((mass.tag.as_str(), mass.default, mass.modifiable), ("Stat.Mass", 80.0, false));
    let found = Project::open(folder.0.join("p")).unwrap().check();
    assert!(found.iter().all(|f| f.severity != Severity::Error), "{found:?}");

    // With another tag, nothing defines Stat.Haste.
    let found = Project::open(stats("other", "Tag,Default\nStat.Speed,1\n").0.join("p")).unwrap().check();
    assert!(found.iter().any(|f| f.message.contains("unknown attribute Stat.Haste")), "{found:?}");
}

#[test]
fn errors_of_a_table_of_stats_are_reported_at_their_cells() {
    let errors_of = |name: &str, csv: &str| {
        let mut errors = stats(name, csv).errors();
        errors.retain(|e| e.starts_with("table.csv"));
        errors
    };
    let help = "the first line names the columns: Tag, Default and any of Min, Max, Replicate, Modifiable, Scales";
    let columns = errors_of("columns", "Tag,Defalt\nStat.Haste,1\n");
    let expected = [
        format!("table.csv:1:1: the column Default is missing; {help}"),
        format!("table.csv:1:5: unknown column \"Defalt\"; {help}"),
    ];
    assert_eq!(columns, expected);
    let cells = errors_of("cells", "Tag,Default,Modifiable\nStat.Haste,one,maybe\nStat.B,1,no,5\n");
    let expected = [
        "table.csv:2:12: Default: expected a number, found \"one\"",
        "table.csv:2:16: Modifiable: expected true or false, found \"maybe\"",
        "table.csv:3:13: expected 3 columns, found 4",
    ];
    assert_eq!(cells, expected);
    assert_eq!(errors_of("empty", "\n"), [format!("table.csv:1:1: the table is empty; {help}")]);
    let missing = errors_of("missing", "Tag,Default\nStat.Haste,\n");
    assert_eq!(missing, ["table.csv:2:1: Default is missing; write a value in that column"]);
}
