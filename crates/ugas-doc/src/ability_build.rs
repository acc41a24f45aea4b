//! Builder methods for abilities, one per field.

use crate::{
    Ability, AbilityTask, ActivationGroup, AsyncValidation, Cast, Charges, CommitPolicy, GlobalCooldown, GroupPolicy,
    NetExecution, Time, Trigger, Value,
};

impl AbilityTask {
    /// Creates a task of this type without parameters.
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

    /// Sets an entry of the parameter `SetByCaller`.
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

    /// Adds an entry to the parameter `ClientEffects` of a waiting task: while the task waits, the owning client may
    /// apply the effect, in one activation `total` times and to one target `per_target` times.
    ///
    /// ```
    /// use ugas_doc::{AbilityTask, Value};
    /// let wait = AbilityTask::new("WaitDelay").param("Duration", 0.5).client_effect("GE_Hit", 3, 1);
    /// assert!(matches!(&wait.params["ClientEffects"], Value::List(list) if list.len() == 1));
    /// ```
    pub fn client_effect(mut self, effect: impl Into<String>, total: u32, per_target: u32) -> AbilityTask {
        let list = self.params.entry("ClientEffects".to_owned()).or_default();
        if !matches!(list, Value::List(_)) {
            *list = Value::List(Vec::new());
        }
        if let Value::List(list) = list {
            let number = |n: u32| Value::Number(f64::from(n));
            let budget = [
                ("EffectClass", Value::Text(effect.into())),
                ("Total", number(total)),
                ("PerTarget", number(per_target)),
            ];
            list.push(Value::Map(budget.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()));
        }
        self
    }

    /// Sets the time between ticks, in seconds.
    pub fn every(mut self, seconds: f64) -> AbilityTask {
        self.tick_interval = Some(seconds);
        self
    }

    /// Sets the tick priority.
    pub fn priority(mut self, priority: i32) -> AbilityTask {
        self.priority = Some(priority);
        self
    }

    /// Adds an inner task.
    pub fn task(mut self, task: AbilityTask) -> AbilityTask {
        self.tasks.push(task);
        self
    }

    /// Creates a task that runs these tasks at the same time and completes when all of them have completed.
    ///
    /// ```
    /// use ugas_doc::AbilityTask;
    /// let both = AbilityTask::parallel([AbilityTask::new("WaitDelay"), AbilityTask::new("WaitInputRelease")]);
    /// assert_eq!((both.kind.as_str(), both.tasks.len()), ("Parallel", 2));
    /// ```
    pub fn parallel(tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { tasks: tasks.into_iter().collect(), ..AbilityTask::new("Parallel") }
    }

    /// Creates a task that runs these tasks at the same time; the first task that completes ends the others.
    pub fn race(tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { tasks: tasks.into_iter().collect(), ..AbilityTask::new("Race") }
    }

    /// Creates a task that runs these tasks one after the other.
    pub fn sequence(tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { tasks: tasks.into_iter().collect(), ..AbilityTask::new("Sequence") }
    }

    /// Creates a task that runs these tasks one after the other, `count` times.
    pub fn repeat(count: u32, tasks: impl IntoIterator<Item = AbilityTask>) -> AbilityTask {
        AbilityTask { count: Some(count), tasks: tasks.into_iter().collect(), ..AbilityTask::new("Repeat") }
    }

    /// Creates a branch on an expression. Add the tasks with [`AbilityTask::then`] and [`AbilityTask::otherwise`].
    pub fn when(condition: impl Into<String>) -> AbilityTask {
        AbilityTask { when: Some(condition.into()), ..AbilityTask::new("Branch") }
    }

    /// Creates a branch on a tag query. Add the tasks with [`AbilityTask::then`] and [`AbilityTask::otherwise`].
    pub fn query(query: impl Into<String>) -> AbilityTask {
        AbilityTask { query: Some(query.into()), ..AbilityTask::new("Branch") }
    }

    /// Adds a task that runs if the condition is true.
    pub fn then(mut self, task: AbilityTask) -> AbilityTask {
        self.then.push(task);
        self
    }

    /// Adds a task that runs if the condition is false.
    pub fn otherwise(mut self, task: AbilityTask) -> AbilityTask {
        self.r#else.push(task);
        self
    }
}

impl Trigger {
    /// Creates a trigger that activates the ability when the owner receives a gameplay event.
    pub fn event(tag: impl Into<String>) -> Trigger {
        Trigger { event: Some(tag.into()), ..Trigger::default() }
    }
    /// Creates a trigger that activates the ability when the owner gains a tag.
    pub fn tag_added(tag: impl Into<String>) -> Trigger {
        Trigger { tag_added: Some(tag.into()), ..Trigger::default() }
    }
    /// Creates a trigger that keeps the ability active while the owner has a tag.
    pub fn tag_present(tag: impl Into<String>) -> Trigger {
        Trigger { tag_present: Some(tag.into()), ..Trigger::default() }
    }
    /// Creates a trigger that activates the ability when an attribute of the owner falls below a value.
    pub fn below(attribute: impl Into<String>, value: f64) -> Trigger {
        Trigger { attribute: Some(attribute.into()), below: Some(value), ..Trigger::default() }
    }
    /// Creates a trigger that activates the ability when an attribute of the owner rises above a value.
    pub fn above(attribute: impl Into<String>, value: f64) -> Trigger {
        Trigger { attribute: Some(attribute.into()), above: Some(value), ..Trigger::default() }
    }
    /// Creates a trigger that activates the ability when an effect is applied to the owner.
    pub fn effect_applied(effect: impl Into<String>) -> Trigger {
        Trigger { effect_applied: Some(effect.into()), ..Trigger::default() }
    }
    /// Creates a trigger that activates the ability when the owner dies.
    pub fn died() -> Trigger {
        Trigger { died: true, ..Trigger::default() }
    }
}

/// Builders that add to a tag list.
macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident => $($field:ident).+;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, tag: impl Into<String>) -> Ability {
            self.$($field).+.push(tag.into());
            self
        }
    )*};
}
/// Builders that set a flag.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident => $field:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self) -> Ability {
            self.$field = true;
            self
        }
    )*};
}
/// Builders that add to a task list.
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
    /// Creates an ability without cost, cooldown or tasks.
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
        /// Adds a tag that describes the ability (`AbilityTags`).
        tag => tags.ability_tags;
        /// Adds a status tag of the owner that blocks the activation (`BlockedByTags`).
        blocked_by => tags.blocked_by_tags;
        /// Blocks other abilities with this tag while this ability is active (`BlockAbilitiesWithTags`).
        blocks => tags.block_abilities_with_tags;
        /// Adds a tag to `CancelAbilitiesWithTags`, which combines [`Ability::cancelled_by`] and
        /// [`Ability::cancels_others`].
        cancels => tags.cancel_abilities_with_tags;
        /// Cancels the ability when its owner gains this tag (`CancelledByTags`).
        cancelled_by => tags.cancelled_by_tags;
        /// Cancels the owner's other abilities with this tag when the ability is activated
        /// (`CancelOtherAbilitiesWithTags`).
        cancels_others => tags.cancel_other_abilities_with_tags;
        /// Adds a tag that the owner must have (`ActivationRequiredTags`).
        requires => tags.activation_required_tags;
        /// Adds a tag that the owner must not have (`ActivationBlockedTags`).
        blocked => tags.activation_blocked_tags;
        /// Adds a tag that the owner has while the ability is active (`ActivationOwnedTags`).
        owned => tags.activation_owned_tags;
        /// Adds a tag that the source must have.
        source_requires => source_required_tags;
        /// Adds a tag that the target must have.
        target_requires => target_required_tags;
        /// Adds a tag that the target must not have.
        target_blocked => target_blocked_tags;
        /// Adds a value that combat rules do not change (`Static`).
        fixed => static_values;
    }
    flags! {
        /// Allows several activations at the same time.
        multiple => allow_multiple_instances;
        /// Restarts the ability when it is activated again.
        retriggered => retrigger;
        /// Tries a refused activation again while the input is held.
        held => held_activation;
        /// Requires the owner to have an avatar.
        needs_avatar => avatar_dependent;
        /// Activates the ability when it is granted.
        passively => passive;
        /// Allows the activation while the owner is dead.
        while_dead => castable_while_dead;
    }
    lists! {
        /// Adds a task.
        task => tasks;
        /// Adds a task that runs at each cast tick.
        on_tick => on_tick;
        /// Adds a task that runs on cancellation.
        on_cancel => on_cancel;
        /// Adds a task that runs on interruption.
        on_interrupt => on_interrupt;
    }

    /// Sets the cost effect.
    pub fn cost(mut self, effect: impl Into<String>) -> Ability {
        self.cost = Some(effect.into());
        self
    }
    /// Sets the cooldown effect.
    pub fn cooldown(mut self, effect: impl Into<String>) -> Ability {
        self.cooldown = Some(effect.into());
        self
    }
    /// Makes the ability commit when it runs a `CommitAbility` task, instead of before its first task.
    pub fn manual(mut self) -> Ability {
        self.commit_policy = CommitPolicy::Manual;
        self
    }
    /// Sets the tag query that must be true at activation.
    pub fn query(mut self, query: impl Into<String>) -> Ability {
        self.activation_query = Some(query.into());
        self
    }
    /// Sets the expression that must be true at activation.
    pub fn condition(mut self, condition: impl Into<String>) -> Ability {
        self.activation_condition = Some(condition.into());
        self
    }
    /// Sets the name of the host function that must return true at activation.
    pub fn hook(mut self, name: impl Into<String>) -> Ability {
        self.can_activate = Some(name.into());
        self
    }
    /// Sets the maximum distance to the target at activation.
    pub fn range(mut self, range: f64) -> Ability {
        self.max_range = Some(range);
        self
    }
    /// Sets the activation group.
    pub fn group(mut self, name: impl Into<String>, policy: GroupPolicy) -> Ability {
        self.activation_group = Some(ActivationGroup { name: name.into(), policy });
        self
    }
    /// Adds a trigger.
    pub fn trigger(mut self, trigger: Trigger) -> Ability {
        self.triggers.push(trigger);
        self
    }
    /// Sets the global cooldown of the default group.
    pub fn gcd(mut self, seconds: f64) -> Ability {
        self.global_cooldown = Some(GlobalCooldown { group: None, length: seconds });
        self
    }
    /// Sets the global cooldown of a group.
    pub fn gcd_of(mut self, group: impl Into<String>, seconds: f64) -> Ability {
        self.global_cooldown = Some(GlobalCooldown { group: Some(group.into()), length: seconds });
        self
    }
    /// Sets the maximum number of charges and the time in seconds after which one charge is restored.
    pub fn charges(mut self, max: u32, cooldown: f64) -> Ability {
        self.charges = Some(Charges { max, cooldown, ..Charges::default() });
        self
    }
    /// Sets a cast with a length in seconds and a number of ticks.
    pub fn cast(mut self, seconds: f64, ticks: u32) -> Ability {
        self.cast = Some(Cast { length: seconds, ticks: Some(ticks), ..Cast::default() });
        self
    }
    /// Sets the cast with all its options.
    pub fn cast_as(mut self, cast: Cast) -> Ability {
        self.cast = Some(cast);
        self
    }
    /// Makes the activation wait for a validation by the host.
    pub fn validated(mut self, kind: impl Into<String>, timeout_ms: Option<u32>) -> Ability {
        let kind = Some(kind.into());
        self.async_validation = Some(AsyncValidation { required: true, kind, timeout_ms, predicted: false });
        self
    }
    /// Sets where the ability runs.
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
