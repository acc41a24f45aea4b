//! Packs: folders of documents with a `pack.yaml` that names the pack and the packs that it requires. The folder of a
//! required pack has the name of the pack and is next to the folder of the requiring pack. A `pack.yaml` therefore
//! cannot refer to packs in other places.

use crate::assemble::assemble;
use crate::folder::{PACK_FILE, files_in, link_out_of_folder, text_of};
use crate::limits::MAX_REQUIRED;
use crate::names::Names;
use crate::project::{DocSet, Project, Source};
use crate::read::Documents;
use crate::unread::Unread;
use crate::{Code, Diagnostic, Loaded, Node, ReadError, ReadErrors, Severity, from_node, read_trees};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use ugas_core::LoadIssue;
use ugas_doc::{BufferChoice, InputSettings};

/// The names of calculations, tasks and other code that the host provides for a pack.
///
/// ```
/// assert!(ugas_data::HostNames::default().calculations.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct HostNames {
    /// The names of calculations.
    pub calculations: Vec<String>,
    /// The names of task types.
    pub tasks: Vec<String>,
    /// The names of hooks.
    pub hooks: Vec<String>,
    /// The names of capability classes.
    pub capabilities: Vec<String>,
    /// The names of input modifiers.
    pub modifiers: Vec<String>,
}

/// The contents of a `pack.yaml`.
///
/// ```
/// use ugas_data::{PackFile, from_node, read_trees};
/// let tree = &read_trees("pack.yaml", "Name: rpg\nRequires: [core]\n").unwrap()[0];
/// let pack: PackFile = from_node("pack.yaml", tree).unwrap();
/// assert_eq!((pack.requires.as_slice(), pack.units_per_metre), (&["core".to_owned()][..], 100.0));
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct PackFile {
    /// The name of the pack. If another pack requires this pack, the folder of this pack must have this name.
    pub name: String,
    /// The version of the pack.
    #[serde(default)]
    pub version: Option<String>,
    /// The display name.
    #[serde(default)]
    pub title: Option<String>,
    /// The description.
    #[serde(default)]
    pub description: Option<String>,
    /// The version of the specification that the documents of the pack were written for, such as `v1.0.0-draft.3`.
    #[serde(default)]
    pub specification: Option<String>,
    /// The namespace of the pack's definitions. With the namespace `rpg`, other packs refer to the definition `GE_Hit`
    /// as `rpg::GE_Hit`.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The names of the required packs.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The number of distance units per metre.
    #[serde(default = "centimetres")]
    pub units_per_metre: f64,
    /// The names of the calculations, tasks and other code that the host provides.
    #[serde(default)]
    pub host: HostNames,
    /// The input buffer of the action sets that have none of their own: a preset or its values.
    #[serde(default)]
    pub input_buffer: Option<BufferChoice>,
}

impl PackFile {
    /// Returns the document that the input buffer of the pack stands for.
    pub(crate) fn input_settings(&self) -> Option<InputSettings> {
        self.input_buffer.clone().map(InputSettings::new)
    }
}

fn centimetres() -> f64 {
    100.0
}

/// A folder of documents with its `pack.yaml`. A folder without a `pack.yaml` is a pack without a name, a namespace and
/// required packs.
///
/// ```
/// assert!(ugas_data::Pack::default().file.is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pack {
    /// The folder of the pack.
    pub folder: PathBuf,
    /// The contents of the `pack.yaml`; `None` if the folder has no such file.
    pub file: Option<PackFile>,
    /// The documents of the pack, with qualified names. All patches are applied, including the patches of other packs.
    pub documents: Documents,
}

/// Reads packs and the packs that they require. Each pack is read once. The result lists required packs first.
///
/// ```
/// let errors = ugas_data::read_packs(["no/such/pack"]).unwrap_err();
/// assert_eq!(errors[0].code, ugas_data::Code::Unreadable);
/// ```
pub fn read_packs(folders: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Vec<Pack>, ReadErrors> {
    PackSet::read(folders).map(|set| set.packs)
}

/// Packs and the packs they require, with the texts of their files.
///
/// ```
/// let folder = std::env::temp_dir().join(format!("ugas-data-set-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// std::fs::write(folder.join("a.yaml"), "Kind: gameplay_ability\nName: GA_Hit\nCost: GE_Lost\n").unwrap();
/// let set = ugas_data::PackSet::read([&folder]).unwrap();
/// let builder = set.docs().fold(ugas_core::Rules::builder(), |b, l| b.add_at(l.doc.clone(), l.origin.clone()));
/// let issue = &builder.build().err().unwrap().issues[0];
/// let finding = set.place(issue).unwrap();
/// assert_eq!((finding.line, finding.column), (3, 7));
/// # std::fs::remove_dir_all(&folder).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct PackSet {
    /// The packs, required packs first.
    pub packs: Vec<Pack>,
    /// The names of the calculations, tasks and other code that the host provides.
    pub host: HostNames,
    project: Project,
    set: DocSet,
}

impl PackSet {
    /// Reads packs and the packs they require. Each pack is read once.
    pub fn read(folders: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<PackSet, ReadErrors> {
        let mut reader = Reader::default();
        for folder in folders {
            reader.pack(folder.as_ref());
        }
        let Reader { mut packs, files, project, mut errors, .. } = reader;
        errors.extend(project.sources().iter().flat_map(|s| s.errors.iter().cloned()));
        let host = packs.iter().filter_map(|p| p.file.as_ref()).fold(HostNames::default(), |mut host, file| {
            host.extend(&file.host);
            host
        });
        let set = DocSet { folder: None, own: files.concat(), required: Vec::new(), host: host.clone() };
        let whole = assemble(&project, &set, &Names::of(&project));
        let unread = Unread::of(&project, &set);
        let wrong = |f: &&Diagnostic| f.severity == Severity::Error && !unread.may_explain(f);
        errors.extend(whole.findings.iter().filter(wrong).map(ReadError::from));
        for d in whole.docs {
            if let Some(pack) = files.iter().position(|files| files.contains(&d.file)) {
                packs[pack].documents.docs.push(d.loaded);
            }
        }
        ReadErrors::unless(errors, PackSet { packs, host, project, set })
    }

    /// Returns the documents of all packs, in the order of packs, files and lines. The names in the documents are
    /// qualified.
    pub fn docs(&self) -> impl Iterator<Item = &Loaded> {
        self.packs.iter().flat_map(|p| &p.documents.docs)
    }

    /// Converts an issue of the rules builder to a finding with the exact line and column. Returns `None` if the issue
    /// is not about a document of the packs.
    pub fn place(&self, issue: &LoadIssue) -> Option<Diagnostic> {
        let origin = issue.origin.as_ref()?;
        self.project.source(&origin.file)?;
        Some(self.project.place(issue, &self.set))
    }
}

/// Reads the `pack.yaml` of a folder, if there is one.
///
/// ```
/// assert_eq!(ugas_data::read_pack_file("no/such/pack"), Ok(None));
/// ```
pub fn read_pack_file(folder: impl AsRef<Path>) -> Result<Option<PackFile>, ReadErrors> {
    read_placed(folder.as_ref()).map(|found| found.map(|(pack, _)| pack))
}

/// Line and column.
type LineColumn = (u32, u32);

/// Reads a `pack.yaml`, with the places of the required names.
fn read_placed(folder: &Path) -> Result<Option<(PackFile, Vec<LineColumn>)>, ReadErrors> {
    let path = folder.join(PACK_FILE);
    if !path.exists() {
        return Ok(None);
    }
    if let Some(error) = link_out_of_folder(&path, folder) {
        return Err(error.into());
    }
    let file = path.display().to_string();
    let trees = read_trees(&file, &text_of(&path, &file)?)?;
    let [tree] = trees.as_slice() else {
        let message = format!("expected one document that describes the pack, found {}", trees.len());
        return Err(ReadError::of_file(&file, Code::Invalid, message).into());
    };
    let pack = pack_from_node(&file, tree)?;
    let names = tree.get("Requires").map_or(&[][..], |n| n.items());
    let places = names.iter().map(|n| (n.line, n.column)).collect();
    Ok(Some((pack, places)))
}

/// Reads the description of a pack from a tree.
pub(crate) fn pack_from_node(file: &str, tree: &Node) -> Result<PackFile, ReadError> {
    let pack: PackFile = from_node(file, tree)?;
    let fail = |key: &str, message: String| Err(tree.get(key).unwrap_or(tree).error(file, message));
    if pack.name.is_empty() {
        return fail("Name", "Name: must not be empty; write the name of the pack".to_owned());
    }
    if let Some(space) = pack.namespace.as_deref().filter(|n| !is_namespace(n)) {
        let message = format!("Namespace: {space:?} is invalid: start with a letter and use letters, digits and _");
        return fail("Namespace", message);
    }
    if !(pack.units_per_metre.is_finite() && pack.units_per_metre > 0.0) {
        return fail("UnitsPerMetre", format!("UnitsPerMetre: expected more than 0, found {}", pack.units_per_metre));
    }
    let names = tree.get("Requires").map_or(&[][..], |n| n.items());
    if names.len() > MAX_REQUIRED {
        return fail("Requires", format!("Requires: found {} packs; write at most {MAX_REQUIRED}", names.len()));
    }
    match pack.requires.iter().zip(names).find(|(name, _)| !is_name(name)) {
        Some((name, node)) => {
            let message = format!("Requires: {name:?} is not a valid pack name: use letters, digits, - and _");
            Err(node.error(file, message))
        }
        None => Ok(pack),
    }
}

fn is_namespace(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Returns whether a name is a plain folder name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

#[derive(Default)]
struct Reader {
    packs: Vec<Pack>,
    /// The files of each pack, as indices of the project.
    files: Vec<Vec<usize>>,
    project: Project,
    /// Canonical folders of the visited packs, and whether they are complete.
    seen: Vec<(PathBuf, bool)>,
    errors: Vec<ReadError>,
}

impl Reader {
    fn pack(&mut self, folder: &Path) {
        let canonical = match folder.canonicalize() {
            Ok(path) => path,
            Err(error) => {
                let message = format!("cannot read: {error}");
                self.errors.push(ReadError::of_file(&folder.display().to_string(), Code::Unreadable, message));
                return;
            }
        };
        match self.seen.iter().find(|(seen, _)| *seen == canonical) {
            Some((_, true)) => return,
            Some((_, false)) => {
                let message = "the pack requires itself through another pack; remove one of the requirements";
                let file = folder.join(PACK_FILE).display().to_string();
                self.errors.push(ReadError::of_file(&file, Code::Invalid, message));
                return;
            }
            None => self.seen.push((canonical.clone(), false)),
        }
        match read_placed(folder) {
            Ok(found) => {
                if let Some((file, places)) = &found {
                    for (name, place) in file.requires.iter().zip(places) {
                        self.required(folder, &canonical, name, *place);
                    }
                }
                let file = found.map(|(file, _)| file);
                let mut own = Vec::new();
                for path in files_in(folder, &mut self.errors) {
                    match text_of(&path, &path.display().to_string()) {
                        Ok(text) => {
                            own.push(self.project.sources.len());
                            self.project.sources.push(Source::read(path, text));
                        }
                        Err(error) => self.errors.push(error),
                    }
                }
                self.packs.push(Pack { folder: folder.to_path_buf(), file, documents: Documents::default() });
                self.files.push(own);
            }
            Err(errors) => self.errors.extend(errors),
        }
        if let Some(seen) = self.seen.iter_mut().find(|(seen, _)| *seen == canonical) {
            seen.1 = true;
        }
    }

    /// Reads a required pack from the parent folder.
    fn required(&mut self, by: &Path, canonical: &Path, name: &str, place: LineColumn) {
        let beside = match by.file_name() {
            Some(_) => by.with_file_name(name),
            // A path such as `.` or `..` has no folder name.
            None => canonical.with_file_name(name),
        };
        if let Some(error) = beside.parent().and_then(|home| link_out_of_folder(&beside, home)) {
            return self.errors.push(error);
        }
        let message = match read_pack_file(&beside) {
            Ok(Some(found)) if found.name == name => return self.pack(&beside),
            Ok(Some(found)) => {
                format!("Requires: the folder {} contains another pack, {:?}", beside.display(), found.name)
            }
            Ok(None) => format!("Requires: the pack {name} does not exist"),
            Err(errors) => return self.errors.extend(errors),
        };
        let file = by.join(PACK_FILE).display().to_string();
        self.errors.push(ReadError {
            line: place.0,
            column: place.1,
            help: Some(format!("put the pack {name} into {}", beside.display())),
            ..ReadError::of_file(&file, Code::Invalid, message)
        });
    }
}
