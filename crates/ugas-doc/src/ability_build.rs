//! Abilities made in code: one short call per authored field.

use crate::{
    Ability, AbilityTask, ActivationGroup, AsyncValidation, Cast, Charges, CommitPolicy, GlobalCooldown, GroupPolicy,
    NetExecution, Time, Trigger, Value,
};

impl AbilityTask {
    /// A task of this type without parameters.
    ///
    /// ```
    /// use ugas_doc::{AbilityTask, Value};
    /// let wait = AbilityTask::new("WaitDelay").param("Duration", 1.0);
    /// assert_eq!(wait.params["Duration"], Value::Number(1.0));
    /// ```
    pub fn new(kind: impl Into<String>) -> AbilityTask {
        AbilityTask { kind: kind.into(), ..AbilityTask::default() }
    }

    /// Sets a parameter.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> AbilityTask {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Sets a value by the caller's key: an entry of the parameter `SetByCaller`.
    pub fn set_by_caller(mut self, key: impl Into<String>, value: impl Into<Value>) -> AbilityTask {
        let values = self.params.entry("SetByCaller".to_owned()).or_default();
        if !matches!(values, Value::Map(_)) {
            *values = Value::Map(Default::default());
        }
        if let Value::Map(map) = values {
            map.insert(key.into(), value.into());
        }
        self
    }

    /// Seconds between ticks.
    pub fn every(mut self, seconds: f64) -> AbilityTask {
        self.tick_interval = Some(seconds);
        self
    }

    /// Who ticks first when the budget is short.
    pub fn priority(mut self, priority: i32) -> AbilityTask {
        self.priority = Some(priority);
        self
    }

    /// Adds a task inside a composite.
    pub fn task(mut self, task: AbilityTask) -> AbilityTask {
        self.tasks.push(task);
        self
    }

    /// Several tasks at once; it is over when all are.
    ///
    /// ```
    /// use ugas_doc::AbilityTask;
    /// let both = AbilityTask::parallel([AbilityTask::new("WaitDelay"), AbilityTask::new("WaitInputRelease")]);
    /// assert_eq!((both.kind.as_str(), both.tasks.len()), ("Parallel", 2));
    /// ```
    pub fn parallel(tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { tasks: tasks.into_iter().collect(), ..AbilityTask::new("Parallel") }
    }

    /// Several tasks at once; the first to complete wins, the rest are cancelled.
    pub fn race(tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { tasks: tasks.into_iter().collect(), ..AbilityTask::new("Race") }
    }

    /// Several tasks one after the other, as one task of a composite.
    pub fn sequence(tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { tasks: tasks.into_iter().collect(), ..AbilityTask::new("Sequence") }
    }

    /// Tasks that run `count` times.
    pub fn repeat(count: u32, tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { count: Some(count), tasks: tasks.into_iter().collect(), ..AbilityTask::new("Repeat") }
    }

    /// A branch on an expression; add [`AbilityTask::then`] and [`AbilityTask::otherwise`].
    pub fn when(condition: impl Into<String>) -> AbilityTask {
        AbilityTask { when: Some(condition.into()), ..AbilityTask::new("Branch") }
    }

    /// A branch on a tag query; add [`AbilityTask::then`] and [`AbilityTask::otherwise`].
    pub fn query(query: impl Into<String>) -> AbilityTask {
        AbilityTask { query: Some(query.into()), ..AbilityTask::new("Branch") }
    }

    /// Adds a task to run if a branch holds.
    pub fn then(mut self, task: AbilityTask) -> AbilityTask {
        self.then.push(task);
        self
    }

    /// Adds a task to run if a branch does not hold.
    pub fn otherwise(mut self, task: AbilityTask) -> AbilityTask {
        self.r#else.push(task);
        self
    }
}

impl Trigger {
    /// A gameplay event.
    pub fn event(tag: impl Into<String>) -> Trigger {
        Trigger { event: Some(tag.into()), ..Trigger::default() }
    }
    /// A tag that appears.
    pub fn tag_added(tag: impl Into<String>) -> Trigger {
        Trigger { tag_added: Some(tag.into()), ..Trigger::default() }
    }
    /// A tag while it is present.
    pub fn tag_present(tag: impl Into<String>) -> Trigger {
        Trigger { tag_present: Some(tag.into()), ..Trigger::default() }
    }
    /// An attribute that falls below a value.
    pub fn below(attribute: impl Into<String>, value: f64) -> Trigger {
        Trigger { attribute: Some(attribute.into()), below: Some(value), ..Trigger::default() }
    }
    /// An attribute that rises above a value.
    pub fn above(attribute: impl Into<String>, value: f64) -> Trigger {
        Trigger { attribute: Some(attribute.into()), above: Some(value), ..Trigger::default() }
    }
    /// An effect that is applied.
    pub fn effect_applied(effect: impl Into<String>) -> Trigger {
        Trigger { effect_applied: Some(effect.into()), ..Trigger::default() }
    }
    /// The death of the owner.
    pub fn died() -> Trigger {
        Trigger { died: true, ..Trigger::default() }
    }
}

/// Adds to a list of tags.
macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident => $($field:ident).+;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, tag: impl Into<String>) -> Ability {
            self.$($field).+.push(tag.into());
            self
        }
    )*};
}
/// Switches a flag on.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident => $field:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self) -> Ability {
            self.$field = true;
            self
        }
    )*};
}
/// Adds to a list of tasks.
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident => $field:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, task: AbilityTask) -> Ability {
            self.$field.push(task);
            self
        }
    )*};
}

impl Ability {
    /// An ability without cost, cooldown or tasks.
    ///
    /// ```
    /// use ugas_doc::{Ability, AbilityTask};
    /// let fireball = Ability::new("GA_Fireball")
    ///     .tag("Ability.Type.Spell.Fire")
    ///     .blocked("State.Silenced")
    ///     .owned("State.Casting")
    ///     .cost("GE_Cost")
    ///     .cooldown("GE_Cooldown")
    ///     .gcd(1.5)
    ///     .task(AbilityTask::new("WaitDelay").param("Duration", 1.0))
    ///     .task(AbilityTask::new("ApplyEffectToTarget").param("EffectClass", "GE_Fire"));
    /// assert_eq!(fireball.tasks.len(), 2);
    /// ```
    pub fn new(name: impl Into<String>) -> Ability {
        Ability { name: name.into(), ..Ability::default() }
    }

    tags! {
        /// What the ability is.
        tag => tags.ability_tags;
        /// An owner's tag that prevents it (`BlockedByTags`).
        blocked_by => tags.blocked_by_tags;
        /// Abilities with this tag cannot start while it is active.
        blocks => tags.block_abilities_with_tags;
        /// Abilities with this tag are cancelled by it; the owner's tag cancels it.
        cancels => tags.cancel_abilities_with_tags;
        /// The owner must have this.
        requires => tags.activation_required_tags;
        /// The owner must not have this.
        blocked => tags.activation_blocked_tags;
        /// Granted to the owner while active.
        owned => tags.activation_owned_tags;
        /// The source must have this.
        source_requires => source_required_tags;
        /// The target must have this.
        target_requires => target_required_tags;
        /// The target must not have this.
        target_blocked => target_blocked_tags;
        /// A value that modifiers do not touch.
        fixed => static_values;
    }
    flags! {
        /// Several may run at once.
        multiple => allow_multiple_instances;
        /// Activating again restarts it.
        retriggered => retrigger;
        /// A refused press is tried again while held.
        held => held_activation;
        /// It needs an avatar.
        needs_avatar => avatar_dependent;
        /// It is active from grant to revoke.
        passively => passive;
        /// The dead may use it.
        while_dead => castable_while_dead;
        /// It is activated again whenever castable while held.
        automatically => automatic;
    }
    lists! {
        /// Adds a task.
        task => tasks;
        /// Adds a task of each cast tick.
        on_tick => on_tick;
        /// Adds a task of the cancellation.
        on_cancel => on_cancel;
        /// Adds a task of the interruption.
        on_interrupt => on_interrupt;
    }

    /// Its cost effect.
    pub fn cost(mut self, effect: impl Into<String>) -> Ability {
        self.cost = Some(effect.into());
        self
    }
    /// Its cooldown effect.
    pub fn cooldown(mut self, effect: impl Into<String>) -> Ability {
        self.cooldown = Some(effect.into());
        self
    }
    /// It commits by a CommitAbility task.
    pub fn manual(mut self) -> Ability {
        self.commit_policy = CommitPolicy::Manual;
        self
    }
    /// A tag query that must hold.
    pub fn query(mut self, query: impl Into<String>) -> Ability {
        self.activation_query = Some(query.into());
        self
    }
    /// An expression that must hold.
    pub fn condition(mut self, condition: impl Into<String>) -> Ability {
        self.activation_condition = Some(condition.into());
        self
    }
    /// A host hook that must agree.
    pub fn hook(mut self, name: impl Into<String>) -> Ability {
        self.can_activate = Some(name.into());
        self
    }
    /// The range of a targeted activation.
    pub fn range(mut self, range: f64) -> Ability {
        self.max_range = Some(range);
        self
    }
    /// Its activation group.
    pub fn group(mut self, name: impl Into<String>, policy: GroupPolicy) -> Ability {
        self.activation_group = Some(ActivationGroup { name: name.into(), policy });
        self
    }
    /// What activates it.
    pub fn trigger(mut self, trigger: Trigger) -> Ability {
        self.triggers.push(trigger);
        self
    }
    /// The default global cooldown.
    pub fn gcd(mut self, seconds: f64) -> Ability {
        self.global_cooldown = Some(GlobalCooldown { group: None, length: seconds });
        self
    }
    /// A global cooldown of a group.
    pub fn gcd_of(mut self, group: impl Into<String>, seconds: f64) -> Ability {
        self.global_cooldown = Some(GlobalCooldown { group: Some(group.into()), length: seconds });
        self
    }
    /// Charges that come back one by one, each after this many seconds.
    pub fn charges(mut self, max: u32, cooldown: f64) -> Ability {
        self.charges = Some(Charges { max, cooldown, ..Charges::default() });
        self
    }
    /// A cast of this many seconds with this many ticks.
    pub fn cast(mut self, seconds: f64, ticks: u32) -> Ability {
        self.cast = Some(Cast { length: seconds, ticks: Some(ticks), ..Cast::default() });
        self
    }
    /// A cast in every detail.
    pub fn cast_as(mut self, cast: Cast) -> Ability {
        self.cast = Some(cast);
        self
    }
    /// Validation that answers later.
    pub fn validated(mut self, kind: impl Into<String>, timeout_ms: Option<u32>) -> Ability {
        let kind = Some(kind.into());
        self.async_validation = Some(AsyncValidation { required: true, kind, timeout_ms, predicted: false });
        self
    }
    /// Where it runs first.
    pub fn net(mut self, execution: NetExecution) -> Ability {
        self.net_execution = execution;
        self
    }
}

impl From<Time> for Value {
    fn from(time: Time) -> Value {
        match time {
            Time::Seconds(s) => Value::Number(s),
            Time::Frames(n) => Value::Text(format!("{n}f")),
        }
    }
}
