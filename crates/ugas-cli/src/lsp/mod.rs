//! `ugas lsp`: the language server. The server translates protocol messages into calls of `ugas_data::language`.
//!
//! One thread processes all messages in order. After a change the server computes findings only when no message has
//! arrived for a short time, so that fast typing causes one check instead of one check per key press.

mod convert;
mod files;
mod server;
#[cfg(test)]
mod tests;

use crate::args::LspArgs;
use crate::output::{Exit, complain};
use convert::path_of;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    CodeActionProviderCapability, CompletionOptions, HoverProviderCapability, InitializeParams, OneOf, RenameOptions,
    SaveOptions, ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkDoneProgressOptions,
};
use serde_json::json;
use server::Server;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The pause in typing after which findings are computed.
const PAUSE: Duration = Duration::from_millis(20);

/// Serves an editor on standard input and output until the editor sends `exit`.
pub(crate) fn run(args: &LspArgs) -> io::Result<Exit> {
    let (connection, threads) = Connection::stdio();
    match serve(&connection, args.path.clone()) {
        Ok(exit) => {
            drop(connection);
            if let Err(error) = threads.join() {
                complain(&format!("ugas lsp: {error}"));
                return Ok(Exit::Failed);
            }
            Ok(exit)
        }
        Err(error) => {
            complain(&format!("ugas lsp: {error}"));
            Ok(Exit::Failed)
        }
    }
}

/// Serves one editor. As the protocol requires, `exit` without `shutdown` is a failure.
pub(crate) fn serve(connection: &Connection, root: Option<PathBuf>) -> Result<Exit, Box<dyn Error + Send + Sync>> {
    let (id, params) = connection.initialize_start()?;
    // The server reads only the folders, so it ignores parameters that do not parse.
    let params: InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let about = json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "ugas", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, about)?;
    if watches(&params) {
        connection.sender.send(watch_request().into())?;
    }
    let mut server = Server::new(root.map_or_else(|| folders(&params), |path| vec![path]));
    let mut leaving = false;
    loop {
        let message = match server.is_stale() {
            true => match connection.receiver.recv_timeout(PAUSE) {
                Ok(message) => message,
                Err(error) if error.is_timeout() => {
                    for note in server.publish() {
                        connection.sender.send(note.into())?;
                    }
                    continue;
                }
                Err(_) => return Ok(Exit::Failed),
            },
            false => match connection.receiver.recv() {
                Ok(message) => message,
                Err(_) => return Ok(Exit::Failed),
            },
        };
        match message {
            Message::Request(request) if request.method == "shutdown" => {
                leaving = true;
                connection.sender.send(Response::new_ok(request.id, ()).into())?;
            }
            Message::Request(request) if leaving => {
                let why = "the server is shutting down".to_owned();
                connection.sender.send(Response::new_err(request.id, ErrorCode::InvalidRequest as i32, why).into())?;
            }
            Message::Request(request) => connection.sender.send(server.answer(request).into())?,
            Message::Notification(note) if note.method == "exit" => {
                return Ok(if leaving { Exit::Good } else { Exit::Failed });
            }
            Message::Notification(note) => server.notice(note),
            // The server sends a single request, which registers an optional file watcher.
            Message::Response(_) => {}
        }
    }
}

fn capabilities() -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
        ..TextDocumentSyncOptions::default()
    };
    let rename =
        RenameOptions { prepare_provider: Some(true), work_done_progress_options: WorkDoneProgressOptions::default() };
    let triggers = [".", " ", "[", "{"].map(str::to_owned).to_vec();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(rename)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        ..ServerCapabilities::default()
    }
}

/// Returns the workspace folders of the editor.
fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let many = params.workspace_folders.iter().flatten().filter_map(|f| path_of(&f.uri));
    let mut folders: Vec<PathBuf> = many.collect();
    if folders.is_empty() {
        #[allow(deprecated)] // Older editors send only this field.
        folders.extend(params.root_uri.as_ref().and_then(path_of));
    }
    folders
}

/// Returns whether the editor can watch files for the server.
fn watches(params: &InitializeParams) -> bool {
    let workspace = params.capabilities.workspace.as_ref();
    let files = workspace.and_then(|w| w.did_change_watched_files.as_ref());
    files.and_then(|f| f.dynamic_registration).unwrap_or(false)
}

fn watch_request() -> Request {
    let options = json!({"watchers": [{"globPattern": "**/*.{yaml,yml,json}"}]});
    let registration = json!({"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": options});
    Request {
        id: RequestId::from("ugas/files".to_owned()),
        method: "client/registerCapability".to_owned(),
        params: json!({"registrations": [registration]}),
    }
}

/// Returns a notification from its method and content.
fn note(method: &str, params: serde_json::Value) -> Notification {
    Notification { method: method.to_owned(), params }
}
