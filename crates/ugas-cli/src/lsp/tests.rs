//! Tests of the language server: an editor sends protocol messages over an in-memory connection.

use super::convert::uri_of;
use super::serve;
use crate::output::Exit;
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;

/// A folder for one test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ugas-lsp-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path.canonicalize().unwrap())
    }

    /// Creates a folder with copies of packs of the repository.
    fn with_packs(name: &str, packs: &[&str]) -> Folder {
        let folder = Folder::new(name);
        for pack in packs {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs").join(pack);
            std::fs::create_dir_all(folder.0.join(pack)).unwrap();
            for entry in std::fs::read_dir(from).unwrap() {
                let entry = entry.unwrap().path();
                std::fs::copy(&entry, folder.0.join(pack).join(entry.file_name().unwrap())).unwrap();
            }
        }
        folder
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).unwrap()
    }

    fn uri(&self, file: &str) -> String {
        uri_of(&self.0.join(file)).unwrap().as_str().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The editor's end of the connection.
struct Editor {
    connection: Connection,
    server: JoinHandle<Exit>,
    asked: i32,
    /// The last published findings, by file URI.
    findings: std::collections::BTreeMap<String, Value>,
}

impl Editor {
    fn new(folder: &Folder) -> Editor {
        let (server, connection) = Connection::memory();
        let server = std::thread::spawn(move || serve(&server, None).unwrap());
        let mut editor = Editor { connection, server, asked: 0, findings: Default::default() };
        let root = uri_of(&folder.0).unwrap();
        let about = editor.ask("initialize", json!({"rootUri": root.as_str(), "capabilities": {}}));
        assert_eq!(about["capabilities"]["hoverProvider"], true);
        editor.notify("initialized", json!({}));
        editor
    }

    fn notify(&self, method: &str, params: Value) {
        self.connection.sender.send(Message::Notification(Notification { method: method.to_owned(), params })).unwrap();
    }

    fn open(&self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn change(&self, uri: &str, version: i32, text: &str) {
        let document = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{"text": text}]}));
    }

    fn receive(&mut self) -> Message {
        let message = self.connection.receiver.recv_timeout(Duration::from_secs(60)).expect("an answer");
        if let Message::Notification(n) = &message {
            assert_eq!(n.method, "textDocument/publishDiagnostics");
            self.findings.insert(n.params["uri"].as_str().unwrap().to_owned(), n.params.clone());
        }
        message
    }

    fn request(&mut self, method: &str, params: Value) -> Response {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.connection.sender.send(Message::Request(request)).unwrap();
        loop {
            if let Message::Response(response) = self.receive() {
                assert_eq!(response.id, id);
                return response;
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.request(method, params).response_result.unwrap_or_else(|e| panic!("{method}: {e:?}"))
    }

    /// Sends a request about the position of `word` in a text, `skip` characters into it.
    fn ask_at(&mut self, method: &str, uri: &str, text: &str, word: &str, more: Value) -> Value {
        let at = super::convert::position(text, text.find(word).unwrap());
        let mut params = json!({"textDocument": {"uri": uri}, "position": at});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.ask(method, params)
    }

    /// Waits for the findings of this version of a file and returns them.
    fn findings(&mut self, uri: &str, version: i32) -> Vec<Value> {
        while self.findings.get(uri).is_none_or(|f| f["version"] != version) {
            self.receive();
        }
        self.findings[uri]["diagnostics"].as_array().unwrap().clone()
    }

    fn leave(mut self) -> Exit {
        assert_eq!(self.ask("shutdown", json!(null)), json!(null));
        self.notify("exit", json!(null));
        self.server.join().unwrap()
    }
}

/// Applies the edits of a workspace edit to a text.
fn edited(text: &str, edits: &Value) -> String {
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|e| {
            let byte = |at: &Value| super::convert::byte_of(text, serde_json::from_value(at.clone()).unwrap());
            (byte(&e["range"]["start"]), byte(&e["range"]["end"]), e["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort();
    let mut text = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}})
}

// covers: OWN-09
#[test]
fn diagnostics_appear_while_typing_and_clear_when_fixed() {
    let folder = Folder::new("typing");
    let mut editor = Editor::new(&folder);
    let uri = folder.uri("fire.yaml");
    // 😀 is two UTF-16 units and one character: the column after it shows whether both sides count in the same units.
    let text = "Kind: attribute_set\nName: Vitals\nAttributes: [{Name: Health, DefaultBaseValue: 9}]\n---\n\
                Kind: gameplay_effect\nName: GE_Fire\nDurationPolicy: Instant\n\
                Modifiers: [{Channel: \"ö😀\", Attribute: Helth, Operation: Add, Magnitude: {Type: ScalableFloat, Value: 1}}]\n";
    editor.open(&uri, text);
    let found = editor.findings(&uri, 1);
    let wrong = found.iter().find(|f| f["code"] == "unknown-attribute").unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(wrong["range"], range(7, 40, 45));
    assert_eq!((&wrong["severity"], &wrong["source"]), (&json!(1), &json!("ugas")));
    // The fix is offered with the finding.
    let params = json!({"textDocument": {"uri": uri}, "range": wrong["range"], "context": {"diagnostics": []}});
    let actions = editor.ask("textDocument/codeAction", params);
    assert_eq!(actions[0]["title"], "write Health");
    assert_eq!(actions[0]["kind"], "quickfix");
    let fixed = edited(text, &actions[0]["edit"]["changes"][&uri]);
    assert_eq!(fixed, text.replace("Helth", "Health"));
    editor.change(&uri, 2, &fixed);
    let left = editor.findings(&uri, 2);
    assert!(left.iter().all(|f| f["code"] != "unknown-attribute"), "{left:?}");
    // An incremental change, as editors send while the user types. An incomplete key is a finding, not an error.
    let start = super::convert::position(&fixed, fixed.find("DurationPolicy").unwrap());
    let typed = json!([{"range": {"start": start, "end": start}, "text": "Prio\n"}]);
    let document = json!({"uri": uri, "version": 3});
    editor.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": typed}));
    assert!(!editor.findings(&uri, 3).is_empty());
    editor.change(&uri, 4, "");
    assert_eq!(editor.findings(&uri, 4), Vec::<Value>::new());
    assert_eq!(editor.leave(), Exit::Good);
}

// covers: OWN-09
#[test]
fn an_editor_completes_hovers_and_renames_in_a_pack() {
    let folder = Folder::with_packs("pack", &["core", "rpg"]);
    let mut editor = Editor::new(&folder);
    let (effects, controllers) = (folder.uri("rpg/effects.yaml"), folder.uri("rpg/controllers.yaml"));
    let (effect_text, controller_text) = (folder.read("rpg/effects.yaml"), folder.read("rpg/controllers.yaml"));

    // Completion of a tag in an incomplete list; tags of the required pack are included.
    let typed = effect_text.replace("GrantedTags: [State.Buff.Regenerating]", "GrantedTags: [State.Bu");
    editor.open(&effects, &typed);
    let at = super::convert::position(&typed, typed.find("[State.Bu").unwrap() + "[State.Bu".len());
    let items = editor.ask("textDocument/completion", json!({"textDocument": {"uri": effects}, "position": at}));
    let labels: Vec<&str> = items.as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"State.Buff.Regenerating") && labels.contains(&"DamageType.Fire"), "{labels:?}");
    let item = items.as_array().unwrap().iter().find(|i| i["label"] == "State.Buff.Regenerating").unwrap();
    let completed =
        edited(&typed, &json!([item["textEdit"]])).replace("[State.Buff.Regenerating\n", "[State.Buff.Regenerating]\n");
    assert_eq!(completed, effect_text);
    editor.change(&effects, 2, &effect_text);

    // Hover shows the number that the runtime computes.
    let word = "WeaponDamage, BaseValue";
    let hover = editor.ask_at("textDocument/hover", &controllers, &controller_text, word, json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("WeaponDamage 18.0"), "{hover}");

    // Definition and references.
    let there = editor.ask_at("textDocument/definition", &controllers, &controller_text, word, json!({}));
    assert_eq!(there.as_array().unwrap().len(), 1);
    assert_eq!((&there[0]["uri"], &there[0]["range"]), (&json!(folder.uri("rpg/attributes.yaml")), &range(33, 10, 22)));
    let context = json!({"context": {"includeDeclaration": false}});
    let uses = editor.ask_at("textDocument/references", &controllers, &controller_text, word, context);
    // One of the five references is in a description.
    assert_eq!(uses.as_array().unwrap().len(), 5, "{uses}");

    // Renames an attribute across the pack; the computed value stays 18.
    let prepared = editor.ask_at("textDocument/prepareRename", &controllers, &controller_text, word, json!({}));
    assert_eq!(prepared, range(10, 15, 27));
    let new = json!({"newName": "Might"});
    let edit = editor.ask_at("textDocument/rename", &controllers, &controller_text, word, new);
    let changes = edit["changes"].as_object().unwrap();
    assert_eq!(changes.len(), 3, "{changes:?}");
    for file in ["rpg/attributes.yaml", "rpg/effects.yaml", "rpg/controllers.yaml"] {
        let text = edited(&folder.read(file), &changes[&folder.uri(file)]);
        assert!(text.contains("Might") && !text.contains("Attribute: WeaponDamage"), "{file}");
        std::fs::write(folder.0.join(file), &text).unwrap();
        match file {
            "rpg/effects.yaml" => editor.change(&effects, 3, &text),
            _ => editor
                .notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": folder.uri(file), "type": 2}]})),
        }
    }
    let renamed = folder.read("rpg/controllers.yaml");
    let hover = editor.ask_at("textDocument/hover", &controllers, &renamed, "Might", json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Might 18.0"), "{hover}");
    assert_eq!(editor.findings(&effects, 3), Vec::<Value>::new());
    assert_eq!(errors_and_warnings(&folder), []);
    assert_eq!(editor.leave(), Exit::Good);
}

/// Returns the findings of `ugas check` without hints.
fn errors_and_warnings(folder: &Folder) -> Vec<ugas_data::Diagnostic> {
    let mut findings = ugas_lab::check_path(&folder.0).unwrap();
    findings.retain(|finding| finding.severity != ugas_data::Severity::Info);
    findings
}

// covers: OWN-09
#[test]
fn renaming_a_tag_rewrites_every_reference() {
    let folder = Folder::with_packs("tag", &["core", "rpg"]);
    let mut editor = Editor::new(&folder);
    let tags = folder.uri("rpg/tags.yaml");
    let text = folder.read("rpg/tags.yaml");
    let new = json!({"newName": "Element.Burning"});
    let edit = editor.ask_at("textDocument/rename", &tags, &text, "DamageType.Fire", new);
    let changes = edit["changes"].as_object().unwrap();
    for entry in std::fs::read_dir(folder.0.join("rpg")).unwrap() {
        let file = format!("rpg/{}", entry.unwrap().file_name().to_str().unwrap());
        if let Some(edits) = changes.get(&folder.uri(&file)) {
            std::fs::write(folder.0.join(&file), edited(&folder.read(&file), edits)).unwrap();
        }
    }
    assert!(folder.read("rpg/controllers.yaml").contains("Item.Type.Sword, Element.Burning]"));
    assert!(folder.read("rpg/effects.yaml").contains("Item.Type.Sword, Element.Burning]"));
    assert_eq!(errors_and_warnings(&folder), []);
    // The error for a name that is already in use contains the position of its definition.
    let at = super::convert::position(&text, text.find("DamageType.Cold").unwrap());
    let params = json!({"textDocument": {"uri": tags}, "position": at, "newName": "DamageType.Poison"});
    let refused = editor.request("textDocument/rename", params).response_result.unwrap_err();
    assert!(refused.message.starts_with("DamageType.Poison is already used at "), "{}", refused.message);
    assert_eq!(editor.leave(), Exit::Good);
}

#[test]
fn invalid_requests_are_answered_and_the_server_keeps_running() {
    let folder = Folder::new("nonsense");
    std::fs::write(folder.0.join("ci.yaml"), "on: push\njobs: {}\n").unwrap();
    std::fs::write(folder.0.join("broken.yaml"), b"Kind: \xFF").unwrap();
    let mut editor = Editor::new(&folder);
    let uri = folder.uri("nowhere.yaml");
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 7, "character": 9_000_000}});
    for method in ["hover", "definition", "completion", "prepareRename"] {
        let answer = editor.ask(&format!("textDocument/{method}"), place.clone());
        assert!(answer.is_null() || answer == json!([]), "{method}: {answer}");
    }
    for (method, params, code) in [
        ("textDocument/hover", json!(null), -32602),
        ("textDocument/hover", json!({"textDocument": 7}), -32602),
        ("textDocument/rename", json!([1, 2]), -32602),
        ("ugas/unknown", json!({}), -32601),
    ] {
        assert_eq!(editor.request(method, params).response_result.unwrap_err().code, code, "{method}");
    }
    editor.notify("textDocument/didChange", json!({"textDocument": {"uri": uri, "version": 3}, "contentChanges": []}));
    editor.notify("textDocument/didOpen", json!("what"));
    editor.open("untitled:Untitled-1", "Kind: curve\n");
    editor.notify("$/unheardOf", json!({}));
    editor.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": uri, "type": 3}]}));
    // Files of other tools are ignored, and malformed texts do no harm.
    editor.open(&folder.uri("ci.yaml"), "on: push\njobs: {}\n");
    assert_eq!(editor.findings(&folder.uri("ci.yaml"), 1), Vec::<Value>::new());
    for (i, text) in
        ["{[", "\u{0}", "a: &a [*a]", "Kind: curve\r\nName: ü😀\r\n", "%", "Kind: gameplay_effect\nName: [}"]
            .iter()
            .enumerate()
    {
        let version = i as i32 + 2;
        editor.open(&uri, text);
        editor.change(&uri, version, text);
        for line in 0..3 {
            for character in 0..9 {
                let place = json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
                editor.ask("textDocument/completion", place.clone());
                editor.ask("textDocument/hover", place);
            }
        }
        editor.ask(
            "textDocument/formatting",
            json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}}),
        );
    }
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    assert_eq!(editor.leave(), Exit::Good);
}

#[test]
fn exit_without_shutdown_is_a_failure() {
    let folder = Folder::new("exit");
    let editor = Editor::new(&folder);
    editor.notify("exit", json!(null));
    assert_eq!(editor.server.join().unwrap(), Exit::Failed);
}
