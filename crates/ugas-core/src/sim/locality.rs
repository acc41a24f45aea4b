//! Which controllers this machine controls locally, and where their capabilities run.

use super::Sim;
use crate::{ControllerId, Home, ReadError, Refusal};
use ugas_doc::Side;

impl Sim {
    /// Sets whether this machine controls a controller locally: whether its player plays the controller.
    ///
    /// The machine that controls a controller locally runs the `OnPredicted...` task lists of its abilities. On a
    /// listen server they run before the lists of the server. Locality also decides where the capabilities of the
    /// controller run ([`Sim::home_of`]).
    ///
    /// Unless this function was called, a standalone sim controls all controllers locally, an authoritative sim
    /// controls none, and the sim of a client controls the controllers that the client owns. The setting belongs to
    /// this sim: it is not hashed, saved or replicated, and it ends when the controller leaves the sim.
    ///
    /// Returns [`Refusal::StaleHandle`] if the controller does not exist, and [`Refusal::Authority`] if a client claims
    /// the proxy of a remote actor.
    ///
    /// ```
    /// use ugas_core::{Role, Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet};
    /// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
    /// let mut server = Sim::new(rules.clone(), SimConfig { role: Role::Authority, ..Default::default() });
    /// let hero = server.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
    /// assert!(!server.is_local(hero)?);
    /// // The player who hosts the game plays this controller.
    /// server.set_local(hero, true)?;
    /// assert!(server.is_local(hero)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_local(&mut self, who: ControllerId, is_local: bool) -> Result<(), Refusal> {
        let mut flow = self.flow();
        flow.start_locality(who);
        let set = flow.set_local(who, is_local);
        flow.react();
        set
    }

    /// Returns whether this machine controls a controller locally; see [`Sim::set_local`].
    pub fn is_local(&self, who: ControllerId) -> Result<bool, ReadError> {
        self.row(who)?;
        Ok(self.view().is_local(who))
    }

    /// Returns where this machine runs a capability of a controller.
    ///
    /// | Side | standalone | server | server with a screen | own controller of a client | remote actor |
    /// |---|---|---|---|---|---|
    /// | `Always` | row | row | row | row | local |
    /// | `AuthorityOnly` | row | row | row | replicated | nowhere |
    /// | `AuthorityAndLocalControlled` | row | row | row | row | nowhere |
    /// | `LocalControlledOnly` | row, if local | nowhere | local, if local | local | nowhere |
    /// | `OwnerLocalControlledOnly` | row, if the owner is local | nowhere | local, if the owner is local | the same | the same |
    /// | `AllClients` | row, with a screen | nowhere | local | local | local |
    ///
    /// The owner is the outermost one: from the owner actor of the controller to the controller that has this actor as
    /// its avatar, and so on, at most 16 steps. If an owner has no controller, or a controller was already reached, the
    /// last controller reached is the outermost owner.
    ///
    /// ```
    /// use ugas_core::{ActorId, Home, Role, Rules, Sim, SimConfig, SpawnSpec};
    /// use ugas_doc::{Attribute, AttributeSet, Side};
    /// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
    /// let mut server = Sim::new(rules.clone(), SimConfig { role: Role::Authority, ..Default::default() });
    /// let vitals = rules.set("Vitals").unwrap();
    /// let (body, sword) = (ActorId(1), ActorId(2));
    /// let player = server.spawn(SpawnSpec { avatar: Some(body), ..SpawnSpec::sets([vitals]) })?;
    /// let weapon =
    ///     server.spawn(SpawnSpec { owner: Some(body), avatar: Some(sword), ..SpawnSpec::sets([vitals]) })?;
    /// assert_eq!(server.home_of(weapon, Side::OwnerLocalControlledOnly)?, Home::Nowhere);
    /// server.set_local(player, true)?;
    /// assert_eq!(server.home_of(weapon, Side::OwnerLocalControlledOnly)?, Home::Local);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn home_of(&self, who: ControllerId, side: Side) -> Result<Home, ReadError> {
        self.row(who)?;
        Ok(self.view().home_of(who, side))
    }
}
