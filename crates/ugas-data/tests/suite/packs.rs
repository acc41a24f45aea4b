//! Packs on disk: their fields, their requirements, and errors.

use std::fs;
use std::path::PathBuf;
use ugas_data::{Project, ReadErrors, read_pack_file, read_packs};

/// A folder of packs that goes away with the test.
struct Packs(PathBuf);

impl Packs {
    fn new(name: &str, packs: &[(&str, &str)]) -> Packs {
        let path = std::env::temp_dir().join(format!("ugas-data-packs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        for (pack, text) in packs {
            fs::create_dir_all(path.join(pack)).unwrap();
            fs::write(path.join(pack).join("pack.yaml"), text).unwrap();
            fs::write(path.join(pack).join("curve.yaml"), format!("Kind: curve\nName: C_{pack}\n")).unwrap();
        }
        Packs(path)
    }

    fn names(&self, packs: &[&str]) -> Result<Vec<String>, ReadErrors> {
        let read = read_packs(packs.iter().map(|p| self.0.join(p)))?;
        let docs = read.iter().flat_map(|p| &p.documents.docs);
        Ok(docs.map(|d| d.doc.name().to_owned()).collect())
    }

    fn refused(&self, pack: &str) -> String {
        let errors = self.names(&[pack]).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors}");
        format!("{}:{} {}", errors[0].line, errors[0].column, errors[0].message)
    }
}

impl Drop for Packs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn required_packs_are_read_first_and_once() {
    let packs = Packs::new(
        "order",
        &[
            ("core", "Name: core\n"),
            ("base", "Name: base\nRequires: [core]\n"),
            ("game", "Name: game\nRequires: [core, base]\n"),
            ("mod", "Name: mod\nRequires: [game]\n"),
        ],
    );
    assert_eq!(packs.names(&["mod"]).unwrap(), ["C_core", "C_base", "C_game", "C_mod"]);
    assert_eq!(packs.names(&["core", "base", "core"]).unwrap(), ["C_core", "C_base"]);
}

#[test]
fn a_folder_without_a_pack_file_is_read_as_plain_documents() {
    let packs = Packs::new("plain", &[("plain", "Name: plain\n")]);
    fs::remove_file(packs.0.join("plain/pack.yaml")).unwrap();
    let read = read_packs([packs.0.join("plain")]).unwrap();
    assert_eq!((read[0].file.is_none(), read[0].documents.docs.len()), (true, 1));
}

#[test]
fn every_field_of_a_pack_file_is_kept() {
    let text = "Name: game\nVersion: 1.2.0\nTitle: The Game\nDescription: It.\nUnitsPerMetre: 1\n\
                Host: {Calculations: [ExecCalc_Hit], Tasks: [Blink], Hooks: [Ok], Capabilities: [Fly], Modifiers: [Bend]}\n";
    let packs = Packs::new("says", &[("game", text)]);
    let file = read_pack_file(packs.0.join("game")).unwrap().unwrap();
    assert_eq!((file.name.as_str(), file.version.as_deref(), file.units_per_metre), ("game", Some("1.2.0"), 1.0));
    assert_eq!((file.title.as_deref(), file.description.as_deref()), (Some("The Game"), Some("It.")));
    let host = file.host;
    let all = [host.calculations, host.tasks, host.hooks, host.capabilities, host.modifiers].concat();
    assert_eq!(all, ["ExecCalc_Hit", "Blink", "Ok", "Fly", "Bend"]);
}

#[test]
fn invalid_pack_files_are_refused_with_a_location() {
    let packs = Packs::new(
        "wrong",
        &[
            ("alone", "Name: alone\nRequires: [nobody]\n"),
            ("other", "Name: another\n"),
            ("lured", "Name: lured\nRequires: [other]\n"),
            ("escape", "Name: escape\nRequires: [../core]\n"),
            ("round", "Name: round\nRequires: [back]\n"),
            ("back", "Name: back\nRequires: [round]\n"),
            ("typo", "Name: typo\nRequire: [core]\n"),
            ("nameless", "Version: 1.0.0\n"),
            ("empty", "Name: ''\n"),
            ("small", "Name: small\nUnitsPerMetre: 0\n"),
            ("two", "Name: two\n---\nName: three\n"),
        ],
    );
    let table = [
        ("alone", "2:12 Requires: the pack nobody does not exist"),
        ("escape", "2:12 Requires: \"../core\" is not a valid pack name: use letters, digits, - and _"),
        ("round", "0:0 the pack requires itself through another pack"),
        ("typo", "2:1 unknown field \"Require\""),
        ("nameless", "1:1 the field Name is missing"),
        ("empty", "1:7 Name: must not be empty"),
        ("small", "2:16 UnitsPerMetre: expected more than 0, found 0"),
        ("two", "0:0 expected one document that describes the pack, found 2"),
    ];
    let found: Vec<(&str, String)> = table.iter().map(|(pack, _)| (*pack, packs.refused(pack))).collect();
    for ((pack, wanted), (_, found)) in table.iter().zip(&found) {
        assert!(found.starts_with(wanted), "{pack}: {found}");
    }
    assert!(packs.refused("lured").ends_with("contains another pack, \"another\""));
}

/// The messages of both ways to a pack: reading it for a game, and checking it.
fn both(packs: &Packs, pack: &str) -> [String; 2] {
    let read = packs.names(&[pack]).unwrap_err().to_string();
    let checked = match Project::open(packs.0.join(pack)) {
        Ok(project) => project.check().iter().map(|f| f.message.clone()).collect::<Vec<_>>().join("\n"),
        Err(errors) => errors.to_string(),
    };
    [read, checked]
}

#[test]
fn a_pack_that_requires_a_parent_folder_is_refused_when_read_and_when_checked() {
    let packs =
        Packs::new("up", &[("game", "Name: game\nRequires: [../../etc]\n"), ("here", "Name: here\nRequires: [.]\n")]);
    for (pack, name) in [("game", "\"../../etc\""), ("here", "\".\"")] {
        for message in both(&packs, pack) {
            assert!(message.contains(&format!("{name} is not a valid pack name")), "{message}");
        }
    }
}

#[cfg(unix)]
#[test]
fn symlinks_out_of_a_pack_are_refused_when_read_and_when_checked() {
    use std::os::unix::fs::symlink;
    let far = Packs::new("far", &[("core", "Name: core\n"), ("secret", "Name: secret\nkey: 12345\n")]);
    let packs =
        Packs::new("links", &[("file", "Name: file\n"), ("game", "Name: game\nRequires: [core]\n"), ("own", "")]);
    symlink(far.0.join("core/curve.yaml"), packs.0.join("file/far.yaml")).unwrap();
    symlink(far.0.join("core"), packs.0.join("core")).unwrap();
    fs::remove_file(packs.0.join("own/pack.yaml")).unwrap();
    symlink(far.0.join("secret/pack.yaml"), packs.0.join("own/pack.yaml")).unwrap();
    for pack in ["file", "game", "own"] {
        for message in both(&packs, pack) {
            assert!(message.contains("points outside the folder"), "{pack}: {message}");
            assert!(!message.contains("12345") && !message.contains("secret"), "{pack}: {message}");
        }
    }
}
