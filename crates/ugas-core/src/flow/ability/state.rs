//! The states of an ability, as one table.
//!
//! | From | By | To |
//! |---|---|---|
//! | NotGranted | Grant | Granted |
//! | Granted | Try | Activating |
//! | Activating | Fail | Granted |
//! | Activating | Ask | PendingConfirmation |
//! | Activating | Start | Active |
//! | PendingConfirmation | Pass | Activating |
//! | PendingConfirmation | Reject | Granted |
//! | Active | Finish | Ending |
//! | Ending | Done | Granted |
//! | Granted | Revoke | NotGranted |
//!
//! Revoking an active ability ends it first. Everything else is not a transition.

use super::super::Flow;
use crate::{AbilityId, AbilityState, ControllerId, GrantId, TraceKind};

/// A transition between states of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Grant,
    Try,
    Fail,
    /// A validation was requested.
    Ask,
    Start,
    Pass,
    Reject,
    Finish,
    Done,
    Revoke,
}

/// Returns the state after a transition; `None` if there is no such transition.
pub(crate) fn next(from: AbilityState, by: Move) -> Option<AbilityState> {
    use AbilityState::{Activating, Active, Ending, Granted, NotGranted, PendingConfirmation};
    match from {
        NotGranted => match by {
            Move::Grant => Some(Granted),
            _ => None,
        },
        Granted => match by {
            Move::Try => Some(Activating),
            Move::Revoke => Some(NotGranted),
            _ => None,
        },
        Activating => match by {
            Move::Fail => Some(Granted),
            Move::Ask => Some(PendingConfirmation),
            Move::Start => Some(Active),
            _ => None,
        },
        PendingConfirmation => match by {
            Move::Pass => Some(Activating),
            Move::Reject => Some(Granted),
            _ => None,
        },
        Active => match by {
            Move::Finish => Some(Ending),
            _ => None,
        },
        Ending => match by {
            Move::Done => Some(Granted),
            _ => None,
        },
    }
}

impl Flow<'_> {
    /// Changes the state of an ability, traces it and returns the new state.
    pub(crate) fn step_ability(
        &mut self,
        who: ControllerId,
        (ability, grant): (AbilityId, GrantId),
        from: AbilityState,
        by: Move,
    ) -> AbilityState {
        let Some(to) = next(from, by) else {
            debug_assert!(false, "no transition from {from:?} by {by:?}");
            return from;
        };
        if self.log.tracing {
            self.trace(who, TraceKind::Ability { ability, grant, from, to });
        }
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AbilityState::*;

    #[test]
    fn the_table_is_what_the_module_says() {
        let states = [NotGranted, Granted, Activating, PendingConfirmation, Active, Ending];
        let moves = [
            Move::Grant,
            Move::Try,
            Move::Fail,
            Move::Ask,
            Move::Start,
            Move::Pass,
            Move::Reject,
            Move::Finish,
            Move::Done,
            Move::Revoke,
        ];
        let all: Vec<_> =
            states.iter().flat_map(|&s| moves.iter().filter_map(move |&m| Some((s, m, next(s, m)?)))).collect();
        let table = [
            (NotGranted, Move::Grant, Granted),
            (Granted, Move::Try, Activating),
            (Granted, Move::Revoke, NotGranted),
            (Activating, Move::Fail, Granted),
            (Activating, Move::Ask, PendingConfirmation),
            (Activating, Move::Start, Active),
            (PendingConfirmation, Move::Pass, Activating),
            (PendingConfirmation, Move::Reject, Granted),
            (Active, Move::Finish, Ending),
            (Ending, Move::Done, Granted),
        ];
        assert_eq!(all, table);
    }
}
