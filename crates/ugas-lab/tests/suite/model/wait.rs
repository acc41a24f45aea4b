//! What wakes a waiting task.

use super::effects::{SECOND, has_any, under};
use super::notice::{Notice, QueuedNotice};
use super::number::{compares, tags, text};
use super::play::{Item, Sleep, items};
use super::world::World;
use ugas_doc::Value;

impl World {
    /// Wakes who waited for it before it happened, the oldest first.
    pub(crate) fn wake(&mut self, queued: &QueuedNotice) {
        let who = queued.who;
        if !self.rows[&who].active {
            return;
        }
        let sleeping: Vec<u64> = self.rows[&who].play.tasks.iter().map(|t| t.seq).collect();
        for seq in sleeping.into_iter().filter(|&seq| seq <= queued.seq) {
            let Some(t) = self.sleeping(who, seq).cloned() else { continue };
            if !self.is_active(who, t.act) || t.closed {
                continue;
            }
            let Some(value) = self.wait_value(who, &t, &queued.notice) else { continue };
            self.fulfil_wait(who, &t, value, &queued.notice);
            self.maybe_done(who, t.act);
        }
    }

    /// The value of a task that the notice wakes.
    fn wait_value(&self, who: u32, t: &Sleep, notice: &Notice) -> Option<f64> {
        let task = &t.task;
        let named = |name: &str| text(task, name).unwrap_or_default();
        let truth = |b: bool| b as u32 as f64;
        match (task.kind.as_str(), notice) {
            ("WaitGameplayEvent", Notice::Event(e)) => under(&e.tag, named("EventTag")).then_some(e.magnitude),
            ("WaitTagAdded", Notice::Tag { tag, added: true }) => (tag == named("Tag")).then_some(1.0),
            ("WaitTagRemoved", Notice::Tag { tag, added: false }) => (tag == named("Tag")).then_some(0.0),
            ("WaitTagChanged", Notice::Tag { tag, added }) => (tag == named("Tag")).then_some(truth(*added)),
            ("WaitTagAdded", Notice::Resumed) => self.has_tag(who, named("Tag")).then_some(1.0),
            ("WaitTagRemoved", Notice::Resumed) => (!self.has_tag(who, named("Tag"))).then_some(0.0),
            ("WaitTagQuery", Notice::Tag { .. } | Notice::Resumed) => {
                self.query_holds(who, named("Query")).then_some(1.0)
            }
            ("WaitAttributeChange", Notice::Attribute { name, new, .. }) => {
                (name == named("Attribute")).then_some(*new)
            }
            ("WaitAttributeThreshold", Notice::Attribute { name, new, .. }) => {
                (name == named("Attribute") && compares(task, *new, t.value)).then_some(*new)
            }
            ("WaitAttributeThreshold", Notice::Resumed) => {
                self.get(who, named("Attribute")).filter(|now| compares(task, *now, t.value))
            }
            ("WaitEffectApplied", Notice::Effect { def, applied: true, .. })
            | ("WaitEffectRemoved", Notice::Effect { def, applied: false, .. }) => {
                let e = &self.effects[def];
                let meant = match text(task, "EffectClass") {
                    Some(name) => name == def,
                    None => has_any(&[&e.effect_tags, &e.granted_tags], &tags(task, "WithTags")),
                };
                meant.then_some(0.0)
            }
            (kind, Notice::Ability { ability, act, step, cancelled, .. }) => {
                let waits = kind.strip_prefix("WaitAbility") == Some(*step);
                (waits && *act != t.act && self.is_picked(ability, task)).then_some(truth(*cancelled))
            }
            ("WaitInputPressed", Notice::Input { input, pressed: true, .. }) => {
                (self.input_of(who, t.act, task).as_ref() == Some(input)).then_some(0.0)
            }
            ("WaitInputRelease", Notice::Input { input, pressed: false, held }) => {
                let mine = self.input_of(who, t.act, task).as_ref() == Some(input);
                mine.then_some(*held as f64 / SECOND as f64)
            }
            ("WaitInputRelease", Notice::Resumed) => {
                let input = self.input_of(who, t.act, task);
                input.is_none_or(|i| !self.rows[&who].play.held.contains_key(&i)).then_some(0.0)
            }
            _ => None,
        }
    }

    /// Fulfils a wait, once or repeatedly.
    fn fulfil_wait(&mut self, who: u32, t: &Sleep, value: f64, notice: &Notice) {
        let a = self.act_mut(who, t.act);
        match notice {
            Notice::Event(e) => a.event = Some(e.clone()),
            Notice::Input { held, pressed: false, .. } => a.held = *held as f64 / SECOND as f64,
            _ => {}
        }
        let repeats = matches!(t.task.kind.as_str(), "WaitGameplayEvent" | "WaitTagChanged" | "WaitAttributeChange");
        let once = !repeats || t.task.params.get("OnlyTriggerOnce") != Some(&Value::Bool(false));
        let body: Vec<Item> = items(&t.task.tasks);
        if !body.is_empty() {
            self.play(who).tasks.iter_mut().find(|o| o.seq == t.seq).expect("it sleeps").left += 1;
        }
        if once {
            self.finish_task(who, t.seq, "Completed", value);
        } else {
            let ability = self.act(who, t.act).expect("it runs").ability.clone();
            self.emit_with(who, format!("TaskEnded {} Output {ability}", t.task.kind), vec![value]);
        }
        if !body.is_empty() {
            self.run(who, t.act, t.seq, body, false);
        }
    }
}
