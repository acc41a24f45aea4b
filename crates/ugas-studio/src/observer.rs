//! The machine whose state a page shows: the server, which has the complete state, or a client, which has only
//! replicated and predicted state.
//!
//! Pages read the state of a client only through an [`Observer`], so that they never show a value that the client does
//! not know.

use ugas_core::{
    AttributeId, BoundDef, CapabilityId, CapabilityReason, CapabilityState, CapabilityView, ControllerId, EffectState,
    ReadError, Sim, SimTime,
};
use ugas_net::client::{Client, ClientExplanation, Knowledge};
use ugas_net::internals::view::{Proxy, ProxyEffect};
use ugas_net::server::Server;

/// The sim of the server or of a game, or the sim of a client limited to the state that the client knows.
#[derive(Clone, Copy)]
pub(crate) enum Observer<'w> {
    /// The server with its authoritative sim.
    Server(&'w Server),
    /// The sim of a game to which the studio is attached.
    #[cfg(feature = "serve")]
    Game(&'w Sim),
    /// A client's sim: complete for its own controllers, partial for remote actors.
    Client(&'w Client),
}

/// The part of an effect that is replicated to an observer.
pub(crate) struct KnownEffect {
    pub(crate) key: ugas_core::EffectKey,
    pub(crate) effect: ugas_core::EffectId,
    /// The source; `None` if the effect has no source or the source is not replicated to the observer.
    pub(crate) source: Option<ControllerId>,
    pub(crate) level: u32,
    pub(crate) stacks: u32,
    pub(crate) state: EffectState,
    pub(crate) elapsed: SimTime,
    pub(crate) total: Option<SimTime>,
}

impl<'w> Observer<'w> {
    pub(crate) fn sim(self) -> &'w Sim {
        match self {
            Observer::Server(server) => server.sim(),
            #[cfg(feature = "serve")]
            Observer::Game(sim) => sim,
            Observer::Client(client) => client.sim(),
        }
    }

    /// Returns whether this client owns a controller.
    pub(crate) fn owns(self, who: ControllerId) -> bool {
        matches!(self, Observer::Client(client) if client.owned().contains(&who))
    }

    /// Returns the replicated state of a remote actor.
    fn proxy(self, who: ControllerId) -> Option<&'w Proxy> {
        let client = self.client().filter(|_| !self.owns(who))?;
        client.proxies().get(who)
    }

    fn client(self) -> Option<&'w Client> {
        if let Observer::Client(client) = self { Some(client) } else { None }
    }

    /// Returns whether the observer has the complete state of a controller.
    pub(crate) fn is_complete(self, who: ControllerId) -> bool {
        self.client().is_none() || self.owns(who)
    }

    pub(crate) fn knowledge(self, who: ControllerId, attribute: AttributeId) -> Knowledge {
        self.client().map_or(Knowledge::Full, |client| client.knowledge(who, attribute))
    }

    /// Returns the current value of an attribute, if the observer knows it.
    pub(crate) fn value(self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        match self.knowledge(who, attribute) {
            Knowledge::Hidden => None,
            Knowledge::ValueOnly | Knowledge::Full => self.sim().get(who, attribute).ok(),
        }
    }

    /// Returns the base value of an attribute, if the observer knows it.
    pub(crate) fn base(self, who: ControllerId, attribute: AttributeId) -> Option<f64> {
        match self.knowledge(who, attribute) {
            Knowledge::Hidden | Knowledge::ValueOnly => None,
            Knowledge::Full => self.sim().base(who, attribute).ok(),
        }
    }

    /// Returns the upper bound of an attribute, if the attribute has a bound that the observer knows.
    pub(crate) fn upper_bound(self, who: ControllerId, max: BoundDef) -> Option<f64> {
        match max {
            BoundDef::Open => None,
            BoundDef::Value(value) => Some(value),
            BoundDef::Attribute(attribute) => self.value(who, attribute),
        }
    }

    pub(crate) fn explain(self, who: ControllerId, attribute: AttributeId) -> Result<ClientExplanation, ReadError> {
        match self.client() {
            None => self.sim().explain(who, attribute).map(|e| ClientExplanation::Full(Box::new(e))),
            Some(client) => client.explain(who, attribute),
        }
    }

    /// Returns the capabilities of a controller as this machine runs them, in the order in which they run.
    pub(crate) fn capabilities(self, who: ControllerId) -> Vec<CapabilityView> {
        let in_rows = self.sim().capabilities(who).unwrap_or_default();
        let mut all = match self {
            Observer::Server(server) => server.capabilities(who),
            #[cfg(feature = "serve")]
            Observer::Game(_) => return in_rows,
            Observer::Client(client) => client.capabilities(who),
        };
        // A scenario runs every side in the rows, and its world becomes that of a server.
        for view in all.iter_mut() {
            let key = (view.handle, view.position);
            if let Some(row) = in_rows.iter().find(|row| (row.handle, row.position) == key && runs(row)) {
                *view = *row;
            }
        }
        all
    }

    /// Returns every reason why the first capability of a class is not active on this machine.
    pub(crate) fn why_not_capability(
        self,
        who: ControllerId,
        class: CapabilityId,
    ) -> Result<Vec<CapabilityReason>, ReadError> {
        let sim = self.sim();
        if sim.capabilities(who)?.iter().any(|view| view.class == class && runs(view)) {
            return sim.why_not_capability(who, class);
        }
        match self {
            Observer::Server(server) => server.why_not_capability(who, class),
            #[cfg(feature = "serve")]
            Observer::Game(sim) => sim.why_not_capability(who, class),
            Observer::Client(client) => client.why_not_capability(who, class),
        }
    }

    /// Returns the effects on a controller; `None` if they are not replicated to this client.
    pub(crate) fn effects(self, who: ControllerId) -> Option<Vec<KnownEffect>> {
        let sim = self.sim();
        let own = sim.effects(who).ok()?.into_iter().map(|e| KnownEffect {
            key: e.key,
            effect: e.effect,
            source: e.source,
            level: e.level,
            stacks: e.stacks,
            state: e.state,
            elapsed: e.elapsed,
            total: e.total,
        });
        let Some(client) = self.client().filter(|_| !self.is_complete(who)) else { return Some(own.collect()) };
        let proxy = self.proxy(who).filter(|p| p.shape().effects)?;
        let replicated = proxy.effects().map(|e| replicated(e, sim.now()));
        // Add the effects that this client predicted to the replicated effects.
        let predicted = own.filter(|e| proxy.effect(e.key).is_none() && client.is_predicted(e.key.origin_id));
        Some(replicated.chain(predicted).collect())
    }
}

/// Returns whether a capability runs in the row.
fn runs(view: &CapabilityView) -> bool {
    view.state != CapabilityState::Elsewhere
}

fn replicated(e: &ProxyEffect, now: SimTime) -> KnownEffect {
    let runs = e.start != SimTime::NEVER;
    KnownEffect {
        key: e.key,
        effect: e.effect,
        source: None,
        level: e.level,
        stacks: e.stacks,
        state: e.state,
        elapsed: if runs { (now - e.start).max(SimTime::ZERO) } else { SimTime::ZERO },
        total: (runs && e.end != SimTime::NEVER).then(|| e.end - e.start),
    }
}
