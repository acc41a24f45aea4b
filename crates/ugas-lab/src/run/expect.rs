//! Expectations: values, streams and hashes.

use super::Runner;
use super::path_value::{AttributePart, OfActor, PathValue, read, resolve};
use super::streams::StreamEntry;
use crate::scenario::{CountOf, Expectation, Found, Name, Partial, Place, Stream};
use ugas_core::{AttributeId, NameKind, Refusal};
use ugas_doc::ControllerReplication;

/// The maximum number of entries of a window that a failure shows.
const SHOWN: usize = 20;

impl Runner<'_> {
    pub(crate) fn expect(&mut self, list: &[Expectation]) {
        for Expectation { path, matcher } in list {
            // Names were resolved before the run.
            let Ok(path_value) = resolve(&self.world, self.scenario, &path.text) else {
                continue;
            };
            let found = read(self, &path_value);
            let message = match &found {
                Ok(found) if matcher.holds(found) => continue,
                Ok(found) => format!("expected {} to be {matcher}, found {found}", path.text),
                Err(why) => format!("expected {} to be {matcher}, found {why}", path.text),
            };
            let explanation = self.explanation(&path_value, found.ok().as_ref());
            self.fail(path.place, message, explanation);
        }
    }

    /// Explains the value of an attribute; suggests a name for an unknown tag.
    fn explanation(&self, path_value: &PathValue, found: Option<&Found>) -> Option<String> {
        let PathValue::Actor { actor, what } = path_value else { return None };
        match what {
            OfActor::Attribute(id, AttributePart::Current | AttributePart::Base) => {
                found?;
                if let Some(why) = self.hidden(actor, *id) {
                    return Some(why);
                }
                let explanation = self.sim.explain(self.who(actor), *id).ok()?;
                Some(self.with_names(&explanation.to_string()))
            }
            OfActor::Tag(tag)
            | OfActor::TagExact(tag)
            | OfActor::TagCount(tag)
            | OfActor::TagCountAll(tag)
            | OfActor::Cues(tag)
            | OfActor::Block(tag)
                if self.world.rules.find_tag(tag).is_none() =>
            {
                let near = self.world.rules.nearest_name(NameKind::Tag, tag);
                let near = near.map_or(String::new(), |n| format!("; did you mean {n}?"));
                Some(format!("no document or verb uses the tag {tag}{near}"))
            }
            OfActor::Attribute(..)
            | OfActor::Tag(_)
            | OfActor::TagExact(_)
            | OfActor::TagCount(_)
            | OfActor::TagCountAll(_)
            | OfActor::Effects(..)
            | OfActor::Ability(..)
            | OfActor::GlobalCooldown(_)
            | OfActor::CastTick
            | OfActor::CastRemaining
            | OfActor::Tasks(_)
            | OfActor::Capability(_)
            | OfActor::Block(_)
            | OfActor::Cues(_)
            | OfActor::Position
            | OfActor::ActionSets(_)
            | OfActor::Action(_)
            | OfActor::Buffer(_)
            | OfActor::Queue
            | OfActor::Motion(_)
            | OfActor::Avatar => None,
        }
    }

    /// Returns why an attribute of a remote actor is not replicated to a client; `None` if it is replicated.
    fn hidden(&self, actor: &str, id: AttributeId) -> Option<String> {
        let (rules, seen) = (&self.world.rules, self.seen.get(&self.who(actor))?);
        if seen.values.iter().any(|(shown, _)| *shown == id) {
            return None;
        }
        let name = rules.attribute_name(id).unwrap_or("?");
        let template = self.scenario.actors.iter().find(|a| a.name.text == actor).and_then(|a| a.controller.as_ref());
        let template = template.and_then(|name| rules.find_template(&name.text));
        let mode = template.and_then(|t| rules.template_replication(t)).unwrap_or_default();
        Some(match mode {
            ControllerReplication::Full => format!(
                "{name} of {actor} is not replicated to this client because of the attribute's own `ReplicationMode`, \
                 which is not `All`; the client has only the default and its own predictions"
            ),
            ControllerReplication::Minimal | ControllerReplication::Mixed | ControllerReplication::None => format!(
                "{name} of {actor} is not replicated to this client: the client does not own {actor}, and observers \
                 receive no attributes in the mode `{mode:?}`; the client has only the default and its own \
                 predictions. To replicate attributes, name a `gameplay_controller` document with \
                 `ReplicationMode: Full` in `Controller:`"
            ),
        })
    }

    fn window(&self, stream: Stream) -> Vec<StreamEntry> {
        match stream {
            Stream::Facts => self.facts.list.iter().map(|f| self.seen_fact(f)).collect(),
            Stream::Diagnostics => self.diagnostics.iter().map(|d| self.seen_diagnostic(d)).collect(),
            Stream::Trace => self.trace.iter().map(|t| self.seen_trace(t)).collect(),
        }
    }

    /// Checks that the entries appear in order, possibly with other entries between them.
    pub(crate) fn expect_stream(&mut self, stream: Stream, entries: &[Partial]) {
        let seen = self.window(stream);
        let mut next = 0;
        for partial in entries {
            match seen[next..].iter().position(|s| s.fits(partial)) {
                Some(at) => next += at + 1,
                None => {
                    let order =
                        if seen.iter().any(|s| s.fits(partial)) { "it only before the previous entry" } else { "none" };
                    let message = format!("expected the {} {partial}, found {order}", stream.noun());
                    self.fail(partial.place, message, Some(shown(&seen, next)));
                }
            }
        }
    }

    pub(crate) fn expect_counts(&mut self, list: &[CountOf]) {
        let seen = self.window(Stream::Facts);
        for CountOf { entry, count } in list {
            let fitting: Vec<&StreamEntry> = seen.iter().filter(|s| s.fits(entry)).collect();
            if !count.holds(&Found::Number(fitting.len() as f64)) {
                let message = format!("expected {count} of {entry}, found {}", fitting.len());
                let near: Vec<&StreamEntry> = match fitting.is_empty() {
                    true => seen.iter().collect(),
                    false => fitting,
                };
                self.fail(entry.place, message, Some(lines(&near)));
            }
        }
    }

    pub(crate) fn hash_of(&mut self, actor: Option<&Name>) -> Result<u64, Refusal> {
        match actor {
            Some(actor) => Ok(self.sim.row_hash(self.who(&actor.text))?),
            None => Ok(self.sim.hash()),
        }
    }

    pub(crate) fn expect_hash(&mut self, place: Place, mark: &Name, actor: Option<&Name>) {
        let Some(expected) = self.marks.get(&mark.text).copied() else {
            let message = format!("expected the hash {}, but no `MarkHash` with this name has run yet", mark.text);
            return self.fail(place, message, None);
        };
        let message = match self.hash_of(actor) {
            Ok(found) if found == expected => return,
            Ok(found) => format!("expected the hash {expected:016x} of {}, found {found:016x}", mark.text),
            Err(r) => {
                format!("expected the hash {expected:016x} of {}, found an error: {}", mark.text, self.describe(r))
            }
        };
        self.fail(place, message, None);
    }
}

/// Returns the entries from `next` on as text.
fn shown(seen: &[StreamEntry], next: usize) -> String {
    let rest: Vec<&StreamEntry> = seen[next..].iter().collect();
    match (rest.is_empty(), next) {
        (true, 0) => "the window has no entries".to_owned(),
        (true, _) => "no more entries".to_owned(),
        (false, _) => lines(&rest),
    }
}

fn lines(seen: &[&StreamEntry]) -> String {
    if seen.is_empty() {
        return "the window has no entries".to_owned();
    }
    let mut text = String::from("entries of the window:");
    for entry in seen.iter().take(SHOWN) {
        text.push_str(&format!("\n  {entry}"));
    }
    if seen.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", seen.len() - SHOWN));
    }
    text
}
