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
//! Revoking an active ability cancels the ability first. No other transition exists.

use super::super::Flow;
use crate::{AbilityId, AbilityState, ControllerId, GrantId, TraceKind};

/// A transition between states of an ability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AbilityTransition {
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

/// Returns the state after a transition, or `None` if the state has no such transition.
pub(crate) fn next(from: AbilityState, by: AbilityTransition) -> Option<AbilityState> {
    use AbilityState::{Activating, Active, Ending, Granted, NotGranted, PendingConfirmation};
    use AbilityTransition::{Ask, Done, Fail, Finish, Grant, Pass, Reject, Revoke, Start, Try};
    match from {
        NotGranted => match by {
            Grant => Some(Granted),
            Try | Fail | Ask | Start | Pass | Reject | Finish | Done | Revoke => None,
        },
        Granted => match by {
            Try => Some(Activating),
            Revoke => Some(NotGranted),
            Grant | Fail | Ask | Start | Pass | Reject | Finish | Done => None,
        },
        Activating => match by {
            Fail => Some(Granted),
            Ask => Some(PendingConfirmation),
            Start => Some(Active),
            Grant | Try | Pass | Reject | Finish | Done | Revoke => None,
        },
        PendingConfirmation => match by {
            Pass => Some(Activating),
            Reject => Some(Granted),
            Grant | Try | Fail | Ask | Start | Finish | Done | Revoke => None,
        },
        Active => match by {
            Finish => Some(Ending),
            Grant | Try | Fail | Ask | Start | Pass | Reject | Done | Revoke => None,
        },
        Ending => match by {
            Done => Some(Granted),
            Grant | Try | Fail | Ask | Start | Pass | Reject | Finish | Revoke => None,
        },
    }
}

impl Flow<'_> {
    /// Changes the state of an ability, traces the change and returns the new state.
    pub(crate) fn step_ability(
        &mut self,
        who: ControllerId,
        (ability, grant): (AbilityId, GrantId),
        from: AbilityState,
        by: AbilityTransition,
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
    fn the_table_matches_the_module_docs() {
        let states = [NotGranted, Granted, Activating, PendingConfirmation, Active, Ending];
        let moves = [
            AbilityTransition::Grant,
            AbilityTransition::Try,
            AbilityTransition::Fail,
            AbilityTransition::Ask,
            AbilityTransition::Start,
            AbilityTransition::Pass,
            AbilityTransition::Reject,
            AbilityTransition::Finish,
            AbilityTransition::Done,
            AbilityTransition::Revoke,
        ];
        let all: Vec<_> =
            states.iter().flat_map(|&s| moves.iter().filter_map(move |&m| Some((s, m, next(s, m)?)))).collect();
        let table = [
            (NotGranted, AbilityTransition::Grant, Granted),
            (Granted, AbilityTransition::Try, Activating),
            (Granted, AbilityTransition::Revoke, NotGranted),
            (Activating, AbilityTransition::Fail, Granted),
            (Activating, AbilityTransition::Ask, PendingConfirmation),
            (Activating, AbilityTransition::Start, Active),
            (PendingConfirmation, AbilityTransition::Pass, Activating),
            (PendingConfirmation, AbilityTransition::Reject, Granted),
            (Active, AbilityTransition::Finish, Ending),
            (Ending, AbilityTransition::Done, Granted),
        ];
        assert_eq!(all, table);
    }
}
