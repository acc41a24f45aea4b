//! Findings as SARIF 2.1.0, the format that code review and code scanning services read.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use ugas_data::{Diagnostic, Fix, Severity, place_of};

/// Returns the SARIF log of one run of `ugas check`. `text_of` returns the text of a file, which is needed to compute
/// the regions of fixes.
pub(crate) fn log(findings: &[Diagnostic], mut text_of: impl FnMut(&str) -> String) -> Value {
    let ids: BTreeSet<&str> = findings.iter().map(|f| f.id.as_str()).collect();
    let rules: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
    let results: Vec<Value> = findings.iter().map(|f| result(f, &ids, &mut text_of)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "ugas", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(f: &Diagnostic, ids: &BTreeSet<&str>, text_of: &mut impl FnMut(&str) -> String) -> Value {
    let level = match f.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let message = match &f.help {
        Some(help) => format!("{} ({help})", f.message),
        None => f.message.clone(),
    };
    let mut result = json!({
        "ruleId": f.id,
        "ruleIndex": ids.iter().position(|id| *id == f.id),
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": {
            "artifactLocation": artifact(f),
            "region": region((f.line, f.column), (f.end_line, f.end_column)),
        }}],
    });
    if let Some(fix) = &f.fix {
        result["fixes"] = json!([change(f, fix, &text_of(&f.file))]);
    }
    result
}

fn change(f: &Diagnostic, fix: &Fix, text: &str) -> Value {
    let replace = |edit: &ugas_data::Edit| {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        json!({
            "deletedRegion": region(place_of(text, start), place_of(text, end)),
            "insertedContent": {"text": edit.text},
        })
    };
    let replacements: Vec<Value> = fix.edits.iter().map(replace).collect();
    json!({
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": artifact(f), "replacements": replacements}],
    })
}

fn region(start: (u32, u32), end: (u32, u32)) -> Value {
    json!({"startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1})
}

/// Returns the SARIF location of the file of a finding, as a relative URI.
fn artifact(f: &Diagnostic) -> Value {
    let mut uri = String::new();
    for byte in f.file.replace('\\', "/").trim_start_matches("./").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    json!({"uri": uri})
}
