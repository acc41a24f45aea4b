//! Sides: the machines of a game on which a capability runs.

use serde::{Deserialize, Serialize};

/// The machines on which a capability of a controller runs.
///
/// A machine is the authoritative server, a client, or a game without a network, which is both. The machine of the
/// player who plays a controller *controls it locally*. A server without a screen is a dedicated server; a server with
/// a screen is also the machine of a player (a listen server).
///
/// ```
/// assert_eq!(ugas_doc::Side::default(), ugas_doc::Side::Always);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Side {
    /// Every machine.
    #[default]
    Always,
    /// The authoritative server only. The owning client receives the state but does not evaluate it.
    AuthorityOnly,
    /// Only the machine that controls the controller locally.
    LocalControlledOnly,
    /// The authoritative server and the machine that controls the controller locally.
    AuthorityAndLocalControlled,
    /// Only the machine that locally controls the outermost owner of the controller, such as the player who carries a
    /// weapon that carries a gadget.
    OwnerLocalControlledOnly,
    /// Every machine with a player: clients, listen servers and games without a network, but no dedicated server.
    AllClients,
}

impl Side {
    /// All sides, in the order of declaration.
    ///
    /// ```
    /// assert_eq!(ugas_doc::Side::ALL.len(), 6);
    /// ```
    pub const ALL: [Side; 6] = [
        Side::Always,
        Side::AuthorityOnly,
        Side::LocalControlledOnly,
        Side::AuthorityAndLocalControlled,
        Side::OwnerLocalControlledOnly,
        Side::AllClients,
    ];
}
