//! How much of the attributes of a controller is replicated to a client.
//!
//! A client's sim has a row for every controller it receives, but only the rows of its owned controllers are complete.
//! The row of a remote (proxy) controller has replicated values as base values, no modifiers, and defaults for the
//! attributes that are not replicated. A tool must not explain such a row as if it were complete. It calls
//! [`Client::knowledge`] first to check whether an attribute is complete.

use super::Client;
use crate::view::Proxy;
use ugas_core::{AttributeId, ControllerId, Explanation, ReadError};

/// How much of one attribute of a controller is replicated to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// The client has the value, the base value and the modifiers, because it owns the controller.
    Full,
    /// The client has only the current value. The base value and the modifiers are not replicated to the client.
    ValueOnly,
    /// The client has no value: the attribute is not replicated to it, or the client does not receive the controller.
    Hidden,
}

/// An explanation of an attribute, as far as it is replicated to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientExplanation {
    /// The full explanation. The client has it only for controllers that it owns.
    Full(Box<Explanation>),
    /// A value without its modifiers.
    ValueOnly {
        /// The value in the client's sim: the last replicated value with the client's predictions applied.
        value: f64,
        /// The value that the server replicated last.
        replicated: f64,
    },
    /// The value is not replicated to this client.
    Hidden,
}

impl Client {
    /// Returns how much of an attribute of a controller is replicated to this client.
    ///
    /// ```
    /// # use ugas_core::{Rules, Sim, SimConfig, SpawnSpec};
    /// # use ugas_doc::{Attribute, AttributeSet, ControllerReplication, ReplicationMode};
    /// use ugas_net::client::Knowledge;
    /// # use ugas_net::harness::Harness;
    /// # use ugas_net::link::LinkProfile;
    /// # use ugas_net::server::{Secret, Server, ServerConfig};
    /// # let mut mana = Attribute::new("Mana", 100.0);
    /// # mana.replication_mode = ReplicationMode::OwnerOnly;
    /// # let set = AttributeSet::new("S").with(Attribute::new("Health", 100.0)).with(mana);
    /// # let rules = Rules::builder().add(set).build()?;
    /// # let mut sim = Sim::new(rules.clone(), SimConfig::default());
    /// # let spec = || SpawnSpec::sets([rules.set("S").unwrap()]);
    /// # let (hero, foe) = (sim.spawn(spec())?, sim.spawn(spec())?);
    /// # let config = ServerConfig { replication: ControllerReplication::Full, ..ServerConfig::default() };
    /// # let mut net = Harness::new(Server::new(sim, config, Secret::known(1)), 1);
    /// # net.join("Ana", LinkProfile::GOOD, &[hero])?;
    /// # net.run(60);
    /// let [health, mana] = ["Health", "Mana"].map(|name| rules.attribute(name).unwrap());
    /// let client = net.client("Ana");
    /// assert_eq!(client.knowledge(hero, mana), Knowledge::Full);
    /// assert_eq!(client.knowledge(foe, health), Knowledge::ValueOnly);
    /// assert_eq!(client.knowledge(foe, mana), Knowledge::Hidden);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn knowledge(&self, who: ControllerId, attribute: AttributeId) -> Knowledge {
        if let Some(row) = self.rows.iter().find(|r| r.who == who).filter(|_| self.owned.contains(&who)) {
            return if row.hidden.contains(&attribute) { Knowledge::Hidden } else { Knowledge::Full };
        }
        match self.proxies.get(who) {
            Some(proxy) if proxy.shows(attribute) => Knowledge::ValueOnly,
            _ => Knowledge::Hidden,
        }
    }

    /// Explains an attribute as far as it is replicated to this client.
    pub fn explain(&self, who: ControllerId, attribute: AttributeId) -> Result<ClientExplanation, ReadError> {
        let value = self.sim.get(who, attribute)?;
        let replicated = self.proxies.get(who).and_then(|p: &Proxy| p.value(attribute));
        Ok(match (self.knowledge(who, attribute), replicated) {
            (Knowledge::Full, _) => ClientExplanation::Full(Box::new(self.sim.explain(who, attribute)?)),
            (Knowledge::ValueOnly, Some(replicated)) => ClientExplanation::ValueOnly { value, replicated },
            (Knowledge::ValueOnly | Knowledge::Hidden, _) => ClientExplanation::Hidden,
        })
    }
}
