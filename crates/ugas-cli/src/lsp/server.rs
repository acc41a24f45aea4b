//! The state of the language server and its answers to requests.

use super::convert::{byte_of, path_of, position, range, range_of, uri_of};
use super::{files, note};
use lsp_server::{ErrorCode, Notification, Request, Response};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CompletionItem, CompletionItemKind, CompletionParams,
    CompletionTextEdit, DiagnosticSeverity, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams, GotoDefinitionParams, HoverParams,
    Location, MarkupContent, MarkupKind, NumberOrString, Position, PublishDiagnosticsParams, Range, ReferenceParams,
    RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use ugas_data::language::{self, CompletionKind, Place};
use ugas_data::{Diagnostic, Project, Severity, Source};
use ugas_lab::{check_scenarios, with_scenarios};

/// A file that is open in the editor. Its text in the editor replaces the text on disk.
struct Open {
    uri: Uri,
    version: i32,
    text: String,
}

pub(crate) struct Server {
    project: Project,
    open: BTreeMap<PathBuf, Open>,
    /// The findings of the project; out of date while `stale` is true.
    findings: Vec<Diagnostic>,
    stale: bool,
    /// Files whose findings the editor currently shows.
    shown: BTreeSet<PathBuf>,
}

impl Server {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Server {
        let project = files::open(&roots);
        Server { project, open: BTreeMap::new(), findings: Vec::new(), stale: true, shown: BTreeSet::new() }
    }

    /// Returns whether the project changed since the findings were last published.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Returns the findings of every file that has findings or had them at the last publication.
    pub(crate) fn publish(&mut self) -> Vec<Notification> {
        self.stale = false;
        self.findings = self.check();
        let mut by_file: BTreeMap<PathBuf, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
        for path in self.shown.iter().chain(self.open.keys()) {
            by_file.insert(path.clone(), Vec::new());
        }
        for finding in &self.findings {
            let Some(source) = self.project.sources().iter().find(|s| s.name == finding.file) else { continue };
            by_file.entry(source.path.clone()).or_default().push(to_lsp(&source.text, finding));
        }
        self.shown = by_file.iter().filter(|(_, list)| !list.is_empty()).map(|(path, _)| path.clone()).collect();
        let say = |(path, diagnostics): (PathBuf, Vec<_>)| {
            let version = self.open.get(&path).map(|o| o.version);
            let params = PublishDiagnosticsParams { uri: self.uri(&path)?, diagnostics, version };
            Some(note("textDocument/publishDiagnostics", serde_json::to_value(params).ok()?))
        };
        by_file.into_iter().filter_map(say).collect()
    }

    fn check(&self) -> Vec<Diagnostic> {
        let findings = self.project.check();
        // Checking a scenario builds a world, so only open scenarios are checked.
        let mut scenarios = Project::default();
        for source in self.project.sources().iter().filter(|s| self.open.contains_key(&s.path)) {
            if source.docs.iter().any(|d| d.tree.get("Scenario").is_some()) {
                scenarios.put(source.path.clone(), source.text.to_string());
            }
        }
        with_scenarios(findings, check_scenarios(&scenarios))
    }

    // Notifications -------------------------------------------------------------------------------------------------

    /// Handles a notification. Unknown notifications are ignored, as the protocol requires.
    pub(crate) fn notice(&mut self, note: Notification) {
        let Notification { method, params } = note;
        match method.as_str() {
            "textDocument/didOpen" => with(params, |p| self.did_open(p)),
            "textDocument/didChange" => with(params, |p| self.did_change(p)),
            "textDocument/didClose" => with(params, |p| self.did_close(&p)),
            "workspace/didChangeWatchedFiles" => with(params, |p| self.did_change_files(&p)),
            _ => {}
        }
    }

    fn did_open(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let Some(path) = self.path(&document.uri) else { return };
        files::add_pack_of(&mut self.project, &path);
        let open = Open { uri: document.uri, version: document.version, text: document.text };
        self.open.insert(path.clone(), open);
        self.take(&path);
    }

    fn did_change(&mut self, params: DidChangeTextDocumentParams) {
        let Some(path) = self.path(&params.text_document.uri) else { return };
        let Some(open) = self.open.get_mut(&path) else { return };
        open.version = params.text_document.version;
        for change in params.content_changes {
            match change.range {
                None => open.text = change.text,
                Some(range) => {
                    let (start, end) = (byte_of(&open.text, range.start), byte_of(&open.text, range.end));
                    if start <= end {
                        open.text.replace_range(start..end, &change.text);
                    }
                }
            }
        }
        self.take(&path);
    }

    /// Updates the project with the text in the editor, if the file belongs to it.
    fn take(&mut self, path: &Path) {
        let Some(open) = self.open.get(path) else { return };
        self.project.put(path, open.text.clone());
        if self.source(path).is_some_and(|s| !files::is_project_file(&self.project, s)) {
            self.project.remove(path);
        }
        self.stale = true;
    }

    fn did_close(&mut self, params: &DidCloseTextDocumentParams) {
        let Some(path) = self.path(&params.text_document.uri) else { return };
        if self.open.remove(&path).is_some() {
            self.shown.insert(path.clone());
            self.reread(&path);
        }
    }

    fn did_change_files(&mut self, params: &DidChangeWatchedFilesParams) {
        let changed: Vec<PathBuf> = params.changes.iter().filter_map(|change| self.path(&change.uri)).collect();
        for path in changed {
            if !self.open.contains_key(&path) {
                self.reread(&path);
            }
        }
    }

    /// Updates the project from the file on disk; removes the file if it does not exist or does not belong to the
    /// project.
    fn reread(&mut self, path: &Path) {
        self.stale = true;
        let (found, _) = Project::open_readable(path);
        self.project.remove(path);
        if let Some(source) = found.sources().iter().find(|s| s.path == path)
            && files::is_project_file(&self.project, source)
        {
            self.project.put(path, source.text.to_string());
        }
    }

    // Requests ------------------------------------------------------------------------------------------------------

    /// Answers a request.
    pub(crate) fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            "textDocument/completion" => asked(params, |p| self.completion(&p)),
            "textDocument/hover" => asked(params, |p| Ok(self.hover(&p))),
            "textDocument/definition" => asked(params, |p| Ok(self.definition(&p))),
            "textDocument/references" => asked(params, |p| Ok(self.references(&p))),
            "textDocument/prepareRename" => asked(params, |p| Ok(self.prepare_rename(&p))),
            "textDocument/rename" => asked(params, |p| self.rename(&p)),
            "textDocument/codeAction" => asked(params, |p| Ok(self.code_actions(&p))),
            "textDocument/formatting" => asked(params, |p| Ok(self.formatting(&p))),
            other => Err((ErrorCode::MethodNotFound, format!("this server does not support {other}"))),
        };
        match result {
            Ok(value) => Response::new_ok(id, value),
            Err((code, why)) => Response::new_err(id, code as i32, why),
        }
    }

    fn completion(&self, params: &CompletionParams) -> Result<Vec<CompletionItem>, RequestError> {
        let Some((source, at)) = self.place(&params.text_document_position) else { return Ok(Vec::new()) };
        let found = language::complete(&self.project, &source.path, at);
        let item = |c: language::Completion| {
            let (kind, mut text) = match c.kind {
                CompletionKind::Name(_) => (CompletionItemKind::REFERENCE, c.text.clone()),
                CompletionKind::Field => (CompletionItemKind::FIELD, c.text.clone()),
                CompletionKind::Word => (CompletionItemKind::ENUM_MEMBER, c.text.clone()),
            };
            let behind = source.text[c.replace.end as usize..].trim_start_matches(['"', '\'']);
            let quoted = source.text[..c.replace.start as usize].ends_with(['"', '\'']);
            if c.kind == CompletionKind::Field && !quoted && !behind.starts_with(':') {
                text.push_str(": ");
            }
            let edit = TextEdit::new(range(&source.text, c.replace), text);
            CompletionItem {
                label: c.text,
                kind: Some(kind),
                detail: Some(c.detail),
                text_edit: Some(CompletionTextEdit::Edit(edit)),
                ..CompletionItem::default()
            }
        };
        Ok(found.into_iter().map(item).collect())
    }

    fn hover(&self, params: &HoverParams) -> Option<lsp_types::Hover> {
        let (source, at) = self.place(&params.text_document_position_params)?;
        let hover = language::hover(&self.project, &source.path, at)?;
        Some(lsp_types::Hover {
            contents: lsp_types::HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: hover.text }),
            range: Some(range(&source.text, hover.span)),
        })
    }

    fn definition(&self, params: &GotoDefinitionParams) -> Vec<Location> {
        let Some((source, at)) = self.place(&params.text_document_position_params) else { return Vec::new() };
        let Some(m) = language::name_at(&self.project, &source.path, at) else { return Vec::new() };
        self.locations(&language::definitions(&self.project, &source.path, m.kind, &m.name))
    }

    fn references(&self, params: &ReferenceParams) -> Vec<Location> {
        let Some((source, at)) = self.place(&params.text_document_position) else { return Vec::new() };
        let Some(m) = language::name_at(&self.project, &source.path, at) else { return Vec::new() };
        let mut found = language::references(&self.project, &source.path, m.kind, &m.name);
        if !params.context.include_declaration {
            let defined = language::definitions(&self.project, &source.path, m.kind, &m.name);
            found.retain(|place| !defined.contains(place));
        }
        self.locations(&found)
    }

    fn prepare_rename(&self, params: &TextDocumentPositionParams) -> Option<Range> {
        let (source, at) = self.place(params)?;
        Some(range(&source.text, language::name_at(&self.project, &source.path, at)?.span))
    }

    fn rename(&self, params: &RenameParams) -> Result<WorkspaceEdit, RequestError> {
        let Some((source, at)) = self.place(&params.text_document_position) else {
            return Err((ErrorCode::InvalidParams, "the file is not open".to_owned()));
        };
        let rename = language::rename(&self.project, &source.path, at, &params.new_name)
            .map_err(|why| (ErrorCode::RequestFailed, why.to_string()))?;
        let edits = rename.edits.iter().map(|(path, edits)| (path.as_path(), edits.as_slice()));
        Ok(self.workspace_edit(edits))
    }

    fn code_actions(&mut self, params: &CodeActionParams) -> Vec<CodeAction> {
        if self.stale {
            self.findings = self.check();
        }
        let Some(source) = self.path(&params.text_document.uri).and_then(|p| self.source(&p)) else {
            return Vec::new();
        };
        let before = |a: Position, b: Position| (a.line, a.character) <= (b.line, b.character);
        let here = |f: &&Diagnostic| {
            let at = range_of(&source.text, f);
            f.file == source.name && before(at.start, params.range.end) && before(params.range.start, at.end)
        };
        let action = |f: &Diagnostic| {
            let fix = f.fix.as_ref()?;
            Some(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![to_lsp(&source.text, f)]),
                edit: Some(self.workspace_edit([(source.path.as_path(), fix.edits.as_slice())])),
                is_preferred: Some(true),
                ..CodeAction::default()
            })
        };
        self.findings.iter().filter(here).filter_map(action).collect()
    }

    fn formatting(&self, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
        let source = self.source(&self.path(&params.text_document.uri)?)?;
        // A text that cannot be parsed is not formatted; its findings report the reason.
        let text = ugas_data::format(&source.name, &source.text).ok()?;
        let all = Range::new(Position::new(0, 0), position(&source.text, source.text.len()));
        Some(if *text == *source.text { Vec::new() } else { vec![TextEdit::new(all, text)] })
    }

    // Files ---------------------------------------------------------------------------------------------------------

    /// Returns the path of a URI in the project.
    fn path(&self, uri: &Uri) -> Option<PathBuf> {
        let path = path_of(uri)?;
        if self.source(&path).is_some() {
            return Some(path);
        }
        // Symbolic links can give one file two paths.
        let real = std::fs::canonicalize(&path).ok();
        let same = |s: &&Source| real.is_some() && std::fs::canonicalize(&s.path).ok() == real;
        let name = path.file_name();
        let known = self.project.sources().iter().filter(|s| s.path.file_name() == name).find(same);
        Some(known.map_or(path, |s| s.path.clone()))
    }

    fn source(&self, path: &Path) -> Option<&Source> {
        self.project.sources().iter().find(|s| s.path == path)
    }

    fn place(&self, at: &TextDocumentPositionParams) -> Option<(&Source, usize)> {
        let source = self.source(&self.path(&at.text_document.uri)?)?;
        Some((source, byte_of(&source.text, at.position)))
    }

    /// Returns the URI of a file. If the file is open, this is the URI that the editor sent.
    fn uri(&self, path: &Path) -> Option<Uri> {
        self.open.get(path).map(|o| o.uri.clone()).or_else(|| uri_of(&std::path::absolute(path).ok()?))
    }

    fn locations(&self, places: &[Place]) -> Vec<Location> {
        let location = |place: &Place| {
            let source = self.source(&place.path)?;
            Some(Location::new(self.uri(&place.path)?, range(&source.text, place.span)))
        };
        places.iter().filter_map(location).collect()
    }

    fn workspace_edit<'e>(&self, edits: impl IntoIterator<Item = (&'e Path, &'e [ugas_data::Edit])>) -> WorkspaceEdit {
        #[allow(clippy::mutable_key_type)] // The protocol defines this type, and the key is never changed.
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for (path, list) in edits {
            let (Some(source), Some(uri)) = (self.source(path), self.uri(path)) else { continue };
            let edit = |e: &ugas_data::Edit| TextEdit::new(range(&source.text, e.span), e.text.clone());
            changes.insert(uri, list.iter().map(edit).collect());
        }
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }
}

type RequestError = (ErrorCode, String);

fn with<P: DeserializeOwned>(params: Value, take: impl FnOnce(P)) {
    if let Ok(params) = serde_json::from_value(params) {
        take(params);
    }
}

fn asked<P: DeserializeOwned, R: Serialize>(
    params: Value,
    answer: impl FnOnce(P) -> Result<R, RequestError>,
) -> Result<Value, RequestError> {
    let params = serde_json::from_value(params).map_err(|e| (ErrorCode::InvalidParams, e.to_string()))?;
    Ok(serde_json::to_value(answer(params)?).unwrap_or(json!(null)))
}

/// Converts a finding for the protocol.
fn to_lsp(text: &str, finding: &Diagnostic) -> lsp_types::Diagnostic {
    let severity = match finding.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
    };
    let message = match &finding.help {
        Some(help) => format!("{}\n{help}", finding.message),
        None => finding.message.clone(),
    };
    lsp_types::Diagnostic {
        range: range_of(text, finding),
        severity: Some(severity),
        code: Some(NumberOrString::String(finding.id.clone())),
        source: Some("ugas".to_owned()),
        message,
        ..lsp_types::Diagnostic::default()
    }
}
