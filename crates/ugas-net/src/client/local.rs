//! Abilities that run on this client only (`LocalOnly`). They run on a copy of their controller in a separate sim, so
//! they are never sent to the server or rolled back.

use super::facts::{Certainty, NetFacts};
use crate::message::Request;
use crate::policy::execution;
use ugas_core::{
    ControllerId, Fact, Facts, Host, OpId, Outcome, Refusal, SeedBlock, Sim, SimTime, Target, TriggerAction,
    UsedAbility,
};
use ugas_doc::NetExecution;

/// The sim of local abilities.
#[derive(Clone, Default)]
pub(crate) struct LocalAbilities {
    sim: Option<Sim>,
    facts: Facts,
    ops: u32,
}

/// The client number of local ops. No server assigns this number.
const LOCAL: u16 = u16::MAX;

impl LocalAbilities {
    /// Runs a request on a copy of the controller. While an ability is active on an older copy, that copy is used.
    pub(crate) fn run(&mut self, from: &Sim, request: &Request, out: &mut NetFacts) -> Result<Outcome, Refusal> {
        let who = request.who();
        let sim = self.sim.get_or_insert_with(|| local_sim(from));
        if sim.now() < from.now() {
            sim.advance_to(from.now());
        }
        let running = sim.activations(who).is_ok_and(|mut list| list.next().is_some());
        if !running {
            sim.remote_mut().remove_silently(who);
            sim.insert(&from.remote().snapshot(who)?).map_err(|_| Refusal::Mismatch)?;
            sim.remote_mut().set_roll_owner(who, LOCAL);
            sim.take_facts(&mut self.facts);
        }
        self.ops += 1;
        let id = OpId::new(LOCAL, self.ops, 0);
        let seed = sim.config().seed as u32 ^ self.ops.wrapping_mul(0x9e37_79b9);
        for grant in from.grants(who).unwrap_or_default() {
            let used = UsedAbility { who, ability: grant.ability };
            let next = sim.remote().next_use(used).unwrap_or(0);
            sim.remote_mut().add_use_seeds(used, next, [seed ^ grant.ability.0]);
        }
        let outcome = sim.run_as(id, &request.op());
        self.emit_facts(out);
        outcome
    }

    /// Activates local abilities that a fact about an owned controller triggers, and cancels local abilities whose
    /// trigger tag was removed.
    pub(crate) fn trigger(&mut self, from: &Sim, fact: &Fact, out: &mut NetFacts) {
        let is_local = |ability| execution(from, ability) == NetExecution::LocalOnly;
        for grant in from.grants(fact.who).unwrap_or_default().iter().filter(|g| is_local(g.ability)) {
            let (who, ability) = (fact.who, grant.ability);
            let request = match from.remote().triggered_by(ability, fact) {
                Some(TriggerAction::Activate) => Request::Activate { who, ability, target: Target::None },
                Some(TriggerAction::Cancel) => Request::Cancel { who, ability },
                None => continue,
            };
            // A triggered ability that cannot be activated is not an error.
            let _ = self.run(from, &request, out);
        }
    }

    /// Advances the time. A copy without active abilities is removed.
    pub(crate) fn advance(&mut self, to: SimTime, host: &mut dyn Host, out: &mut NetFacts) {
        let Some(sim) = &mut self.sim else { return };
        sim.advance_with(to, host);
        self.emit_facts(out);
        let Some(sim) = &mut self.sim else { return };
        for who in sim.controllers().collect::<Vec<ControllerId>>() {
            if sim.activations(who).is_ok_and(|mut list| list.next().is_none()) {
                sim.remote_mut().remove_silently(who);
            }
        }
    }

    /// Emits the facts of local ops. Other facts of a copy are not emitted: the original controller emits them.
    fn emit_facts(&mut self, out: &mut NetFacts) {
        let Some(sim) = &mut self.sim else { return };
        sim.take_facts(&mut self.facts);
        for fact in self.facts.list.iter().filter(|f| f.root.client() == LOCAL) {
            out.push(*fact, Some(&self.facts), Certainty::Local);
        }
    }
}

/// Returns an empty sim for local abilities. Its rolls affect no other machine, so one seed block for all times is
/// enough.
fn local_sim(from: &Sim) -> Sim {
    let mut sim = Sim::new(from.rules().clone(), from.config().clone());
    let (from, until, seed) = (SimTime(-1), SimTime::NEVER, from.config().seed);
    sim.remote_mut().add_seed_block(LOCAL, SeedBlock { from, until, seed });
    sim
}
