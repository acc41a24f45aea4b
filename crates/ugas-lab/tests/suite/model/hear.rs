//! News: what a controller's abilities hear of after a verb, and what comes of it: cancels, then waits, then triggers,
//! then passive abilities. Whatever began after something happened does not hear of it.

use super::effects::{has_any, under};
use super::play::{Act, Event, State, Wish, owned_tags, somebody};
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
    /// Of a change that this controller caused, or nobody.
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
    /// Something that keeps abilities from starting is over.
    Freed,
    /// The controller is active again.
    Resumed,
}

/// News for a controller, and how far its numbers had come when it happened.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) who: u32,
    pub(crate) notice: Notice,
    pub(crate) seq: u64,
    /// The activation that was about to begin: what its own commit does is no reason to cancel it.
    pub(crate) activating: Option<u64>,
    pub(crate) grants: u32,
    /// Grants that ran: what happened then is no reason to start a passive ability again.
    pub(crate) running: Vec<u32>,
}

impl World {
    pub(crate) fn notify(&mut self, who: u32, notice: Notice) {
        self.notify_since(who, notice, self.next_seq);
    }

    /// The same for something that counts as having happened earlier.
    pub(crate) fn notify_since(&mut self, who: u32, notice: Notice, seq: u64) {
        let play = &self.rows[&who].play;
        let activating = play.acts.iter().find(|a| a.state == State::Activating).map(|a| a.seq);
        let running = play.acts.iter().map(|a| a.grant).collect();
        self.notices.push(Heard { who, notice, seq, activating, grants: play.next_grant, running });
    }

    pub(crate) fn hear(&mut self, heard: &Heard) {
        let who = heard.who;
        if !self.rows.contains_key(&who) {
            return;
        }
        match &heard.notice {
            Notice::Tag { tag, added: true } => self.cancel_by_tag(who, tag, heard),
            Notice::Tag { tag, added: false } => self.cancel_where(who, |w, a| {
                w.abilities[&a.ability].triggers.iter().any(|t| t.tag_present.as_ref() == Some(tag))
            }),
            Notice::Died { .. } => {
                self.cancel_where(who, |w, a| a.seq <= heard.seq && !w.abilities[&a.ability].castable_while_dead);
            }
            _ => {}
        }
        if matches!(heard.notice, Notice::Tag { .. } | Notice::Died { .. }) {
            self.check_casters_at(who);
        }
        self.wake(heard);
        self.trigger(heard);
        self.try_passives(who, heard);
    }

    fn cancel_by_tag(&mut self, who: u32, tag: &str, heard: &Heard) {
        self.cancel_where(who, |w, a: &Act| {
            let def = &w.abilities[&a.ability];
            let own = def.tags.activation_owned_tags.iter().any(|t| under(t, tag));
            let still = def.cast.as_ref().is_some_and(|c| c.while_moving == Some(false));
            let casts = w.rows[&who].play.cast.as_ref().is_some_and(|c| c.act == a.seq);
            let moved = still && casts && under(tag, "State.Moving");
            let listed = has_any(&[&vec![tag.to_owned()]], &def.tags.cancel_abilities_with_tags);
            a.seq <= heard.seq && heard.activating != Some(a.seq) && !own && (listed || moved)
        });
    }

    fn trigger(&mut self, heard: &Heard) {
        let who = heard.who;
        let mut hits = Vec::new();
        for g in self.rows[&who].grants.iter().filter(|g| g.id < heard.grants) {
            let def = &self.abilities[&g.ability];
            let hit = def.triggers.iter().find(|t| match &heard.notice {
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
        let wish = match &heard.notice {
            Notice::Event(e) => {
                Wish { target: somebody(e.instigator), event: Some(e.clone()), source: Some(e.instigator) }
            }
            Notice::Effect { source, .. } => Wish { target: somebody(*source), event: None, source: Some(*source) },
            Notice::Died { source } if self.rows.contains_key(source) => {
                Wish { target: somebody(*source), event: None, source: Some(*source) }
            }
            _ => Wish::default(),
        };
        for (grant, form) in hits {
            self.set_off(who, grant, &wish, form);
        }
    }

    fn set_off(&mut self, who: u32, grant: u32, wish: &Wish, form: &str) {
        let result = self.try_activate(who, grant, wish).map(drop);
        self.count(&format!("Activate {}", outcome(result)));
        self.count(&format!("Trigger {form} {}", outcome(result)));
    }

    /// Passive abilities that do not run are tried if this can have kept them from it.
    fn try_passives(&mut self, who: u32, heard: &Heard) {
        let row = &self.rows[&who];
        let was_idle = |id: u32| id < heard.grants && !heard.running.contains(&id);
        let idle = |id: u32| was_idle(id) && row.play.acts.iter().all(|a| a.grant != id);
        let list: Vec<u32> =
            row.grants.iter().filter(|g| self.abilities[&g.ability].passive && idle(g.id)).map(|g| g.id).collect();
        for grant in list {
            let Some(g) = self.grant(who, grant) else { continue };
            if self.is_reason(grant, &g.ability.clone(), &heard.notice) {
                self.set_off(who, grant, &Wish::default(), "Passive");
            }
        }
    }

    /// Tags that an ability owns itself and its own end are no reason to start it, nor is the end of another that did
    /// not stand in its way.
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

    /// What waits until the verb and its conditional effects are queued.
    pub(crate) fn queue_news(&mut self) {
        let notices = std::mem::take(&mut self.notices);
        self.reactions.extend(notices.into_iter().map(Reaction::Hear));
    }
}

/// What sort of trigger it is.
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
