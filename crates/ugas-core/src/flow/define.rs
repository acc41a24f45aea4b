//! Run-time definitions, which are compiled against the rules and stored in the sim's state.

use super::Flow;
use crate::rules::{CompiledAbility, Compiler, LoadError, LoadIssue, Severity, compile_ability};
use crate::state::Definition;
use crate::{AbilityId, DefId, EffectId, RUNTIME_BIT};
use std::sync::Arc;
use ugas_doc::{Ability, Doc, DocumentKind, Effect};

impl Flow<'_> {
    /// Compiles a document and stores it under a new id. All names in the document must exist in the rules. The
    /// document cannot refer to other run-time definitions.
    pub(crate) fn define(&mut self, doc: &Doc) -> Result<DefId, LoadError> {
        let issue = |code, message: String| LoadError {
            issues: vec![LoadIssue {
                severity: Severity::Error,
                code,
                document: doc.name().to_owned(),
                message,
                origin: None,
            }],
        };
        if self.st.definitions.list.len() >= self.limits.definitions as usize {
            return Err(issue(
                "limit",
                format!(
                    "the limit of {} run-time definitions is reached; reuse one, or raise Limits::definitions",
                    self.limits.definitions
                ),
            ));
        }
        let number = self.st.definitions.next_id();
        let definition = compile(self.rules, doc, number).map_err(|e| match e {
            Some(error) => error,
            None => issue(
                "bad-kind",
                format!("found a {}; only effects and abilities can be defined at run time", doc.kind().name()),
            ),
        })?;
        let is_effect = definition.ability.is_none();
        self.st.definitions.list.push(Some(definition));
        Ok(if is_effect { DefId::Effect(EffectId(number)) } else { DefId::Ability(AbilityId(number)) })
    }
}

/// Compiles a run-time document. The error is `None` if documents of this kind cannot be defined at run time.
pub(crate) fn compile(rules: &crate::Rules, doc: &Doc, number: u32) -> Result<Definition, Option<LoadError>> {
    debug_assert!(number & RUNTIME_BIT != 0);
    let (effect, ability) = if let Some(e) = Effect::of(doc) {
        let mut c = Compiler::over(rules);
        c.about(doc.name(), None);
        let effect = c.effect(e, EffectId(number), None);
        if c.has_errors() {
            return Err(Some(LoadError { issues: c.issues }));
        }
        (effect, None)
    } else {
        // The effect that grants an ability's owned tags has the same number as the ability.
        let CompiledAbility { ability, owned } =
            compile_ability(rules, Ability::of(doc).ok_or(None)?, number).map_err(Some)?;
        (owned, Some(Arc::new(ability)))
    };
    let fingerprint = format!("{doc:?}").bytes().fold(3, |h, b| crate::rng::fold(h, b as u64));
    Ok(Definition { doc: doc.clone(), effect: effect.map(Arc::new), ability, fingerprint })
}
