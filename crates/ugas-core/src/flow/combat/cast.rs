//! Casts. An ability with a cast ticks at equal intervals until the cast ends. A controller has at most one cast at a
//! time.

use super::super::ability::EndHow;
use super::super::{Flow, ListKind, Reaction, RowEvent, Via};
use super::CombatEvent;
use crate::rules::RuleOn;
use crate::state::{AbilityRef, Cast, Due, TimerKind, alert};
use crate::{AbilityId, CastStep, ControllerId, FactKind, Refusal, Restriction, Role, SimTime, Which};

impl<'r> Flow<'r> {
    /// Starts the cast of an activation, if its ability has one.
    pub(crate) fn cast_begin(&mut self, slot: usize, seq: u64) {
        let Some((ability, def)) = self.ability_of(slot, seq) else { return };
        let Some(cast) = def.cast else { return };
        let known = self.work.role != Role::Client || cast.predicted;
        let length = match known {
            true => self.combat_time(slot, RuleOn::CastLength, cast.length, &def),
            // The client does not predict the duration, so the ticks run when the authoritative sim confirms the cast.
            false => SimTime::NEVER,
        };
        let now = self.st.now;
        let row = self.row_mut(slot);
        let (start, number) = (row.clock.local(now), row.take_seq());
        let cast = Cast { of: seq, seq: number, start, length, ticks: cast.ticks.max(1), next: 1 };
        let due = Due::timer(cast.next_at(), TimerKind::Cast, number);
        row.play_mut().cast = Some(Box::new(cast));
        let who = row.id;
        self.refresh_aim(slot);
        let row = self.row_mut(slot);
        if length > SimTime::ZERO {
            if known {
                row.schedule(due);
            }
            self.publish(slot);
        } else {
            // All ticks run now, after the activation itself.
            self.sc.reactions.push_back(Reaction::Ticks { who, cast: number, cause: self.cause });
        }
        self.fact(who, Via::NOTHING, FactKind::Cast { ability, tick: 0, length, step: CastStep::Started });
    }

    /// Runs all ticks of a cast without duration.
    pub(crate) fn cast_at_once(&mut self, slot: usize, seq: u64) {
        while self.row(slot).play().cast.as_ref().is_some_and(|c| c.seq == seq) {
            self.cast_due(slot, seq);
        }
    }

    /// Runs the next tick of a cast. After the last tick, ends the cast.
    pub(crate) fn cast_due(&mut self, slot: usize, seq: u64) {
        let Some(cast) = self.row(slot).play().cast.as_deref().filter(|c| c.seq == seq).cloned() else { return };
        let Cast { of, length, ticks, next: tick, .. } = cast;
        let Some((ability, _)) = self.ability_of(slot, of) else { return };
        let row = self.row_mut(slot);
        let who = row.id;
        let later = Cast { next: tick + 1, ..cast };
        if tick < ticks && length > SimTime::ZERO {
            row.schedule(Due::timer(later.next_at(), TimerKind::Cast, seq));
        }
        let play = row.play_mut();
        play.cast = Some(Box::new(later));
        if let Some(a) = play.activation_mut(of) {
            a.tick = tick;
        }
        self.fact(who, Via::NOTHING, FactKind::Cast { ability, tick, length, step: CastStep::Tick });
        self.run_list(slot, of, ListKind::Tick);
        // The tick may have ended its ability or destroyed the controller.
        let Some(slot) = self.st.controllers.slot(who) else { return };
        if tick >= ticks && self.row(slot).play().cast.as_ref().is_some_and(|c| c.seq == seq) {
            self.stop_cast(slot, of, CastStep::Finished);
            self.maybe_done(slot, of);
        }
    }

    /// Ends the cast of an activation, if it has one.
    pub(crate) fn stop_cast(&mut self, slot: usize, seq: u64, how: CastStep) {
        if !self.is_casting(slot, seq) {
            return;
        }
        let ability = self.ability_of(slot, seq).map_or(AbilityId::NONE, |(id, _)| id);
        let row = self.row_mut(slot);
        let who = row.id;
        let Some(cast) = row.play_mut().cast.take() else { return };
        row.unschedule(Due::timer(cast.next_at(), TimerKind::Cast, cast.seq));
        row.trim();
        self.refresh_aim(slot);
        self.publish(slot);
        let (tick, length) = (cast.next - 1, cast.length);
        self.fact(who, Via::NOTHING, FactKind::Cast { ability, tick, length, step: how });
        self.notify(slot, alert::ABILITY, || RowEvent::Freed);
    }

    pub(crate) fn is_casting(&self, slot: usize, seq: u64) -> bool {
        self.row(slot).play().cast.as_ref().is_some_and(|c| c.of == seq)
    }

    /// Interrupts the cast in progress. With `which`, interrupts only a cast of the selected ability. If there is no
    /// such cast, the call changes nothing.
    pub(crate) fn interrupt_op(&mut self, who: ControllerId, which: Option<Which>) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        let Some(of) = self.row(slot).play().cast.as_ref().map(|c| c.of) else { return Ok(()) };
        if !which.is_none_or(|w| self.is_of(slot, of, w)) {
            return Ok(());
        }
        let Some((_, def)) = self.ability_of(slot, of) else { return Ok(()) };
        let (tags, style) = (&*def.tags, Default::default());
        let (source, target) = (ControllerId::NONE, who);
        let event = CombatEvent { tags, amount: 0.0, style, source, target, attribute: None, frozen: None };
        let may = def.cast.is_some_and(|c| c.interruptible);
        if !may {
            return Err(Refusal::Restricted { by: Restriction::NotInterruptible });
        }
        if self.view().restricted(slot, RuleOn::Interrupt, Some(&def), Some(&event)) {
            return Err(Refusal::Restricted { by: Restriction::CombatRule });
        }
        self.finish(slot, of, EndHow::Interrupted);
        Ok(())
    }

    /// Returns whether `which` selects an activation.
    fn is_of(&self, slot: usize, seq: u64, which: Which) -> bool {
        let row = self.row(slot);
        let Some(a) = row.play().activation(seq) else { return false };
        match which {
            Which::Ability(ability) => a.ability == ability,
            Which::Grant(grant) => a.grant == grant,
            Which::Input(input) => row.grant(a.grant).is_some_and(|g| row.grants[g].input() == input),
            Which::Activation(key) => a.key(row.id) == key,
        }
    }

    /// Returns an activation's ability.
    fn ability_of(&self, slot: usize, seq: u64) -> Option<(AbilityId, AbilityRef<'r>)> {
        let id = self.row(slot).play().activation(seq)?.ability;
        Some((id, self.ability(id)?))
    }
}
