//! Tasks: lists run in written order. A waiting task keeps the rest of its list.

use super::effects::Filter;
use super::expr;
use super::number::{as_number, compares, finds_targets, is_host_answered, shown, tags, text};
use super::play::{How, Item, Sleep, items};
use super::world::{NONE, Spec, World};
use ugas_doc::{AbilityTask, Value};

pub(crate) const FRAME: i64 = super::effects::SECOND / 60;

/// What starting a task came to.
enum Step {
    Next,
    Sleep,
    Stop,
}

impl World {
    /// A list that never waits; it also runs while its ability ends.
    pub(crate) fn run_list(&mut self, who: u32, act: u64, tasks: &[AbilityTask]) {
        if self.act(who, act).is_some() && !tasks.is_empty() {
            self.run(who, act, 0, items(tasks), true);
        }
    }

    fn may_run(&self, who: u32, act: u64, parent: u64, list: bool) -> bool {
        let there = self.act(who, act).is_some_and(|_| list || self.is_active(who, act));
        there && (parent == 0 || self.sleeping(who, parent).is_some())
    }

    pub(crate) fn sleeping(&self, who: u32, seq: u64) -> Option<&Sleep> {
        self.rows.get(&who)?.play.tasks.iter().find(|t| t.seq == seq)
    }

    fn sleeping_mut(&mut self, who: u32, seq: u64) -> &mut Sleep {
        self.play(who).tasks.iter_mut().find(|t| t.seq == seq).expect("it sleeps")
    }

    /// Runs a list until it waits or is over.
    pub(crate) fn run(&mut self, who: u32, act: u64, parent: u64, mut rest: Vec<Item>, list: bool) {
        while self.may_run(who, act, parent, list) {
            if rest.is_empty() {
                return self.join(who, act, parent, list);
            }
            let task = match rest.remove(0) {
                Item::Task(task) => task,
                Item::Repeat(0, _) => continue,
                Item::Repeat(n, tasks) => {
                    rest.splice(0..0, items(&tasks).into_iter().chain([Item::Repeat(n - 1, tasks)]));
                    continue;
                }
            };
            self.count(&format!("Task {}", task.kind));
            match task.kind.as_str() {
                "Sequence" => drop(rest.splice(0..0, items(&task.tasks))),
                "Repeat" => rest.insert(0, Item::Repeat(task.count.unwrap_or(0), task.tasks.clone())),
                "Branch" => {
                    let holds = match (&task.query, &task.when) {
                        (Some(q), _) => self.query_holds(who, q),
                        (None, Some(text)) => expr::holds(text, &|name| self.read(who, act, name)),
                        (None, None) => unreachable!("generated documents are whole"),
                    };
                    rest.splice(0..0, items(if holds { &task.then } else { &task.r#else }));
                }
                "Parallel" | "Race" => {
                    let mut fork = self.blank(act, parent, &task, rest);
                    fork.left = task.tasks.len();
                    let seq = fork.seq;
                    self.play(who).tasks.push(fork);
                    for branch in &task.tasks {
                        self.run(who, act, seq, vec![Item::Task(branch.clone())], list);
                    }
                    return;
                }
                _ => match self.start_task(who, act, parent, &task, &rest, list) {
                    Step::Next => {}
                    Step::Sleep | Step::Stop => return,
                },
            }
        }
    }

    /// A branch ended: the list that forked it continues if it was the last one.
    fn join(&mut self, who: u32, act: u64, parent: u64, list: bool) {
        if parent == 0 {
            return;
        }
        let fork = self.sleeping_mut(who, parent);
        fork.left -= 1;
        let over = match fork.task.kind.as_str() {
            "Race" => true,
            "Parallel" => fork.left == 0,
            _ => fork.closed && fork.left == 0,
        };
        if over {
            let fork = fork.clone();
            self.play(who).tasks.retain(|t| t.seq != parent);
            self.drop_children(who, parent);
            self.run(who, act, fork.parent, fork.rest, list);
        }
    }

    fn drop_children(&mut self, who: u32, parent: u64) {
        let mut family = vec![parent];
        for t in &self.rows[&who].play.tasks {
            if family.contains(&t.parent) {
                family.push(t.seq);
            }
        }
        family.into_iter().skip(1).for_each(|seq| self.drop_task(who, seq));
    }

    fn drop_task(&mut self, who: u32, seq: u64) {
        let Some(t) = self.sleeping(who, seq).cloned() else { return };
        self.play(who).tasks.retain(|t| t.seq != seq);
        let composite = matches!(t.task.kind.as_str(), "Parallel" | "Race");
        if !composite && !t.closed {
            self.task_fact(who, t.act, &t.task, "Cancelled", 0.0);
        }
    }

    pub(crate) fn cancel_tasks(&mut self, who: u32, act: u64) {
        let all: Vec<u64> = self.rows[&who].play.tasks.iter().filter(|t| t.act == act).map(|t| t.seq).collect();
        all.into_iter().for_each(|seq| self.drop_task(who, seq));
    }

    fn task_fact(&mut self, who: u32, act: u64, task: &AbilityTask, result: &str, value: f64) {
        let ability = self.act(who, act).expect("it runs").ability.clone();
        self.emit_with(who, format!("TaskEnded {} {result} {ability}", task.kind), vec![value]);
    }

    fn blank(&mut self, act: u64, parent: u64, task: &AbilityTask, rest: Vec<Item>) -> Sleep {
        let seq = self.seq();
        let task = task.clone();
        let (due, until, value) = (None, None, 0.0);
        let (late, too_long) = (false, None);
        Sleep { seq, act, parent, task, rest, due, late, until, too_long, value, left: 0, closed: false }
    }

    // What tasks do ---------------------------------------------------------------------------------------------

    fn start_task(&mut self, who: u32, act: u64, parent: u64, task: &AbilityTask, rest: &[Item], list: bool) -> Step {
        let a = self.act(who, act).expect("it runs").clone();
        let targets = || if a.targets.is_empty() { a.target.into_iter().collect() } else { a.targets.clone() };
        match task.kind.as_str() {
            "ApplyEffectToOwner" => self.apply_from(who, act, task, who),
            "ApplyEffectToTarget" => targets().into_iter().for_each(|t| self.apply_from(who, act, task, t)),
            "ApplyEffectToActorsInRadius" => self.apply_around(who, act, task),
            "RemoveEffectFromOwner" => self.remove_from(who, task),
            "RemoveEffectFromTarget" => targets().into_iter().for_each(|t| self.remove_from(t, task)),
            "CommitAbility" => {
                if self.commit(who, act).is_err() {
                    self.finish(who, act, How::Cancelled);
                    return Step::Stop;
                }
            }
            "EndAbility" => {
                let cancelled = task.params.get("Cancelled") == Some(&Value::Bool(true));
                self.finish(who, act, if cancelled { How::Cancelled } else { How::Ended });
                return Step::Stop;
            }
            "CancelAbility" => self.cancel_where(who, |w, o| o.seq != act && w.is_picked(&o.ability, task)),
            "SendEvent" => {
                let magnitude = self.number(who, act, task, "Magnitude").unwrap_or(0.0);
                let to = match text(task, "To").unwrap_or("Owner") {
                    "Owner" => vec![who],
                    "Target" => a.target.into_iter().collect(),
                    _ => targets(),
                };
                for target in to {
                    let tag = text(task, "EventTag").expect("whole").to_owned();
                    let _ = self.send(target, super::play::Event { tag, instigator: who, magnitude });
                }
            }
            "SetParam" => self.run_set_param(who, act, task),
            "SetRestriction" => self.run_set_restriction(who, a.grant, task),
            "SetTarget" => {
                let target = self.pick_target(who, act, task);
                let a = self.act_mut(who, act);
                (a.target, a.targets) = (target, Vec::new());
            }
            "ExecuteCue" => self.emit(who, format!("Cue {} Execute", text(task, "Cue").expect("whole"))),
            "AddCue" => self.add_cue(who, act, task),
            "RemoveCue" => self.remove_cue(who, act, task),
            "PlayMontage" | "SpawnProjectile" | "Request" => self.request(who, &a.ability, task),
            _ if list => {}
            _ => return self.start_wait(who, act, parent, task, rest),
        }
        Step::Next
    }

    fn run_set_param(&mut self, who: u32, act: u64, task: &AbilityTask) {
        let grant = self.act(who, act).expect("it runs").grant;
        let value = self.number(who, act, task, "Value");
        let name = text(task, "Name").expect("whole").to_owned();
        if let (Some(v), Some(g)) = (value, self.row(who).grants.iter_mut().find(|g| g.id == grant)) {
            g.params.insert(name, v);
        }
    }

    fn run_set_restriction(&mut self, who: u32, grant: u32, task: &AbilityTask) {
        let on = task.params.get("Active") != Some(&Value::Bool(false));
        let name = text(task, "Name").expect("whole").to_owned();
        if let Some(g) = self.row(who).grants.iter_mut().find(|g| g.id == grant) {
            if on {
                g.restrictions.insert(name);
            } else if g.restrictions.remove(&name) {
                self.notify(who, super::notice::Notice::Freed);
            }
        }
    }

    fn add_cue(&mut self, who: u32, act: u64, task: &AbilityTask) {
        let cue = text(task, "Cue").expect("whole").to_owned();
        let cues = &mut self.act_mut(who, act).cues;
        if !cues.contains(&cue) {
            cues.push(cue.clone());
            if self.cue_count(who, &cue) == 1 {
                self.emit(who, format!("Cue {cue} Add"));
            }
        }
    }

    fn remove_cue(&mut self, who: u32, act: u64, task: &AbilityTask) {
        let cue = text(task, "Cue").expect("whole").to_owned();
        let cues = &mut self.act_mut(who, act).cues;
        if cues.contains(&cue) {
            cues.retain(|c| *c != cue);
            if self.cue_count(who, &cue) == 0 {
                self.emit(who, format!("Cue {cue} Remove"));
            }
        }
    }

    fn request(&mut self, who: u32, ability: &str, task: &AbilityTask) {
        self.emit(who, format!("TaskRequest {} of {ability}{}", task.kind, shown(&task.params)));
    }

    fn apply_from(&mut self, who: u32, act: u64, task: &AbilityTask, target: u32) {
        let Some(a) = self.act(who, act).cloned() else { return };
        let whole = |v: f64| v.round().clamp(1.0, u32::MAX as f64) as u32;
        let mut spec = Spec::new(text(task, "EffectClass").expect("whole"), target, who);
        spec.ability = Some(a.ability.clone());
        let number = |name: &str| self.number_of(who, act, task.params.get(name)?, Some(target));
        spec.level = number("Level").map_or(a.level, whole);
        spec.stacks = number("Stacks").map_or(1, whole);
        spec.duration = self.length_of(who, act, task, "Duration");
        if let Some(Value::Map(map)) = task.params.get("SetByCaller") {
            for (key, value) in map {
                if let Some(v) = self.number_of(who, act, value, Some(target)) {
                    spec.set_by_caller.insert(key.clone(), v);
                }
            }
        }
        let key = self.key();
        let _ = self.apply_now(&spec, key);
    }

    /// Others within a radius, the nearest first.
    fn around(&self, who: u32, radius: f64) -> Vec<(f64, u32)> {
        let mut found: Vec<(f64, u32)> = self
            .rows
            .keys()
            .filter(|&&o| o != who)
            .filter_map(|&o| Some((self.distance(who, o)?, o)))
            .filter(|f| f.0 <= radius)
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found
    }

    fn pick_target(&mut self, who: u32, act: u64, task: &AbilityTask) -> Option<u32> {
        let radius = match task.params.contains_key("Radius") {
            true => self.number(who, act, task, "Radius"),
            false => Some(f64::INFINITY),
        };
        let ignore = text(task, "IgnoreTargetsWithTag").map(str::to_owned);
        let passes = |w: &Self, t: u32| w.rows.contains_key(&t) && !ignore.as_ref().is_some_and(|i| w.has_tag(t, i));
        match text(task, "Target").expect("whole") {
            "Nearest" => self.around(who, radius?).into_iter().map(|f| f.1).find(|&t| passes(self, t)),
            "Owner" => Some(who),
            "Instigator" => Some(self.act(who, act).expect("it runs").source).filter(|&t| passes(self, t)),
            _ => None,
        }
    }

    fn apply_around(&mut self, who: u32, act: u64, task: &AbilityTask) {
        let Some(radius) = self.number(who, act, task, "Radius") else { return };
        let found = self.around(who, radius);
        let max = task.params.get("MaxTargets").and_then(as_number).map_or(usize::MAX, |n| n as usize);
        let ignore = text(task, "IgnoreTargetsWithTag").map(str::to_owned);
        let mut left = max;
        for (_, target) in found {
            if left == 0 {
                return;
            }
            if ignore.as_ref().is_some_and(|t| self.has_tag(target, t)) {
                self.emit(target, format!("Immune {} by ?", text(task, "EffectClass").expect("whole")));
                continue;
            }
            left -= 1;
            self.apply_from(who, act, task, target);
        }
    }

    fn remove_from(&mut self, target: u32, task: &AbilityTask) {
        if !self.rows.contains_key(&target) {
            return;
        }
        let filter = Filter {
            def: text(task, "EffectClass").map(str::to_owned),
            tags: tags(task, "WithTags"),
            ..Filter::default()
        };
        let met = self.met(target, &filter);
        match task.params.get("Stacks").and_then(as_number) {
            None => self.remove_list(target, met, &filter),
            Some(n) => met.into_iter().for_each(|key| {
                let _ = self.remove_now(target, key, n as i32);
            }),
        }
    }

    /// Whether an ability is one of those a task names.
    pub(crate) fn is_picked(&self, ability: &str, task: &AbilityTask) -> bool {
        match text(task, "Ability") {
            Some(name) => name == ability,
            None => {
                let mine = &self.abilities[ability].tags.ability_tags;
                super::effects::has_any(&[mine], &tags(task, "WithTags"))
            }
        }
    }

    // Waits -----------------------------------------------------------------------------------------------------

    fn start_wait(&mut self, who: u32, act: u64, parent: u64, task: &AbilityTask, rest: &[Item]) -> Step {
        if let Some(result) = self.done_at_once(who, act, task) {
            self.seq();
            let failed = result.is_err();
            self.task_fact(who, act, task, if failed { "Failed" } else { "Completed" }, result.unwrap_or(0.0));
            return if failed { self.on_fail(who, act, task) } else { Step::Next };
        }
        let now = self.local(who);
        let mut t = self.blank(act, parent, task, rest.to_vec());
        match task.kind.as_str() {
            "WaitDelay" => t.due = self.length_of(who, act, task, "Duration").map(|l| now + l),
            "WaitGameTime" => {
                t.until = self.length_of(who, act, task, "Time");
                t.due = t.until.map(|until| self.rows[&who].local_reaching(until).max(now));
            }
            "WaitAttributeThreshold" => t.value = self.number(who, act, task, "Value").expect("it was there"),
            "WaitOverlap" => t.value = self.number(who, act, task, "Radius").unwrap_or(f64::INFINITY),
            "WaitForTarget" | "WaitTargetData" => {
                t.value = self.number(who, act, task, "MaxRange").unwrap_or(f64::INFINITY);
            }
            _ => {}
        }
        t.too_long = self.length_of(who, act, task, "TimeOut").map(|l| now + l);
        if let Some(late) = t.too_long.filter(|&late| t.due.is_none_or(|due| late < due)) {
            (t.due, t.late) = (Some(late), true);
        }
        self.play(who).tasks.push(t);
        if is_host_answered(task) {
            let ability = self.act(who, act).expect("it runs").ability.clone();
            self.request(who, &ability, task);
        }
        Step::Sleep
    }

    fn on_fail(&mut self, who: u32, act: u64, task: &AbilityTask) -> Step {
        match text(task, "OnFail") {
            Some("End") => self.finish(who, act, How::Ended),
            Some("Cancel") => self.finish(who, act, How::Cancelled),
            _ => return Step::Next,
        }
        Step::Stop
    }

    /// The value of a wait that is fulfilled at once; an error if it can never be fulfilled.
    fn done_at_once(&self, who: u32, act: u64, task: &AbilityTask) -> Option<Result<f64, ()>> {
        let done = |holds: bool| holds.then_some(Ok(0.0));
        let tag = || text(task, "Tag").expect("whole");
        match task.kind.as_str() {
            "WaitDelay" => match self.length_of(who, act, task, "Duration") {
                None => Some(Err(())),
                Some(length) => done(length <= 0),
            },
            "WaitGameTime" => match self.length_of(who, act, task, "Time") {
                None => Some(Err(())),
                Some(time) => done(time <= self.now),
            },
            "WaitTagAdded" => done(self.has_tag(who, tag())),
            "WaitTagRemoved" => done(!self.has_tag(who, tag())),
            "WaitTagQuery" => done(self.query_holds(who, text(task, "Query").expect("whole"))),
            "WaitAttributeThreshold" => {
                let value = self.number(who, act, task, "Value");
                let now = self.get(who, text(task, "Attribute").expect("whole"));
                let (Some(value), Some(now)) = (value, now) else { return Some(Err(())) };
                compares(task, now, value).then_some(Ok(now))
            }
            "WaitInputRelease" => {
                let input = self.input_of(who, act, task);
                done(input.is_none_or(|i| !self.rows[&who].play.held.contains_key(&i)))
            }
            _ => None,
        }
    }

    /// A waiting task completes with its result and its list continues.
    pub(crate) fn finish_task(&mut self, who: u32, seq: u64, result: &str, value: f64) {
        let Some(t) = self.sleeping(who, seq).cloned() else { return };
        self.task_fact(who, t.act, &t.task, result, value);
        if result == "Failed" && finds_targets(&t.task) {
            let a = self.act_mut(who, t.act);
            (a.target, a.targets) = (None, Vec::new());
        }
        let fatal = result == "Failed" && matches!(text(&t.task, "OnFail"), Some("End" | "Cancel"));
        if t.left > 0 && !fatal {
            let t = self.sleeping_mut(who, seq);
            (t.due, t.until, t.closed) = (None, None, true);
            return;
        }
        self.play(who).tasks.retain(|t| t.seq != seq);
        self.drop_children(who, seq);
        if result != "Failed" || matches!(self.on_fail(who, t.act, &t.task), Step::Next) {
            self.run(who, t.act, t.parent, t.rest, false);
        }
    }

    pub(crate) fn task_due(&mut self, who: u32, seq: u64) {
        let t = self.sleeping_mut(who, seq);
        (t.due, t.until) = (None, None);
        let (act, timed) = (t.act, !t.late && matches!(t.task.kind.as_str(), "WaitDelay" | "WaitGameTime"));
        self.finish_task(who, seq, if timed { "Completed" } else { "Failed" }, 0.0);
        self.maybe_done(who, act);
    }

    pub(crate) fn input_of(&self, who: u32, act: u64, task: &AbilityTask) -> Option<String> {
        let own = || self.grant(who, self.act(who, act)?.grant)?.input.clone();
        text(task, "InputID").map(str::to_owned).or_else(own)
    }

    /// The host's answer.
    pub(crate) fn complete(&mut self, who: u32, seq: u64, answer: &super::ops::Answer) -> Result<(), &'static str> {
        let t = self.sleeping(who, seq).cloned().ok_or("StaleHandle")?;
        if !self.is_active(who, t.act) || !is_host_answered(&t.task) {
            return Err("StaleHandle");
        }
        if !self.rows[&who].active {
            return Err("Inactive");
        }
        if answer.fail {
            self.finish_task(who, seq, "Failed", answer.value);
        } else if finds_targets(&t.task) {
            let near = |o: &u32| self.distance(who, *o).is_none_or(|d| d <= t.value);
            let found: Vec<u32> =
                answer.targets.iter().copied().filter(|o| self.rows.contains_key(o)).filter(near).collect();
            let count = found.len() as f64;
            let a = self.act_mut(who, t.act);
            if found.is_empty() {
                a.target = None;
            }
            a.targets = found;
            self.finish_task(who, seq, "Completed", count);
        } else {
            self.finish_task(who, seq, "Completed", answer.value);
        }
        self.maybe_done(who, t.act);
        Ok(())
    }

    pub(crate) fn send(&mut self, target: u32, event: super::play::Event) -> Result<(), &'static str> {
        if !self.rows.contains_key(&target) {
            return Err("StaleHandle");
        }
        if !event.magnitude.is_finite() {
            return Err("BadValue");
        }
        if event.instigator != NONE && event.instigator >= self.next_id {
            return Err("StaleHandle");
        }
        self.emit_with(target, format!("GameplayEvent {}", event.tag), vec![event.magnitude]);
        self.notify(target, super::notice::Notice::Event(event));
        Ok(())
    }
}
