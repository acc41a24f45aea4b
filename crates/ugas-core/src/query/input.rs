//! Queries about inputs: which action sets are live, the state of an action, and waiting presses.

use crate::{
    ActionSetId, ActionSetState, AxisValue, ControllerId, InputId, Liveness, MotionId, ReadError, Sim, SimTime,
};

/// The state of an input action of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionView {
    /// Whether the action is live, and in which set.
    pub liveness: Liveness,
    /// How long the input has been held, or `None` if it is not held.
    pub held: Option<SimTime>,
    /// Whether the input is held, but counts as released because the action is not live.
    pub is_muted: bool,
    /// The value of a simulated axis.
    pub value: AxisValue,
}

impl Sim {
    /// Returns all action sets with their states, by id. The states follow from the tags of the controller.
    ///
    /// ```
    /// use ugas_core::{ActionSetState, Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{ActivationTags, Attribute, AttributeSet, InputAction, InputActionSet, InputValue};
    /// let mut on_foot = InputActionSet::new("OnFoot", ["Fire"]);
    /// on_foot.activation_tags.required_tags.push("State.Alive".into());
    /// let rules = Rules::builder()
    ///     .add(AttributeSet::new("Vitals").with(Attribute::new("Mana", 50.0)))
    ///     .add(InputAction::new("Fire", InputValue::Digital))
    ///     .add(on_foot)
    ///     .build()?;
    /// let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// let who = sim.spawn(SpawnSpec::sets([rules.set("Vitals")?]))?;
    /// let (set, alive) = (rules.action_set("OnFoot")?, rules.tag("State.Alive")?);
    /// assert_eq!(sim.action_sets(who)?, [(set, ActionSetState::Requires { tag: alive })]);
    /// assert!(!sim.action(who, rules.input("Fire")?)?.liveness.is_live());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn action_sets(&self, who: ControllerId) -> Result<Vec<(ActionSetId, ActionSetState)>, ReadError> {
        let slot = self.slot(who)?;
        let sets = (0..self.rules().action_sets.len() as u32).map(ActionSetId);
        let sets = sets.filter(|id| self.rules().action_sets.get(id.0).is_some());
        Ok(sets.map(|id| (id, self.view().action_set_state(slot, id))).collect())
    }

    /// Returns the state of an action.
    pub fn action(&self, who: ControllerId, input: InputId) -> Result<ActionView, ReadError> {
        let slot = self.slot(who)?;
        let inputs = self.row(who)?.play().inputs();
        let held = inputs.held.iter().find(|h| h.input == input);
        Ok(ActionView {
            liveness: self.view().liveness(slot, input),
            held: self.held(who, input)?,
            is_muted: held.is_some_and(|h| h.is_muted),
            value: inputs.axis(input),
        })
    }

    /// Returns the inputs of the buffered presses, the oldest first, with the time that each stays in the buffer.
    pub fn buffered_inputs(&self, who: ControllerId) -> Result<Vec<(InputId, SimTime)>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        Ok(row.play().inputs().buffered.iter().map(|b| (b.input, b.until - now)).collect())
    }

    /// Returns the input of the queued press.
    pub fn queued_input(&self, who: ControllerId) -> Result<Option<InputId>, ReadError> {
        Ok(self.row(who)?.play().inputs().queued.map(|q| q.input))
    }

    /// Returns the motions that a press now would find, the best one first.
    pub fn motions(&self, who: ControllerId) -> Result<Vec<MotionId>, ReadError> {
        let slot = self.slot(who)?;
        let view = self.view();
        let motions = (0..self.rules().motions.len() as u32).map(MotionId);
        let mut found: Vec<_> = motions.filter_map(|id| Some((id, view.motion(slot, id)?))).collect();
        found.sort_by(|(a, found_a), (b, found_b)| view.motion_order(*a, *found_a, *b, *found_b));
        Ok(found.into_iter().map(|(id, _)| id).collect())
    }

    /// Returns the latest directions of an action that motions read, the oldest first, with their age. A direction is the
    /// key of a numeric keypad. Directions that were reached more than `within` ago are left out.
    pub fn directions(
        &self,
        who: ControllerId,
        action: InputId,
        within: SimTime,
    ) -> Result<Vec<(u8, SimTime)>, ReadError> {
        let row = self.row(who)?;
        let now = row.clock.local(self.now());
        let changes = row.play().inputs().directions.iter().filter(|c| c.input == action && c.direction != 0);
        Ok(changes.map(|c| (c.direction, now - c.at)).filter(|&(_, age)| age <= within).collect())
    }
}
