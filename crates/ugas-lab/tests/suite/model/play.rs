//! The abilities of a controller: grants, activations, waiting tasks, and how an activation starts and ends.
//! Definitions are read from their documents whenever they are needed.

use super::check::Try;
use super::world::{NONE, Refused, Spec, World};
use std::collections::{BTreeMap, BTreeSet};
use ugas_doc::{Ability, AbilityTask, CommitPolicy, GroupPolicy};

/// A granted ability.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) id: u32,
    pub(crate) ability: String,
    pub(crate) level: u32,
    pub(crate) input: Option<String>,
    /// The effect that takes it away.
    pub(crate) by: Option<u64>,
    pub(crate) params: BTreeMap<String, f64>,
    pub(crate) restrictions: BTreeSet<String>,
    pub(crate) charge: Option<super::combat::Charge>,
}

/// A gameplay event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) tag: String,
    pub(crate) instigator: u32,
    pub(crate) magnitude: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Activating,
    Pending,
    Active,
    Ending,
}

/// A running ability. Times are local.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) seq: u64,
    pub(crate) grant: u32,
    pub(crate) ability: String,
    pub(crate) state: State,
    pub(crate) committed: bool,
    pub(crate) level: u32,
    /// The target, or none.
    pub(crate) target: Option<u32>,
    pub(crate) event: Option<Event>,
    /// Who caused it.
    pub(crate) source: u32,
    pub(crate) start: i64,
    /// When the validation times out.
    pub(crate) deadline: Option<i64>,
    /// The effect that grants its tags.
    pub(crate) owned: Option<u64>,
    pub(crate) tick: u32,
    pub(crate) targets: Vec<u32>,
    pub(crate) held: f64,
    pub(crate) cues: Vec<String>,
}

/// The remaining part of a list of tasks.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Task(AbilityTask),
    /// Tasks to be run so many times more.
    Repeat(u32, Vec<AbilityTask>),
}

/// A task that waits, or a fork whose branches run. Times are local.
#[derive(Clone, Debug)]
pub(crate) struct Sleep {
    pub(crate) seq: u64,
    pub(crate) act: u64,
    /// The fork it belongs to, or 0.
    pub(crate) parent: u64,
    pub(crate) task: AbilityTask,
    /// What comes after it.
    pub(crate) rest: Vec<Item>,
    pub(crate) due: Option<i64>,
    /// The timer is a time-out.
    pub(crate) late: bool,
    /// A sim time it waits for.
    pub(crate) until: Option<i64>,
    /// When that takes too long.
    pub(crate) too_long: Option<i64>,
    pub(crate) value: f64,
    /// Branches that run.
    pub(crate) left: usize,
    /// The wait has ended, but its body still runs.
    pub(crate) closed: bool,
}

/// A grant of an ability set.
#[derive(Clone, Debug)]
pub(crate) struct SetGrant {
    pub(crate) handle: u64,
    pub(crate) set: String,
    pub(crate) sets: Vec<String>,
    pub(crate) effects: Vec<u64>,
    pub(crate) grants: Vec<u32>,
}

/// Everything about abilities on one controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Play {
    pub(crate) next_grant: u32,
    pub(crate) acts: Vec<Act>,
    pub(crate) tasks: Vec<Sleep>,
    /// The local time of a press, and whether and at which target its ability is retried.
    pub(crate) held: BTreeMap<String, Held>,
    pub(crate) sets: Vec<SetGrant>,
    pub(crate) cast: Option<super::combat::Cast>,
    pub(crate) gcds: BTreeMap<String, super::combat::Gcd>,
    pub(crate) capable: super::capability::Capable,
}

#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) since: i64,
    pub(crate) retry: bool,
    pub(crate) target: Option<u32>,
}

/// How an activation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Ended,
    Cancelled,
    Interrupted,
}

/// What an activation is asked for with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActivationRequest {
    pub(crate) target: Option<u32>,
    pub(crate) event: Option<Event>,
    /// Who caused it, if not the owner.
    pub(crate) source: Option<u32>,
}

impl World {
    pub(crate) fn seq(&mut self) -> u64 {
        self.next_seq += 1;
        self.next_seq
    }

    pub(crate) fn play(&mut self, who: u32) -> &mut Play {
        &mut self.row(who).play
    }

    pub(crate) fn act(&self, who: u32, seq: u64) -> Option<&Act> {
        self.rows.get(&who)?.play.acts.iter().find(|a| a.seq == seq)
    }

    pub(crate) fn act_mut(&mut self, who: u32, seq: u64) -> &mut Act {
        self.play(who).acts.iter_mut().find(|a| a.seq == seq).expect("it runs")
    }

    pub(crate) fn is_active(&self, who: u32, seq: u64) -> bool {
        self.act(who, seq).is_some_and(|a| a.state == State::Active)
    }

    pub(crate) fn ability_of(&self, who: u32, seq: u64) -> Ability {
        self.abilities[&self.act(who, seq).expect("it runs").ability].clone()
    }

    pub(crate) fn grant(&self, who: u32, id: u32) -> Option<&Grant> {
        self.rows.get(&who)?.grants.iter().find(|g| g.id == id)
    }

    // The beginning ---------------------------------------------------------------------------------------------

    /// Tries the grants in order; the first refusal counts.
    pub(crate) fn activate(&mut self, who: u32, grants: &[u32], request: &ActivationRequest) -> Result<u64, Refused> {
        let mut first = None;
        for &grant in grants {
            match self.try_activate(who, grant, request) {
                Ok(seq) => return Ok(seq),
                Err(kind) => first = first.or(Some(kind)),
            }
        }
        Err(first.unwrap_or("NotGranted"))
    }

    pub(crate) fn try_activate(&mut self, who: u32, grant: u32, request: &ActivationRequest) -> Result<u64, Refused> {
        let g = self.grant(who, grant).ok_or("NotGranted")?.clone();
        let def = self.abilities[&g.ability].clone();
        let t = Try { who, grant, level: g.level, target: request.target, source: request.source.unwrap_or(who) };
        self.refusal(&t, &def, false).map_or(Ok(()), Err)?;
        let (seq, start) = (self.seq(), self.local(who));
        let validation = def.async_validation.as_ref().filter(|v| v.required);
        let new = Act {
            seq,
            grant,
            ability: g.ability.clone(),
            state: State::Activating,
            committed: false,
            level: g.level,
            target: request.target,
            event: request.event.clone(),
            source: request.source.unwrap_or(who),
            start,
            deadline: None,
            owned: None,
            tick: 0,
            targets: Vec::new(),
            held: 0.0,
            cues: Vec::new(),
        };
        self.play(who).acts.push(new);
        if let Some(v) = validation {
            let a = self.act_mut(who, seq);
            a.state = State::Pending;
            a.deadline = v.timeout_ms.map(|ms| start + ms as i64 * (super::effects::SECOND / 1000));
            let kind = v.kind.as_ref().map(|k| format!(" Kind={k}")).unwrap_or_default();
            let time = v.timeout_ms.map(|ms| format!(" Timeout={}", ms as f64 / 1000.0)).unwrap_or_default();
            self.emit(who, format!("TaskRequest Validate of {}{kind}{time}", g.ability));
            return Ok(seq);
        }
        self.launch(who, seq)?;
        Ok(seq)
    }

    /// It commits, others give way, it is active, its tasks begin. The commit comes first: it may still be refused.
    pub(crate) fn launch(&mut self, who: u32, seq: u64) -> Result<(), Refused> {
        let a = self.act(who, seq).expect("it was just made").clone();
        let def = self.abilities[&a.ability].clone();
        if def.commit_policy == CommitPolicy::Auto
            && let Err(kind) = self.commit(who, seq)
        {
            self.play(who).acts.retain(|o| o.seq != seq);
            return Err(kind);
        }
        if self.act(who, seq).is_some() {
            if def.retrigger && !def.allow_multiple_instances {
                self.cancel_where(who, |_, o| o.grant == a.grant && o.seq != seq);
            }
            if let Some(group) = def.activation_group.as_ref().filter(|g| g.policy != GroupPolicy::Independent) {
                self.cancel_where(who, |w, o| {
                    let theirs = w.abilities[&o.ability].activation_group.as_ref();
                    o.seq != seq && theirs.is_some_and(|t| t.name == group.name && t.policy == GroupPolicy::Replaceable)
                });
            }
        }
        // The cost, or a replaced ability, may have removed its grant.
        if self.act(who, seq).is_none() {
            return Ok(());
        }
        self.act_mut(who, seq).state = State::Active;
        self.emit(who, format!("AbilityActivated {} grant {} level {}", def.name, a.grant, a.level));
        let cancels = &def.tags.cancel_abilities_with_tags;
        self.cancel_where(who, |w, o| {
            let tags = &w.abilities[&o.ability].tags.ability_tags;
            o.seq != seq && super::effects::has_any(&[tags], cancels)
        });
        self.notify_ability(who, &a, "Activated", false);
        let initial = def.cast.as_ref().is_some_and(|c| c.initial_tick) && def.commit_policy == CommitPolicy::Auto;
        if def.cast.is_none() || initial {
            self.run_list(who, seq, &def.on_tick);
        }
        if self.is_active(who, seq) {
            self.run(who, seq, 0, items(&def.tasks), false);
        }
        self.maybe_done(who, seq);
        Ok(())
    }

    /// Everything is spent or nothing: global cooldown, charges, cost, cooldown, owned tags, then the cast begins.
    pub(crate) fn commit(&mut self, who: u32, seq: u64) -> Result<(), Refused> {
        let a = self.act(who, seq).ok_or("StaleHandle")?.clone();
        if a.committed || a.state == State::Ending {
            return Ok(());
        }
        let def = self.abilities[&a.ability].clone();
        let t = Try { who, grant: a.grant, level: a.level, target: a.target, source: who };
        self.refusal_of_commit(&t, &def).map_or(Ok(()), Err)?;
        let before = self.clone();
        self.start_gcd(who, &def);
        self.spend_charges(who, a.grant, &def);
        let owned = (!def.tags.activation_owned_tags.is_empty()).then(|| owned_tags(&def.name));
        for (n, effect) in [&def.cost, &def.cooldown, &owned].into_iter().enumerate() {
            let Some(effect) = effect else { continue };
            let key = self.key();
            let spec = Spec { level: a.level, ..Spec::new(effect, who, who) };
            let result = if n == 0 { self.spend(&def, &spec, key) } else { self.apply_now(&spec, key) };
            if let Err(kind) = result {
                *self = before;
                return Err(kind);
            }
            if n == 2 && self.act(who, seq).is_some() {
                self.act_mut(who, seq).owned = Some(key);
            }
        }
        if self.act(who, seq).is_none() {
            return Ok(());
        }
        self.act_mut(who, seq).committed = true;
        self.notify_ability(who, &a, "Committed", false);
        self.begin_cast(who, seq, &def);
        if a.state == State::Active && def.cast.as_ref().is_some_and(|c| c.initial_tick) {
            self.run_list(who, seq, &def.on_tick);
        }
        Ok(())
    }

    /// Ends what has nothing left to do.
    pub(crate) fn maybe_done(&mut self, who: u32, seq: u64) {
        if !self.is_active(who, seq) {
            return;
        }
        let def = self.ability_of(who, seq);
        let lasts = def.passive || def.triggers.iter().any(|t| t.tag_present.is_some());
        let play = &self.rows[&who].play;
        let busy = play.tasks.iter().any(|t| t.act == seq) || play.cast.as_ref().is_some_and(|c| c.act == seq);
        if !lasts && !busy {
            self.finish(who, seq, How::Ended);
        }
    }

    // The end ---------------------------------------------------------------------------------------------------

    pub(crate) fn cancel_where(&mut self, who: u32, test: impl Fn(&World, &Act) -> bool) {
        let picked: Vec<u64> = self.rows[&who].play.acts.iter().filter(|a| test(self, a)).map(|a| a.seq).collect();
        picked.into_iter().for_each(|seq| self.finish(who, seq, How::Cancelled));
    }

    /// Completed: tasks, owned tags, the fact. Cancelled: owned tags, the fact, its cancel list, tasks.
    pub(crate) fn finish(&mut self, who: u32, seq: u64, how: How) {
        let Some(a) = self.act(who, seq).cloned() else { return };
        match a.state {
            State::Active => {}
            State::Pending => return self.play(who).acts.retain(|o| o.seq != seq),
            State::Activating | State::Ending => return,
        }
        self.act_mut(who, seq).state = State::Ending;
        let def = self.abilities[&a.ability].clone();
        let cancelled = how != How::Ended;
        if !cancelled {
            self.cancel_tasks(who, seq);
            self.stop_cast(who, seq, "Cancelled");
        }
        if let Some(owned) = self.act_mut(who, seq).owned.take() {
            self.end_effect(who, owned, "Removed");
        }
        if cancelled {
            self.stop_cast(who, seq, if how == How::Interrupted { "Interrupted" } else { "Cancelled" });
        }
        let interrupted = how == How::Interrupted;
        let (name, grant) = (&def.name, a.grant);
        self.emit(who, format!("AbilityEnded {name} grant {grant} cancelled {cancelled} interrupted {interrupted}"));
        if cancelled {
            self.run_list(who, seq, if interrupted { &def.on_interrupt } else { &def.on_cancel });
            self.cancel_tasks(who, seq);
        }
        for cue in self.act(who, seq).map(|a| a.cues.clone()).unwrap_or_default() {
            self.act_mut(who, seq).cues.remove(0);
            if self.cue_count(who, &cue) == 0 {
                self.emit(who, format!("Cue {cue} Remove"));
            }
        }
        self.play(who).acts.retain(|o| o.seq != seq);
        self.notify_ability(who, &a, "Ended", cancelled);
    }

    // Grants ----------------------------------------------------------------------------------------------------

    pub(crate) fn give(&mut self, who: u32, ability: &str, level: u32, input: Option<String>, by: Option<u64>) -> u32 {
        let def = self.abilities[ability].clone();
        let play = self.play(who);
        let id = play.next_grant;
        play.next_grant += 1;
        let shown = input.clone().unwrap_or_else(|| "-".into());
        let mut new = Grant {
            id,
            ability: ability.to_owned(),
            level,
            input,
            by,
            params: BTreeMap::new(),
            restrictions: BTreeSet::new(),
            charge: None,
        };
        new.charge = self.full_charges(who, &def);
        self.row(who).grants.push(new);
        self.emit(who, format!("Granted {ability} grant {id} level {level} input {shown}"));
        if def.passive || def.triggers.iter().any(|t| t.tag_present.is_some()) {
            self.notify(who, super::notice::Notice::Granted(id));
        }
        id
    }

    pub(crate) fn revoke_grant(&mut self, who: u32, id: u32) {
        let runs = |a: &&Act| a.grant == id && a.state != State::Ending;
        while let Some(a) = self.rows[&who].play.acts.iter().find(runs).cloned() {
            if a.state == State::Activating {
                self.play(who).acts.retain(|o| o.seq != a.seq);
            }
            self.finish(who, a.seq, How::Cancelled);
        }
        let Some(at) = self.rows[&who].grants.iter().position(|g| g.id == id) else { return };
        let g = self.row(who).grants.remove(at);
        self.emit(who, format!("Revoked {} grant {id}", g.ability));
    }

    fn notify_ability(&mut self, who: u32, a: &Act, step: &'static str, cancelled: bool) {
        let (ability, act, grant) = (a.ability.clone(), a.seq, a.grant);
        self.notify(who, super::notice::Notice::Ability { ability, act, grant, step, cancelled });
    }
}

/// The effect that grants an ability's own tags.
pub(crate) fn owned_tags(ability: &str) -> String {
    format!("GE_OwnedTags_{ability}")
}

pub(crate) fn items(tasks: &[AbilityTask]) -> Vec<Item> {
    tasks.iter().cloned().map(Item::Task).collect()
}

/// `NONE` is not a target.
pub(crate) fn controller_or_none(who: u32) -> Option<u32> {
    (who != NONE).then_some(who)
}
