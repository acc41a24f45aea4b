//! Casts. An ability with a cast ticks at equal intervals until the cast ends. A controller has at most one cast at a
//! time.
//!
//! With `TickData: Required`, a tick of a cast that a client activated waits on the server for the target that the
//! client chose in the same tick (`Op::Aim` with a tick number). A target that arrives early is kept. A tick without
//! its target is owed: it runs when the target arrives, and is skipped at the time of the next tick.

use super::super::ability::EndHow;
use super::super::ability::PredictedTargets;
use super::super::{Flow, ListKind, Reaction, RowEvent, Via};
use super::CombatEvent;
use crate::rules::{AbilityDef, RuleOn};
use crate::state::{AbilityRef, Cast, Due, TimerKind, alert};
use crate::{
    AbilityId, ActivationKey, CastStep, ControllerId, FactKind, PredictedAim, Refusal, Restriction, Role, SimTime,
    Target, Which,
};

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
        let cast =
            Cast { of: seq, seq: number, start, length, ticks: cast.ticks.max(1), next: 1, owed: false, data: None };
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

    /// Runs the next tick of a cast, or lets it wait for its data. An earlier tick that still waits is skipped. After
    /// the last tick, ends the cast.
    pub(crate) fn cast_due(&mut self, slot: usize, seq: u64) {
        let Some(cast) = self.row(slot).play().cast.as_deref().filter(|c| c.seq == seq).cloned() else { return };
        let Cast { of, length, ticks, next: tick, owed, data, .. } = cast;
        let Some((ability, def)) = self.ability_of(slot, of) else { return };
        if owed {
            let (who, tick) = (self.row(slot).id, tick - 1);
            self.fact(who, Via::NOTHING, FactKind::Cast { ability, tick, length, step: CastStep::Skipped });
        }
        if tick > ticks {
            return self.finish_cast(slot, seq, of);
        }
        let waits = length > SimTime::ZERO && data.is_none() && self.awaits_data(slot, of, &def);
        let later = Cast { next: tick + 1, owed: waits, data: None, ..cast };
        let row = self.row_mut(slot);
        if length > SimTime::ZERO && (tick < ticks || waits) {
            row.schedule(Due::timer(later.next_at(), TimerKind::Cast, seq));
        }
        row.play_mut().cast = Some(Box::new(later));
        if !waits {
            self.run_cast_tick(slot, seq, tick, data);
        }
    }

    /// Runs one tick of a cast. `data` is the target that the client chose for it.
    fn run_cast_tick(&mut self, slot: usize, seq: u64, tick: u32, data: Option<Target>) {
        let Some(cast) = self.row(slot).play().cast.as_deref().filter(|c| c.seq == seq) else { return };
        let (of, length, ticks) = (cast.of, cast.length, cast.ticks);
        let Some((ability, def)) = self.ability_of(slot, of) else { return };
        let (who, key) = (self.row(slot).id, self.key_of(slot, of));
        if let Some(a) = self.row_mut(slot).play_mut().activation_mut(of) {
            a.tick = tick;
        }
        self.fact(who, Via::NOTHING, FactKind::Cast { ability, tick, length, step: CastStep::Tick });
        if data.is_some() {
            let chosen = PredictedTargets { first: data, activation: Some(key), ..PredictedTargets::default() };
            let outer = std::mem::replace(&mut self.sc.predicted_targets, chosen);
            self.run_list(slot, of, ListKind::Tick);
            self.sc.predicted_targets = outer;
        } else {
            self.run_list(slot, of, ListKind::Tick);
        }
        // The tick may have ended its ability or destroyed the controller.
        let Some(slot) = self.st.controllers.slot(who) else { return };
        if self.work.role == Role::Client && def.cast.is_some_and(|c| c.awaits_data) && length > SimTime::ZERO {
            self.report_tick_data(slot, key, tick, data);
        }
        if tick >= ticks {
            self.finish_cast(slot, seq, of);
        }
    }

    /// Ends a cast after its last tick, unless it has ended already.
    fn finish_cast(&mut self, slot: usize, seq: u64, of: u64) {
        if self.row(slot).play().cast.as_ref().is_some_and(|c| c.seq == seq) {
            self.stop_cast(slot, of, CastStep::Finished);
            self.maybe_done(slot, of);
        }
    }

    /// Returns whether the ticks of an activation wait for the targets of its client. They do not wait without a server
    /// and for an activation that no command of the owning client caused.
    fn awaits_data(&self, slot: usize, of: u64, def: &AbilityDef) -> bool {
        let row = self.row(slot);
        let client = row.play().activation(of).map_or(0, |a| a.root.client());
        self.work.role == Role::Authority
            && def.cast.is_some_and(|c| c.awaits_data)
            && client != 0
            && self.st.streams.owner(row.id) == Some(client)
    }

    /// Returns whether the server waits for the target of the tick of a cast that runs now on a predicting client. The
    /// target of the initial tick is sent with the command.
    pub(crate) fn is_data_awaited(&self, slot: usize, of: u64) -> bool {
        let cast = self.row(slot).play().cast.as_deref();
        cast.is_some_and(|c| c.of == of && c.next > 1 && c.length > SimTime::ZERO)
            && self.ability_of(slot, of).is_some_and(|(_, def)| def.cast.is_some_and(|c| c.awaits_data))
    }

    /// Records the target of a tick that a predicting client ran, so that it is sent to the server. If the target was
    /// sent before, the activation keeps that target.
    fn report_tick_data(&mut self, slot: usize, key: ActivationKey, tick: u32, sent: Option<Target>) {
        if let Some(target) = sent {
            self.put_aim(slot, key, target);
        }
        let running = self.row(slot).play().activations.iter().find(|a| a.key(key.who) == key);
        let Some(target) = sent.or(running.map(|a| a.target)) else { return };
        self.log.report_aim(PredictedAim { activation: key, tick: Some(tick), target });
    }

    /// Takes the target that the client of an activation chose for a tick. Keeps the target if the tick has not come,
    /// and runs the tick if it is owed. A target that is later than that is ignored.
    pub(crate) fn take_tick_data(
        &mut self,
        slot: usize,
        key: ActivationKey,
        tick: u32,
        target: Target,
    ) -> Result<(), Refusal> {
        let play = self.row(slot).play();
        let of = play.activations.iter().find(|a| a.key(key.who) == key).map(|a| a.seq).ok_or(Refusal::StaleHandle)?;
        let Some((_, def)) = self.ability_of(slot, of) else { return Err(Refusal::StaleHandle) };
        if !def.cast.is_some_and(|c| c.awaits_data) {
            return Err(Refusal::Authority);
        }
        let Some(cast) = self.row_mut(slot).play_mut().cast.as_deref_mut().filter(|c| c.of == of) else {
            return Ok(());
        };
        let seq = cast.seq;
        if cast.next == tick && tick <= cast.ticks {
            cast.data = Some(target);
        } else if cast.owed && cast.next - 1 == tick {
            cast.owed = false;
            // The tick has the same cause and draws the same random numbers as on time.
            let due = Due::timer(SimTime::ZERO, TimerKind::Cast, seq);
            self.cause = self.cause_of_timer(slot, due);
            let roll = self.roll_of_timer(slot, due);
            self.set_roll(roll);
            self.run_cast_tick(slot, seq, tick, Some(target));
        }
        Ok(())
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
    /// such cast, the call changes nothing. A client never interrupts: the server decides, and no client predicts it.
    pub(crate) fn interrupt_op(&mut self, who: ControllerId, which: Option<Which>) -> Result<(), Refusal> {
        let slot = self.slot(who)?;
        if self.work.role == Role::Client {
            return Err(Refusal::Authority);
        }
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
