//! Health, damage, buffs and cooldowns defined in code, without any file: enough for a game jam. The module uses the
//! same runtime as a full game, so a jam game can grow into a full game.
//!
//! ```
//! use ugas::simple::Game;
//!
//! let mut game = Game::new()
//!     .stat("MaxHealth", 100.0)
//!     .resource("Health", 100.0, "MaxHealth")
//!     .stat("Attack", 10.0)
//!     .hit("Slash", "Health", -25.0)
//!     .cooldown("Slash", 1.5)
//!     .buff("Rage", "Attack", 0.5, 8.0)
//!     .over_time("Poison", "Health", -5.0, 1.0, 10.0)
//!     .start()?;
//! let (hero, orc) = (game.spawn()?, game.spawn()?);
//! game.act(hero, "Rage", hero)?;
//! game.act(hero, "Slash", orc)?;
//! assert_eq!((game.get(hero, "Attack")?, game.get(orc, "Health")?), (15.0, 75.0));
//! assert!(game.act(hero, "Slash", orc).is_err()); // 1.5 s remaining
//! game.act(hero, "Poison", orc)?;
//! game.pass(10.0);
//! assert_eq!((game.get(hero, "Attack")?, game.get(orc, "Health")?), (10.0, 25.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;
use ugas_core::{
    AttributeId, ControllerId, EffectId, Facts, LoadError, ReadError, Refusal, Rules, Sim, SimConfig, SimTime,
    SpawnSpec, Spec, UnknownName,
};
use ugas_doc::{Attribute, AttributeSet, Category, Effect};

const SET: &str = "Simple";

/// A builder of a game with attributes, actions and cooldowns. [`Game::start`] compiles the game.
pub struct Game {
    set: AttributeSet,
    effects: Vec<Effect>,
    cooldowns: Vec<(String, f64)>,
}

impl Default for Game {
    fn default() -> Game {
        Game::new()
    }
}

impl Game {
    /// Creates an empty game.
    pub fn new() -> Game {
        Game { set: AttributeSet::new(SET), effects: Vec::new(), cooldowns: Vec::new() }
    }

    /// Adds an attribute with a default value. Every actor has the attribute.
    pub fn stat(mut self, name: &str, value: f64) -> Game {
        self.set = self.set.with(Attribute::new(name, value));
        self
    }

    /// Adds an attribute that is clamped between 0 and the attribute `max`.
    pub fn resource(mut self, name: &str, value: f64, max: &str) -> Game {
        self.set = self.set.with(Attribute::new(name, value).category(Category::Resource).min(0.0).max(max));
        self
    }

    /// Adds an action that changes an attribute instantly. A negative amount is damage.
    pub fn hit(mut self, name: &str, attribute: &str, by: f64) -> Game {
        self.effects.push(Effect::instant(name).add(attribute, by));
        self
    }

    /// Adds an action that multiplies an attribute by `1 + share` for a duration of `seconds`. A share of 0.5 is a
    /// bonus of 50 %.
    pub fn buff(mut self, name: &str, attribute: &str, share: f64, seconds: f64) -> Game {
        self.effects.push(Effect::lasting(name, seconds).multiply(attribute, share));
        self
    }

    /// Adds an action that changes an attribute by `by` once every `every` seconds, for a duration of `seconds`.
    pub fn over_time(mut self, name: &str, attribute: &str, by: f64, every: f64, seconds: f64) -> Game {
        self.effects.push(Effect::lasting(name, seconds).every(every).add(attribute, by));
        self
    }

    /// Sets the cooldown of an action in seconds.
    pub fn cooldown(mut self, action: &str, seconds: f64) -> Game {
        self.cooldowns.push((action.to_owned(), seconds));
        self
    }

    /// Adds any other effect as an action.
    pub fn effect(mut self, effect: Effect) -> Game {
        self.effects.push(effect);
        self
    }

    /// Compiles the game and starts it. If the game has errors, returns all of them.
    pub fn start(self) -> Result<Running, LoadError> {
        let mut builder = Rules::builder().add(self.set);
        for effect in self.effects {
            builder = builder.add(effect);
        }
        for (action, seconds) in &self.cooldowns {
            builder = builder.add(Effect::lasting(cooldown_of(action), *seconds));
        }
        let rules = builder.build()?;
        let sim = Sim::new(rules.clone(), SimConfig::default());
        Ok(Running { rules, sim, facts: Facts::default() })
    }
}

fn cooldown_of(action: &str) -> String {
    format!("{action} cooldown")
}

/// The reason why a call on a [`Running`] game failed.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionError {
    /// No attribute or action has this name.
    Unknown(UnknownName),
    /// The action is on cooldown.
    Cooldown {
        /// The remaining time in seconds.
        left: f64,
    },
    /// The sim refused the call. The refusal names the failed check.
    Refused(Refusal),
}

impl std::fmt::Display for ActionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ActionError::Unknown(what) => write!(f, "{what}"),
            ActionError::Cooldown { left } => write!(f, "ready in {left} s"),
            ActionError::Refused(r) => write!(f, "{r}"),
        }
    }
}
impl std::error::Error for ActionError {}
impl From<UnknownName> for ActionError {
    fn from(unknown: UnknownName) -> ActionError {
        ActionError::Unknown(unknown)
    }
}
impl From<ReadError> for ActionError {
    fn from(error: ReadError) -> ActionError {
        ActionError::Refused(error.into())
    }
}
impl From<Refusal> for ActionError {
    fn from(r: Refusal) -> ActionError {
        ActionError::Refused(r)
    }
}

/// A running game.
pub struct Running {
    rules: Arc<Rules>,
    sim: Sim,
    facts: Facts,
}

impl Running {
    fn attribute(&self, name: &str) -> Result<AttributeId, ActionError> {
        Ok(self.rules.attribute(name)?)
    }

    fn action(&self, name: &str) -> Result<EffectId, ActionError> {
        Ok(self.rules.effect(name)?)
    }

    /// Spawns an actor.
    pub fn spawn(&mut self) -> Result<ControllerId, ActionError> {
        let set = self.rules.set(SET)?;
        Ok(self.sim.spawn(SpawnSpec::sets([set]))?)
    }

    /// Applies an action of `who` to `target`. Returns [`ActionError::Cooldown`] if the action is on cooldown.
    pub fn act(&mut self, who: ControllerId, action: &str, target: ControllerId) -> Result<(), ActionError> {
        let effect = self.action(action)?;
        let left = self.cooldown_left(who, action)?;
        if left > 0.0 {
            return Err(ActionError::Cooldown { left });
        }
        self.sim.apply(&Spec::new(effect, target).from(who))?;
        if let Some(cooldown) = self.rules.find_effect(&cooldown_of(action)) {
            self.sim.apply(&Spec::new(cooldown, who).from(who))?;
        }
        Ok(())
    }

    /// Returns the remaining cooldown of an action of `who` in seconds, or 0 if the action is ready.
    pub fn cooldown_left(&self, who: ControllerId, action: &str) -> Result<f64, ActionError> {
        let Some(cooldown) = self.rules.find_effect(&cooldown_of(action)) else {
            return Ok(0.0);
        };
        let active = self.sim.effects(who)?;
        let left = active.iter().filter(|e| e.effect == cooldown).filter_map(|e| e.remaining).max();
        Ok(left.map_or(0.0, SimTime::as_seconds))
    }

    /// Returns the current value of an attribute.
    pub fn get(&self, who: ControllerId, name: &str) -> Result<f64, ActionError> {
        Ok(self.sim.get(who, self.attribute(name)?)?)
    }

    /// Explains the current value of an attribute in one line.
    pub fn explain(&self, who: ControllerId, name: &str) -> Result<String, ActionError> {
        Ok(self.sim.explain(who, self.attribute(name)?)?.short())
    }

    /// Advances time by a number of seconds. After the call, [`Running::facts`] returns the facts that were emitted
    /// since the previous call of `pass`.
    pub fn pass(&mut self, seconds: f64) {
        let until = self.sim.now() + SimTime::seconds(seconds.max(0.0));
        self.sim.advance_to(until);
        self.sim.take_facts(&mut self.facts);
    }

    /// Returns the facts that were emitted between the last two calls of [`Running::pass`], including those of the last
    /// call. Before the first call, the list is empty. After the first call, it contains all facts since the start of
    /// the game.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the underlying sim.
    pub fn sim(&mut self) -> &mut Sim {
        &mut self.sim
    }
}
