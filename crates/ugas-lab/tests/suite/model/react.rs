//! Tags and reactions: what follows from a verb once the verb itself is done.

use super::calc::Frozen;
use super::effects::under;
use super::notice::Notice;
use super::world::{Inst, Reaction, Spec, World};
use std::collections::BTreeMap;
use ugas_doc::{Modifier, OnOngoingFail};

/// Flips of one effect by ongoing requirements under one root cause.
const FLIPS: u32 = 2;
/// The reactions to one cause below which no limit of the runtime is reached; longer chains are not compared.
const STORM: u32 = 60;

impl World {
    // Tags ------------------------------------------------------------------------------------------------------

    pub(crate) fn tag_counts(&self, who: u32) -> BTreeMap<String, u32> {
        self.rows[&who].grants_of_tags(None)
    }

    /// Whether a controller has the tag or a descendant of it; `NONE` has no tags.
    pub(crate) fn has_tag(&self, who: u32, tag: &str) -> bool {
        self.rows.get(&who).is_some_and(|r| r.grants_of_tags(None).keys().any(|t| under(t, tag)))
    }

    /// One grant more or less in `counts`, with the facts: the tag itself, then ancestors that appear or vanish.
    pub(crate) fn tag_facts(&mut self, who: u32, counts: &mut BTreeMap<String, u32>, tag: &str, added: bool) -> bool {
        let present = |counts: &BTreeMap<String, u32>, t: &str| counts.keys().any(|k| under(k, t));
        let mut line: Vec<String> = vec![tag.to_owned()];
        while let Some((parent, _)) = line[line.len() - 1].rsplit_once('.') {
            line.push(parent.to_owned());
        }
        let before: Vec<bool> = line.iter().map(|t| present(counts, t)).collect();
        let count = counts.get(tag).copied().unwrap_or(0);
        let new = if added { count + 1 } else { count - 1 };
        match new {
            0 => drop(counts.remove(tag)),
            n => drop(counts.insert(tag.to_owned(), n)),
        }
        let crossed = count == 0 || new == 0;
        for (i, (t, was)) in line.iter().zip(before).enumerate() {
            let changed = was != present(counts, t);
            if (i == 0 && crossed) || changed {
                let sign = if added { '+' } else { '-' };
                self.emit(who, format!("TagChanged {sign}{t} exact {} presence {changed}", i == 0));
                if changed {
                    self.notify(who, Notice::Tag { tag: t.clone(), added });
                }
            }
        }
        crossed
    }

    /// Emits the facts of added or removed tags, starting from the counts before; effects that depend on them are
    /// rechecked after the verb.
    pub(crate) fn tags_changed(&mut self, who: u32, before: BTreeMap<String, u32>, tags: &[String], added: bool) {
        let mut counts = before;
        let mut crossed = false;
        for tag in tags {
            crossed |= self.tag_facts(who, &mut counts, tag, added);
        }
        // What an effect grants itself does not count for its requirements, so a further grant of a present tag may
        // matter to them. Filters test presence only.
        let meant = |watched: &[String]| tags.iter().any(|t| watched.iter().any(|w| under(t, w)));
        let mut asked: Vec<(u32, Vec<u64>)> = Vec::new();
        for (&other, row) in &self.rows {
            let concerned = row.effects.iter().filter(|e| {
                let def = &self.effects[&e.def];
                let required = meant(&def.ongoing_required_tags) || meant(&def.ongoing_blocked_tags);
                let reads_source = e.source == who && e.frozen.is_none();
                let filters =
                    |m: &Modifier| other == who && meant(&m.target_tags) || reads_source && meant(&m.source_tags);
                other == who && required || crossed && def.modifiers.iter().any(filters)
            });
            let keys: Vec<u64> = concerned.map(|e| e.key).collect();
            if !keys.is_empty() {
                let place = if other == who { 0 } else { asked.len() };
                asked.insert(place, (other, keys));
            }
        }
        for (other, keys) in asked {
            self.recheck_later(other, &keys);
        }
    }

    /// Queues effects of a controller for one recheck after the verb and its conditional effects.
    pub(crate) fn recheck_later(&mut self, who: u32, keys: &[u64]) {
        match self.rechecks.iter_mut().find(|r| r.0 == who) {
            Some((_, known)) => known.extend(keys),
            None => self.rechecks.push((who, keys.to_vec())),
        }
    }

    /// The end of a verb: what its tag changes ask for comes after its conditional effects.
    pub(crate) fn finish_verb(&mut self) {
        let rechecks = std::mem::take(&mut self.rechecks);
        self.reactions.extend(rechecks.into_iter().map(|(who, keys)| Reaction::Recheck(who, keys)));
        self.queue_notices();
    }

    /// A removal that is part of an application: its rechecks come after the conditional effects of the application
    /// (ruling R-08).
    pub(crate) fn withdraw_rechecks(&mut self, from: usize) {
        let later: Vec<Reaction> = self.reactions.drain(from..).collect();
        for reaction in later {
            match reaction {
                Reaction::Recheck(who, keys) => self.recheck_later(who, &keys),
                other => self.reactions.push_back(other),
            }
        }
    }

    // Filters and ongoing requirements --------------------------------------------------------------------------

    pub(crate) fn filter_holds(&self, m: &Modifier, target: u32, source: u32, frozen: Option<&Frozen>) -> bool {
        let source_has = |tag: &String| match frozen {
            Some(f) => f.tags.iter().any(|t| under(t, tag)),
            None => self.has_tag(source, tag),
        };
        m.target_tags.iter().all(|t| self.has_tag(target, t)) && m.source_tags.iter().all(source_has)
    }

    /// Whether an effect's ongoing requirements are met; its own granted tags do not count.
    pub(crate) fn ongoing_holds(&self, who: u32, e: &Inst) -> bool {
        let def = &self.effects[&e.def];
        let others = self.rows[&who].grants_of_tags(Some(e.key));
        let has = |tag: &String| others.keys().any(|t| under(t, tag));
        def.ongoing_required_tags.iter().all(has) && !def.ongoing_blocked_tags.iter().any(has)
    }

    // Reactions -------------------------------------------------------------------------------------------------

    /// Runs what waits, in order, until nothing does.
    pub(crate) fn react(&mut self) {
        self.finish_verb();
        let mut count = 0;
        loop {
            let Some(reaction) = self.reactions.pop_front() else {
                // Missed executions run one at a time, each with all that follows from it.
                if !self.catch_up_one() {
                    break;
                }
                self.finish_verb();
                continue;
            };
            count += 1;
            if count > STORM {
                self.storm = true;
                self.reactions.clear();
                self.notices.clear();
                self.catch_ups.clear();
                break;
            }
            match reaction {
                Reaction::Notice(queued) => self.deliver(&queued),
                Reaction::Ticks(who, cast) => self.cast_at_once(who, cast),
                Reaction::Apply(spec) => {
                    let key = self.key();
                    if let Err(kind) = self.apply_now(&spec, key) {
                        self.refused_reactions.push(kind);
                    }
                }
                Reaction::NextInSequence(who, def) => self.next_in_sequence(who, &def),
                Reaction::Recheck(who, keys) => self.recheck(who, &keys),
            }
            self.finish_verb();
        }
        self.flips.clear();
    }

    fn next_in_sequence(&mut self, who: u32, def: &str) {
        while let Some(row) = self.rows.get_mut(&who) {
            if row.effects.iter().any(|e| e.def == def) {
                return;
            }
            let Some(at) = row.queue.iter().position(|q| q.1.def == def) else {
                return;
            };
            let (key, spec): (u64, Spec) = row.queue.remove(at);
            let tags = self.effects[def].granted_tags.clone();
            match self.begin_queued(&spec, key, tags) {
                Ok(()) => return,
                Err(kind) => self.refused_reactions.push(kind),
            }
        }
    }

    /// A set may have gone while it waited.
    fn begin_queued(&mut self, spec: &Spec, key: u64, tags: Vec<String>) -> Result<(), &'static str> {
        let modifiers = &self.effects[&spec.def].modifiers;
        if modifiers.iter().any(|m| self.attribute(&(spec.target, m.attribute.clone())).is_none()) {
            return Err("UnknownAttribute");
        }
        self.begin(spec, key, tags)
    }

    /// Rechecks the effects that depend on changed tags, in order of application.
    fn recheck(&mut self, who: u32, asked: &[u64]) {
        let Some(row) = self.rows.get(&who) else { return };
        let keys: Vec<u64> = row.effects.iter().map(|e| e.key).filter(|k| asked.contains(k)).collect();
        for key in keys {
            self.recheck_filters(who, key);
            self.recheck_ongoing(who, key);
        }
    }

    fn recheck_ongoing(&mut self, who: u32, key: u64) {
        let Some(e) = self.rows.get(&who).and_then(|r| r.effects.iter().find(|e| e.key == key)).cloned() else {
            return;
        };
        let def = &self.effects[&e.def];
        let holds = self.ongoing_holds(who, &e);
        match def.on_ongoing_fail {
            OnOngoingFail::Remove if !holds => self.end_effect(who, key, "Ongoing"),
            OnOngoingFail::Inhibit if holds == e.inhibited => {
                let flips = self.flips.entry(key).or_insert(0);
                if *flips < FLIPS {
                    *flips += 1;
                    self.flip(who, key, !holds);
                }
            }
            OnOngoingFail::Remove | OnOngoingFail::Inhibit => {}
        }
    }

    fn recheck_filters(&mut self, who: u32, key: u64) {
        let Some(e) = self.rows.get(&who).and_then(|r| r.effects.iter().find(|e| e.key == key)).cloned() else {
            return;
        };
        let def = self.effects[&e.def].clone();
        let mut touched = Vec::new();
        for (i, m) in def.modifiers.iter().enumerate() {
            let holds = self.filter_holds(m, who, e.source, e.frozen.as_ref());
            if holds != e.mods[i].holds {
                self.inst(who, key).mods[i].holds = holds;
                touched.push((who, m.attribute.clone()));
            }
        }
        if !touched.is_empty() {
            self.settle(&touched, who, Vec::new(), e.source);
        }
    }
}
