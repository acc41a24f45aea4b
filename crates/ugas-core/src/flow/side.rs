//! Sides: which controllers this machine controls locally, and where the capabilities of a controller run.
//!
//! A row is hashed and compared between the server and the owning client. What runs on one machine only is therefore
//! not state of the row; it belongs to the machine's local runner. A standalone sim has no other machine, so everything
//! that runs there is state of the row.

use super::{Flow, View, server_op};
use crate::rng::fold;
use crate::{ControllerId, Refusal, Role};
use ugas_doc::Side;

/// The maximum number of steps from a controller to its outermost owner.
const MAX_OWNER_STEPS: usize = 16;

/// Where a machine runs a capability of a controller; see [`Sim::home_of`](crate::Sim::home_of).
///
/// ```
/// use ugas_core::{Home, Rules, Sim, SimConfig, SpawnSpec};
/// use ugas_doc::{Attribute, AttributeSet, Side};
/// let rules = Rules::builder().add(AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0))).build()?;
/// let mut sim = Sim::new(rules.clone(), SimConfig::default());
/// let hero = sim.spawn(SpawnSpec::sets([rules.set("Vitals").unwrap()]))?;
/// assert_eq!(sim.home_of(hero, Side::LocalControlledOnly)?, Home::Row);
/// sim.set_local(hero, false)?;
/// assert_eq!(sim.home_of(hero, Side::LocalControlledOnly)?, Home::Nowhere);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In the sim: the capability is state of the controller. On the owning client it is predicted.
    Row,
    /// In the sim, but only as received from the server: the client does not evaluate the capability.
    Replicated,
    /// Outside the sim, in the local runner of this machine. The capability is not state of the controller.
    Local,
    /// The capability does not run on this machine.
    Nowhere,
}

/// Which controllers this machine controls locally, where a host set it. Sorted by controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locality {
    set: Vec<(ControllerId, bool)>,
}

impl Locality {
    /// Returns what the host set for a controller.
    fn get(&self, who: ControllerId) -> Option<bool> {
        let at = self.set.binary_search_by_key(&who, |entry| entry.0).ok()?;
        Some(self.set[at].1)
    }

    fn set(&mut self, who: ControllerId, is_local: bool) {
        match self.set.binary_search_by_key(&who, |entry| entry.0) {
            Ok(at) => self.set[at].1 = is_local,
            Err(at) => self.set.insert(at, (who, is_local)),
        }
    }

    pub(crate) fn remove(&mut self, who: ControllerId) {
        if let Ok(at) = self.set.binary_search_by_key(&who, |entry| entry.0) {
            self.set.remove(at);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.set.clear();
    }
}

impl View<'_> {
    /// Returns whether this machine controls a controller locally. Unless the host set it, a standalone sim controls
    /// all controllers, an authoritative sim none, and a client those that are no proxies of remote actors.
    pub(crate) fn is_local(&self, who: ControllerId) -> bool {
        if let Some(was_local) = self.replay.and_then(|replay| replay.was_local(who)) {
            return was_local;
        }
        self.st.locality.get(who).unwrap_or_else(|| match self.role {
            Role::Standalone => true,
            Role::Authority => false,
            Role::Client => !self.ix.hidden.is_proxy(who),
        })
    }

    /// Returns where this machine runs a capability of a controller.
    pub(crate) fn home_of(&self, who: ControllerId, side: Side) -> Home {
        let local_if = |runs: bool| if runs { Home::Local } else { Home::Nowhere };
        let row_if = |runs: bool| if runs { Home::Row } else { Home::Nowhere };
        let recorded = || self.replay.and_then(|replay| replay.was_owner_local(who, self.st.now));
        let is_outermost_local = || recorded().unwrap_or_else(|| self.is_local(self.outermost_owner(who)));
        let is_proxy = self.role == Role::Client && self.ix.hidden.is_proxy(who);
        match (side, self.role) {
            (Side::Always, Role::Client) if is_proxy => Home::Local,
            (Side::AuthorityOnly | Side::AuthorityAndLocalControlled, Role::Client) if is_proxy => Home::Nowhere,
            (Side::AuthorityOnly, Role::Client) => Home::Replicated,
            (Side::Always | Side::AuthorityOnly | Side::AuthorityAndLocalControlled, _) => Home::Row,
            (Side::LocalControlledOnly, Role::Standalone) => row_if(self.is_local(who)),
            (Side::LocalControlledOnly, Role::Authority) => local_if(self.screen && self.is_local(who)),
            (Side::LocalControlledOnly, Role::Client) => local_if(!is_proxy && self.is_local(who)),
            (Side::OwnerLocalControlledOnly, Role::Standalone) => row_if(is_outermost_local()),
            (Side::OwnerLocalControlledOnly, Role::Authority) => local_if(self.screen && is_outermost_local()),
            (Side::OwnerLocalControlledOnly, Role::Client) => local_if(is_outermost_local()),
            (Side::AllClients, Role::Standalone) => row_if(self.screen),
            (Side::AllClients, Role::Authority) => local_if(self.screen),
            (Side::AllClients, Role::Client) => Home::Local,
        }
    }

    /// Returns the outermost owner of a controller. Each step goes from the owner actor to the controller that has this
    /// actor as its avatar. The search ends at a controller that owns itself or whose owner has no controller, before a
    /// controller that was already reached, and after [`MAX_OWNER_STEPS`] steps.
    pub(crate) fn outermost_owner(&self, who: ControllerId) -> ControllerId {
        let mut reached = [ControllerId::NONE; MAX_OWNER_STEPS];
        let mut last = who;
        for steps in 0..MAX_OWNER_STEPS {
            reached[steps] = last;
            let Some(row) = self.st.controllers.get(last) else { break };
            let owner = row.owner.some().filter(|&owner| owner != row.avatar());
            let next = owner.and_then(|owner| self.st.controllers.with_avatar(owner, last));
            match next {
                Some(next) if !reached[..=steps].contains(&next) => last = next,
                Some(_) | None => break,
            }
        }
        last
    }
}

impl Flow<'_> {
    /// Makes a change of locality the cause of the following changes. The id of the op is derived from the controller
    /// and the time, because locality is not part of the state that the number of ops belongs to.
    pub(crate) fn start_locality(&mut self, who: ControllerId) {
        let id = fold(fold(29, who.0 as u64), self.st.now.0 as u64);
        self.start(server_op((id & !(1 << 47)) | 1 << 46), who);
    }

    /// Evaluates the sides of all capabilities again after the role of the sim changed.
    pub(crate) fn role_changed(&mut self) {
        let capable: Vec<ControllerId> = self.ix.capable.iter().copied().collect();
        for who in capable {
            self.start_locality(who);
            self.evaluate_sides(who);
            self.react();
        }
    }

    /// Sets whether this machine controls a controller locally. A client cannot claim a remote actor.
    pub(crate) fn set_local(&mut self, who: ControllerId, is_local: bool) -> Result<(), Refusal> {
        self.slot(who)?;
        if is_local && self.ix.hidden.is_proxy(who) {
            return Err(Refusal::Authority);
        }
        let was_local = self.view().is_local(who);
        if was_local != is_local {
            self.journal_locality(who, was_local);
        }
        self.st.locality.set(who, is_local);
        if was_local != is_local {
            self.evaluate_sides(who);
            self.owners_changed();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActorId, ReadError, Rules, Sim, SimConfig, SpawnSpec};
    use ugas_doc::{Attribute, AttributeSet};

    fn sim(role: Role, screen: bool) -> Sim {
        let vitals = AttributeSet::new("Vitals").with(Attribute::new("Health", 100.0));
        let rules = Rules::builder().add(vitals).build().unwrap();
        Sim::new(rules, SimConfig { role, screen, ..SimConfig::default() })
    }

    fn spawn(sim: &mut Sim, owner: Option<ActorId>, avatar: Option<ActorId>) -> ControllerId {
        let set = sim.rules().set("Vitals").unwrap();
        sim.spawn(SpawnSpec { owner, avatar, ..SpawnSpec::sets([set]) }).unwrap()
    }

    /// Makes a row the proxy of a remote actor.
    fn make_proxy(sim: &mut Sim, who: ControllerId) {
        let flow = sim.flow();
        let layout = flow.ix.layouts[0].clone();
        flow.ix.hidden.set(who, &layout, &[], true);
    }

    /// A machine and the controller on it whose capabilities are asked about.
    fn machines() -> [(&'static str, Sim, ControllerId); 5] {
        let made = [
            ("standalone", Role::Standalone, true, false),
            ("dedicated server", Role::Authority, false, false),
            ("listen server", Role::Authority, true, false),
            ("own row of a client", Role::Client, true, false),
            ("remote actor on a client", Role::Client, true, true),
        ];
        made.map(|(name, role, screen, is_proxy)| {
            let mut sim = sim(role, screen);
            let who = spawn(&mut sim, None, None);
            if is_proxy {
                make_proxy(&mut sim, who);
            }
            (name, sim, who)
        })
    }

    // covers: CAP-31, CAP-33
    #[test]
    fn every_side_has_its_home_on_every_machine() {
        use Home::{Local, Nowhere, Replicated, Row};
        // The homes on the five machines, and on a listen server whose player plays the controller.
        let table = [
            (Side::Always, [Row, Row, Row, Row, Local], Row),
            (Side::AuthorityOnly, [Row, Row, Row, Replicated, Nowhere], Row),
            (Side::AuthorityAndLocalControlled, [Row, Row, Row, Row, Nowhere], Row),
            (Side::LocalControlledOnly, [Row, Nowhere, Nowhere, Local, Nowhere], Local),
            (Side::OwnerLocalControlledOnly, [Row, Nowhere, Nowhere, Local, Nowhere], Local),
            (Side::AllClients, [Row, Nowhere, Local, Local, Local], Local),
        ];
        let mut sides = table.map(|row| row.0);
        sides.sort();
        assert_eq!(sides, Side::ALL);
        for (side, homes, of_host) in table {
            for ((machine, sim, who), home) in machines().into_iter().zip(homes) {
                assert_eq!(sim.home_of(who, side), Ok(home), "{side:?} on the {machine}");
            }
            let [_, dedicated, listen, ..] = machines();
            for ((machine, mut sim, who), home) in [(listen, of_host), (dedicated, homes[1])] {
                sim.set_local(who, true).unwrap();
                assert_eq!(sim.home_of(who, side), Ok(home), "{side:?} of a local controller on the {machine}");
            }
        }
    }

    #[test]
    fn a_host_can_state_that_nobody_plays_a_controller() {
        let changed = [Side::LocalControlledOnly, Side::OwnerLocalControlledOnly];
        for (machine, mut sim, who) in machines() {
            let before = Side::ALL.map(|side| sim.home_of(who, side).unwrap());
            sim.set_local(who, false).unwrap();
            for (side, before) in Side::ALL.into_iter().zip(before) {
                let home = if changed.contains(&side) { Home::Nowhere } else { before };
                assert_eq!(sim.home_of(who, side), Ok(home), "{side:?} on the {machine}");
            }
        }
        let mut headless = sim(Role::Standalone, false);
        let who = spawn(&mut headless, None, None);
        assert_eq!(headless.home_of(who, Side::AllClients), Ok(Home::Nowhere), "no screen");
    }

    #[test]
    fn a_client_cannot_claim_a_remote_actor() {
        let [.., (_, mut sim, proxy)] = machines();
        assert_eq!(sim.set_local(proxy, true), Err(Refusal::Authority));
        assert_eq!(sim.is_local(proxy), Ok(false));
        assert_eq!(sim.set_local(ControllerId(77), true), Err(Refusal::StaleHandle));
        assert_eq!(sim.is_local(ControllerId(77)), Err(ReadError::StaleHandle));
        assert_eq!(sim.home_of(ControllerId(77), Side::Always), Err(ReadError::StaleHandle));
    }

    /// A gadget on a weapon in the hands of a player.
    fn chain(sim: &mut Sim) -> [ControllerId; 3] {
        let [state, body, sword, scope] = [1, 2, 3, 4].map(ActorId);
        let player = spawn(sim, Some(state), Some(body));
        let weapon = spawn(sim, Some(body), Some(sword));
        [player, weapon, spawn(sim, Some(sword), Some(scope))]
    }

    #[test]
    fn the_outermost_owner_decides_on_every_machine() {
        let side = Side::OwnerLocalControlledOnly;
        let homes = [(Role::Standalone, Home::Row), (Role::Authority, Home::Local), (Role::Client, Home::Local)];
        for (role, home) in homes {
            let mut sim = sim(role, true);
            let all @ [player, ..] = chain(&mut sim);
            if role == Role::Client {
                // The weapon and the gadget are remote actors of the client that owns the player.
                all[1..].iter().for_each(|&who| make_proxy(&mut sim, who));
            }
            sim.set_local(player, true).unwrap();
            assert_eq!(all.map(|who| sim.home_of(who, side).unwrap()), [home; 3], "{role:?}");
            sim.set_local(player, false).unwrap();
            for who in &all[1..] {
                // The locality of the owned controllers themselves does not count.
                let _ = sim.set_local(*who, true);
            }
            assert_eq!(all.map(|who| sim.home_of(who, side).unwrap()), [Home::Nowhere; 3], "{role:?}");
        }
        let mut server = sim(Role::Authority, false);
        let [player, _, gadget] = chain(&mut server);
        server.set_local(player, true).unwrap();
        assert_eq!(server.home_of(gadget, side), Ok(Home::Nowhere), "a dedicated server");
    }

    #[test]
    fn the_search_for_the_outermost_owner_ends_at_gaps_circles_and_sixteen_steps() {
        let mut sim = sim(Role::Standalone, true);
        let [player, weapon, gadget] = chain(&mut sim);
        assert_eq!(sim.view().outermost_owner(gadget), player);
        sim.run(crate::Op::Possess { who: player, avatar: None }).unwrap();
        assert_eq!(sim.view().outermost_owner(gadget), weapon, "nobody has the body as avatar");
        sim.despawn(weapon).unwrap();
        assert_eq!(sim.view().outermost_owner(gadget), gadget);

        let [a, b, own] = [11, 12, 13].map(ActorId);
        let (one, two) = (spawn(&mut sim, Some(b), Some(a)), spawn(&mut sim, Some(a), Some(b)));
        assert_eq!([one, two].map(|who| sim.view().outermost_owner(who)), [two, one], "a circle of two");
        let own = spawn(&mut sim, Some(own), Some(own));
        assert_eq!(sim.view().outermost_owner(own), own, "its own owner");

        let links: Vec<ControllerId> =
            (0..20).map(|n| spawn(&mut sim, Some(ActorId(100 + n)), Some(ActorId(101 + n)))).collect();
        assert_eq!(sim.view().outermost_owner(links[16]), links[0]);
        assert_eq!(sim.view().outermost_owner(links[19]), links[3]);
    }
}
