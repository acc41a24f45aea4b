//! Notices to a controller's abilities after a verb, and their consequences: cancels, then waits, then triggers, then
//! passive abilities. An ability or wait that starts after an event does not receive its notice.

use super::effects::{has_any, under};
use super::play::{Act, ActivationRequest, Event, State, controller_or_none, owned_tags};
use super::world::{Reaction, Refused, World};
use ugas_doc::{GroupPolicy, Trigger};

/// Something that abilities may wait for.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    Tag {
        tag: String,
        added: bool,
    },
    Attribute {
        name: String,
        old: f64,
        new: f64,
    },
    /// The controller that caused it, or none.
    Died {
        source: u32,
    },
    Effect {
        def: String,
        source: u32,
        applied: bool,
    },
    Event(Event),
    Input {
        input: String,
        pressed: bool,
        held: i64,
    },
    Granted(u32),
    Ability {
        ability: String,
        act: u64,
        grant: u32,
        step: &'static str,
        cancelled: bool,
    },
    /// A condition that blocked abilities has ended.
    Freed,
    /// The controller is active again.
    Resumed,
}

/// A notice for a controller, with its sequence numbers at that time.
#[derive(Clone, Debug)]
pub(crate) struct QueuedNotice {
    pub(crate) who: u32,
    pub(crate) notice: Notice,
    pub(crate) seq: u64,
    /// The activation that was about to start: its own commit does not cancel it.
    pub(crate) activating: Option<u64>,
    pub(crate) grants: u32,
    /// Grants that were active: events during that time do not start a passive ability again.
    pub(crate) running: Vec<u32>,
}

impl World {
    pub(crate) fn notify(&mut self, who: u32, notice: Notice) {
        self.notify_since(who, notice, self.next_seq);
    }

    /// The same for a notice with an earlier sequence number.
    pub(crate) fn notify_since(&mut self, who: u32, notice: Notice, seq: u64) {
        let play = &self.rows[&who].play;
        let activating = play.acts.iter().find(|a| a.state == State::Activating).map(|a| a.seq);
        let running = play.acts.iter().map(|a| a.grant).collect();
        self.notices.push(QueuedNotice { who, notice, seq, activating, grants: play.next_grant, running });
    }

    pub(crate) fn deliver(&mut self, queued: &QueuedNotice) {
        let who = queued.who;
        if !self.rows.contains_key(&who) {
            return;
        }
        match &queued.notice {
            Notice::Tag { tag, added: true } => self.cancel_by_tag(who, tag, queued),
            Notice::Tag { tag, added: false } => self.cancel_where(who, |w, a| {
                w.abilities[&a.ability].triggers.iter().any(|t| t.tag_present.as_ref() == Some(tag))
            }),
            Notice::Died { .. } => {
                self.cancel_where(who, |w, a| a.seq <= queued.seq && !w.abilities[&a.ability].castable_while_dead);
            }
            _ => {}
        }
        if matches!(queued.notice, Notice::Tag { .. } | Notice::Died { .. }) {
            self.check_casters_at(who);
        }
        self.wake(queued);
        self.trigger(queued);
        self.try_passives(who, queued);
    }

    fn cancel_by_tag(&mut self, who: u32, tag: &str, queued: &QueuedNotice) {
        self.cancel_where(who, |w, a: &Act| {
            let def = &w.abilities[&a.ability];
            let own = def.tags.activation_owned_tags.iter().any(|t| under(t, tag));
            let still = def.cast.as_ref().is_some_and(|c| c.while_moving == Some(false));
            let casts = w.rows[&who].play.cast.as_ref().is_some_and(|c| c.act == a.seq);
            let moved = still && casts && under(tag, "State.Moving");
            let listed = has_any(&[&vec![tag.to_owned()]], &def.tags.cancel_abilities_with_tags);
            a.seq <= queued.seq && queued.activating != Some(a.seq) && !own && (listed || moved)
        });
    }

    fn trigger(&mut self, queued: &QueuedNotice) {
        let who = queued.who;
        let mut hits = Vec::new();
        for g in self.rows[&who].grants.iter().filter(|g| g.id < queued.grants) {
            let def = &self.abilities[&g.ability];
            let hit = def.triggers.iter().find(|t| match &queued.notice {
                Notice::Event(e) => t.event.as_ref().is_some_and(|of| under(&e.tag, of)),
                Notice::Tag { tag, added: true } => {
                    t.tag_added.as_ref() == Some(tag) || t.tag_present.as_ref() == Some(tag)
                }
                Notice::Granted(id) => g.id == *id && t.tag_present.as_ref().is_some_and(|p| self.has_tag(who, p)),
                Notice::Attribute { name, old, new } if t.attribute.as_ref() == Some(name) => {
                    t.below.is_some_and(|v| *old >= v && *new < v) || t.above.is_some_and(|v| *old <= v && *new > v)
                }
                Notice::Effect { def, applied: true, .. } => t.effect_applied.as_ref() == Some(def),
                Notice::Died { .. } => t.died,
                _ => false,
            });
            hits.extend(hit.map(|t| (g.id, form(t))));
        }
        let request = match &queued.notice {
            Notice::Event(e) => ActivationRequest {
                target: controller_or_none(e.instigator),
                event: Some(e.clone()),
                source: Some(e.instigator),
            },
            Notice::Effect { source, .. } => {
                ActivationRequest { target: controller_or_none(*source), event: None, source: Some(*source) }
            }
            Notice::Died { source } if self.rows.contains_key(source) => {
                ActivationRequest { target: controller_or_none(*source), event: None, source: Some(*source) }
            }
            _ => ActivationRequest::default(),
        };
        for (grant, form) in hits {
            self.try_trigger(who, grant, &request, form);
        }
    }

    fn try_trigger(&mut self, who: u32, grant: u32, request: &ActivationRequest, form: &str) {
        let result = self.try_activate(who, grant, request).map(drop);
        self.count(&format!("Activate {}", outcome(result)));
        self.count(&format!("Trigger {form} {}", outcome(result)));
    }

    /// Tries to activate idle passive abilities that the notice may have unblocked.
    fn try_passives(&mut self, who: u32, queued: &QueuedNotice) {
        let row = &self.rows[&who];
        let was_idle = |id: u32| id < queued.grants && !queued.running.contains(&id);
        let idle = |id: u32| was_idle(id) && row.play.acts.iter().all(|a| a.grant != id);
        let list: Vec<u32> =
            row.grants.iter().filter(|g| self.abilities[&g.ability].passive && idle(g.id)).map(|g| g.id).collect();
        for grant in list {
            let Some(g) = self.grant(who, grant) else { continue };
            if self.is_reason(grant, &g.ability.clone(), &queued.notice) {
                self.try_trigger(who, grant, &ActivationRequest::default(), "Passive");
            }
        }
    }

    /// The own tags and the own end of an ability do not start it, nor does the end of another ability that did not
    /// block it.
    fn is_reason(&self, grant: u32, ability: &str, notice: &Notice) -> bool {
        let def = &self.abilities[ability];
        match notice {
            Notice::Tag { tag, .. } => {
                let own = self.effects.get(&owned_tags(ability)).map(|e| e.granted_tags.clone()).unwrap_or_default();
                !own.iter().any(|t| under(t, tag))
            }
            Notice::Attribute { .. } | Notice::Granted(_) | Notice::Freed | Notice::Resumed => true,
            Notice::Ability { ability, grant: ended, step: "Ended", .. } => {
                let other = &self.abilities[ability];
                let blocks = has_any(&[&def.tags.ability_tags], &other.tags.block_abilities_with_tags);
                let excludes = match (&def.activation_group, &other.activation_group) {
                    (Some(mine), Some(theirs)) => {
                        mine.policy != GroupPolicy::Independent
                            && theirs.policy == GroupPolicy::Exclusive
                            && mine.name == theirs.name
                    }
                    _ => false,
                };
                *ended != grant && (blocks || excludes)
            }
            _ => false,
        }
    }

    /// Queues the notices after the verb and its conditional effects.
    pub(crate) fn queue_notices(&mut self) {
        let notices = std::mem::take(&mut self.notices);
        self.reactions.extend(notices.into_iter().map(Reaction::Notice));
    }
}

/// The kind of a trigger.
fn form(t: &Trigger) -> &'static str {
    match t {
        Trigger { event: Some(_), .. } => "Event",
        Trigger { tag_added: Some(_), .. } => "TagAdded",
        Trigger { tag_present: Some(_), .. } => "TagPresent",
        Trigger { below: Some(_), .. } => "Below",
        Trigger { above: Some(_), .. } => "Above",
        Trigger { died: true, .. } => "Died",
        _ => "EffectApplied",
    }
}

pub(crate) fn outcome(result: Result<(), Refused>) -> &'static str {
    result.err().unwrap_or("Ok")
}
