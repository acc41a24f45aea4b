//! The frame work of capabilities: their questions, ticks, and what their code requests.

use super::super::coded::{self, Act, Call};
use super::super::effects::Filter;
use super::super::expr;
use super::super::give::Which;
use super::super::play::{ActivationRequest, Event};
use super::super::world::{Spec, World};
use super::{Key, Record, Source, Stage, is_local_side};
use ugas_doc::{Capability, STAT_PREFIX};

impl World {
    pub(crate) fn has_capabilities(&self) -> bool {
        self.rows.values().any(|r| !r.play.capable.records.is_empty())
    }

    /// Asks every capability of every controller.
    pub(crate) fn capability_frame(&mut self) {
        let all: Vec<u32> = self.rows.keys().copied().collect();
        for who in all {
            self.pass(who);
        }
    }

    fn pass(&mut self, who: u32) {
        let row = &self.rows[&who];
        if !row.active || row.rate == 0 {
            return;
        }
        let keys: Vec<Key> = row.play.capable.records.iter().map(|r| r.key).collect();
        self.classes.leaving.clear();
        for key in keys {
            self.ask(who, key);
            self.react();
            if self.storm {
                return;
            }
        }
        for handle in std::mem::take(&mut self.classes.leaving) {
            if self.revoke_set(who, handle).is_ok() {
                self.count("Capability removed its set");
            }
        }
    }

    fn ask(&mut self, who: u32, key: Key) {
        let record = self.record(who, key).expect("it exists").clone();
        match record.stage {
            Stage::Elsewhere => return,
            Stage::Waiting => return self.set_up(who, key),
            Stage::Inactive | Stage::Active => {}
        }
        if !record.enabled || !record.ticks {
            return;
        }
        let is_active = record.stage == Stage::Active;
        if self.is_blocked(who, &record) {
            if is_active {
                self.count("Capability blocked");
                self.deactivate(who, key);
            }
            return;
        }
        let now = self.local(who);
        if record.interval > 0 && now - record.last < record.interval {
            return;
        }
        self.record_mut(who, key).last = now;
        if is_active && self.wants_end(who, &record) {
            return self.deactivate(who, key);
        }
        if !is_active {
            if !self.wants_begin(who, &record) {
                return;
            }
            self.activate_capability(who, key);
        }
        self.call(who, key, Call::Tick(now - record.last));
    }

    /// One that would end at its next evaluation does not begin.
    fn wants_begin(&self, who: u32, record: &Record) -> bool {
        match self.classes.documents.get(&record.entry.class) {
            Some(doc) => self.wants(who, doc) && !doc.until.as_ref().is_some_and(|text| self.condition(who, text)),
            None => coded::begins(&record.entry.class, self, who),
        }
    }

    /// With `Until`, only that ends an active one.
    pub(super) fn wants_end(&self, who: u32, record: &Record) -> bool {
        let Some(doc) = self.classes.documents.get(&record.entry.class) else {
            return coded::ends(&record.entry.class, self, who);
        };
        let until = doc.until.as_ref().map(|text| self.condition(who, text));
        match until {
            Some(ends) => ends || record.stage != Stage::Active && !self.wants(who, doc),
            None => !self.wants(who, doc),
        }
    }

    fn wants(&self, who: u32, doc: &Capability) -> bool {
        doc.query.as_ref().is_none_or(|q| self.query_holds(who, q))
            && doc.when.as_ref().is_none_or(|text| self.condition(who, text))
    }

    fn condition(&self, who: u32, text: &str) -> bool {
        expr::holds(&text.replace(STAT_PREFIX, ""), &|name| self.look(name, who, None, None))
    }

    // Steps -----------------------------------------------------------------------------------------------------

    pub(super) fn call(&mut self, who: u32, key: Key, call: Call) {
        let record = self.record(who, key).expect("it exists").clone();
        match self.classes.documents.get(&record.entry.class).cloned() {
            Some(doc) => self.run_document(who, &record, &doc, call),
            None => {
                let mut memory = record.memory;
                let acts = coded::step(&record.entry.class, &mut memory, call, self, who);
                self.record_mut(who, key).memory = memory;
                acts.into_iter().for_each(|act| self.act_for(who, &record, act));
            }
        }
        self.react();
    }

    fn run_document(&mut self, who: u32, record: &Record, doc: &Capability, call: Call) {
        let key = record.key;
        let is_shared = !is_local_side(record.entry.side);
        let apply_all = |world: &mut World, list: &[String]| {
            for effect in list.iter().filter(|_| is_shared) {
                let key = world.key();
                let _ = world.apply_now(&Spec::new(effect, who, who), key);
            }
        };
        match call {
            Call::Setup | Call::End => {}
            Call::Activated => {
                for effect in doc.effects.iter().filter(|_| is_shared) {
                    self.keep_applied(who, key, effect);
                }
                for tag in &doc.block {
                    self.add_block(who, tag, Source::Capability(key.0, key.1));
                }
                apply_all(self, &doc.on_activated);
            }
            Call::Tick(_) => {
                self.tally_tick(doc);
                apply_all(self, &doc.on_tick);
            }
            Call::Deactivated => {
                let kept = std::mem::take(&mut self.record_mut(who, key).effects);
                for effect in kept.into_iter().rev() {
                    let _ = self.remove_now(who, effect, -1);
                }
                self.play(who).capable.blocks.retain(|b| b.1 != Source::Capability(key.0, key.1));
                apply_all(self, &doc.on_deactivated);
            }
        }
    }

    fn tally_tick(&mut self, doc: &Capability) {
        if !doc.on_tick.is_empty() {
            self.count("Capability tick");
        }
    }

    fn keep_applied(&mut self, who: u32, key: Key, effect: &str) {
        let spec = Spec::new(effect, who, who);
        let own = self.key();
        if self.apply_now(&spec, own).is_err() {
            return;
        }
        let row = &self.rows[&who];
        let is_there = row.effects.iter().any(|e| e.key == own) || row.queue.iter().any(|q| q.0 == own);
        // What joins an instance that is there belongs to it.
        let joined = self.existing(&spec, &self.effects[effect]).map(|e| e.key);
        let kept = if is_there { Some(own) } else { joined };
        self.record_mut(who, key).effects.extend(kept);
    }

    fn act_for(&mut self, who: u32, record: &Record, act: Act) {
        let source = Source::Capability(record.key.0, record.key.1);
        let is_shared = |class: &str| {
            let mut all = self.rows[&who].play.capable.records.iter();
            all.any(|r| r.entry.class == class && !is_local_side(r.entry.side))
        };
        let changes_shared = match &act {
            Act::Apply(_) | Act::Remove(_) | Act::Send(..) => true,
            Act::Enable(class, _) | Act::SetInterval(class, _) | Act::SetTicking(class, _) => is_shared(class),
            Act::Cue(_) | Act::Block(_) | Act::Unblock(_) | Act::Activate(_) | Act::RemoveSet => false,
        };
        if is_local_side(record.entry.side) && changes_shared {
            return;
        }
        match act {
            Act::Apply(effect) => {
                let key = self.key();
                let _ = self.apply_now(&Spec::new(effect, who, who), key);
            }
            Act::Remove(effect) => {
                let filter = Filter { def: Some(effect.to_owned()), ..Filter::default() };
                self.remove_list(who, self.met(who, &filter), &filter);
            }
            Act::Send(tag, magnitude) => {
                let _ = self.send(who, Event { tag: tag.to_owned(), instigator: who, magnitude });
            }
            Act::Cue(cue) => self.emit(who, format!("Cue {cue} Execute")),
            Act::Block(tag) => self.add_block(who, tag, source),
            Act::Unblock(tag) => self.play(who).capable.blocks.retain(|b| b.0 != tag || b.1 != source),
            Act::Enable(class, on) => self.switch(who, class, |r| r.enabled = on),
            Act::SetInterval(class, interval) => self.set_interval(who, class, interval),
            Act::SetTicking(class, on) => self.switch(who, class, |r| r.ticks = on),
            Act::Activate(ability) => {
                let grants = self.grants_of(who, &Which::Ability(ability.to_owned())).expect("no handle");
                if self.activate(who, &grants, &ActivationRequest::default()).is_ok() {
                    self.count("Capability activates an ability");
                    self.finish_verb();
                }
            }
            Act::RemoveSet => {
                if !self.classes.leaving.contains(&record.key.0) {
                    self.classes.leaving.push(record.key.0);
                }
            }
        }
    }

    pub(super) fn switch(&mut self, who: u32, class: &str, change: impl Fn(&mut Record)) {
        self.play(who).capable.records.iter_mut().filter(|r| r.entry.class == class).for_each(change);
    }

    /// A new interval begins now.
    pub(super) fn set_interval(&mut self, who: u32, class: &str, interval: i64) {
        let now = self.local(who);
        self.switch(who, class, |r| (r.interval, r.last) = (interval, now));
    }
}
