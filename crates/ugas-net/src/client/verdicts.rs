//! The verdicts of a packet: which commands the server ran or rejected, which abilities they activated, and the
//! numbers of their next uses.

use super::{Client, PendingCommand};
use crate::message::{MAX_USE_SEEDS, USE_BITS, USE_MASK};
use crate::server::{MAX_ACTIVATED, MAX_VERDICTS};
use crate::types::Tick;
use crate::wire::bits::{BitReader, WireError};
use crate::wire::number::get_uint_to;
use ugas_core::{AbilityId, Fact, FactKind, OpId, Sim, SimTime, UsedAbility};

/// The verdict of a command.
pub(super) struct CommandVerdict {
    pub(super) base: u32,
    pub(super) sub: u16,
    /// The abilities that the command activated; `None` if the command was rejected.
    pub(super) activated: Option<Vec<AbilityId>>,
    /// For each activated ability whose uses are numbered, the low bits of the number of its next use.
    pub(super) next_uses: Vec<(AbilityId, u8)>,
}

/// What the verdicts of a packet changed.
#[derive(Default)]
pub(super) struct AppliedVerdicts {
    /// Whether a predicted command was rejected.
    pub(super) is_rejected: bool,
    /// The undone facts about remote actors.
    pub(super) undone: Vec<Fact>,
    /// The low bits of the numbers of the next uses on the server.
    pub(super) next_uses: Vec<(UsedAbility, u8)>,
}

impl Client {
    /// Applies the verdicts of a packet.
    pub(super) fn apply_verdicts(&mut self, verdicts: &[CommandVerdict], tick: Tick) -> AppliedVerdicts {
        let AppliedVerdicts { mut is_rejected, mut undone, next_uses: mut numbers } = AppliedVerdicts::default();
        for CommandVerdict { base, sub, activated, next_uses } in verdicts {
            let of = |p: &PendingCommand| (p.command.base, p.command.sub) == (*base, *sub);
            let Some(at) = self.pending.iter().position(of) else { continue };
            let Some(pending) = self.pending.remove(at) else { continue };
            let id = pending.id;
            let who = pending.command.request.who();
            numbers.extend(next_uses.iter().map(|&(ability, low)| (UsedAbility { who, ability }, low)));
            self.pending_facts.accept(id, tick);
            let rejected = self.keys.apply_verdict(id, activated.as_deref().unwrap_or_default());
            if activated.is_some() && !rejected.is_empty() {
                // The server accepted the command, but not every activation that the client predicted for it.
                let sim = &self.sim;
                let is_rejected_fact = |f: &Fact| f.root == id && is_of(sim, f, &rejected);
                undone.extend(self.pending_facts.undo(is_rejected_fact, &mut self.out));
                if self.keys.first(id).is_some_and(|first| rejected.contains(&first)) {
                    self.queue_mispredicted(id, &pending.command);
                }
            }
            if activated.is_none() {
                self.counts.rejected += 1;
                if pending.is_predicted {
                    is_rejected = true;
                    let op = pending.command.request.op();
                    let mut remote = self.sim.remote_mut();
                    remote.discard_op(id, &op);
                    if pending.has_effect {
                        remote.discard_actions(id);
                        remote.discard_uses(id);
                    }
                    // The facts of a command without an effect are about its input.
                    let is_of = |f: &Fact| f.root == id && (pending.has_effect || is_input(f));
                    undone.extend(self.pending_facts.undo(is_of, &mut self.out));
                    self.queue_mispredicted(id, &pending.command);
                }
            }
        }
        AppliedVerdicts { is_rejected, undone, next_uses: numbers }
    }

    /// Gives the uses of abilities the numbers that the server gave them. The numbers differ after a misprediction. Returns
    /// whether a number changed, so that the rolls of predicted commands may change.
    pub(super) fn renumber_uses(&mut self, numbers: &[(UsedAbility, u8)], tick: Tick) -> bool {
        let (pending, rows, time, mut is_changed) = (&self.pending, &self.rows, tick.time(self.length), false);
        // An ability whose validation is pending has not drawn on the server.
        let is_pending = |op: OpId| {
            pending.iter().any(|p| p.id == op) || rows.iter().any(|row| row.pending_validations.contains(&op))
        };
        let is_open = |op: OpId, drawn: SimTime| drawn > time || is_pending(op);
        // A packet has one number for each ability, which it repeats for each command.
        for (at, &(used, low)) in numbers.iter().enumerate() {
            if numbers[..at].iter().all(|n| n.0 != used) {
                let next = |expected| nearest_use(expected, low);
                is_changed |= self.sim.remote_mut().renumber_uses(used, is_open, next);
            }
        }
        is_changed
    }

    /// Receives the seeds of the next uses of an ability, and the server's number of the next use. The client takes
    /// over this number only if it has none, or if its own number differs so much that the low bits in a verdict cannot
    /// correct it.
    pub(super) fn receive_use_seeds(&mut self, used: UsedAbility, next: u32, first: u32, seeds: Vec<u32>) {
        let is_owned = self.rows.iter().any(|row| row.who == used.who);
        if !is_owned || self.sim.ability_doc(used.ability).is_none() || seeds.len() > MAX_USE_SEEDS {
            self.counts.malformed += 1;
            return;
        }
        let is_new = self.sim.remote().next_use(used).is_none();
        let mut remote = self.sim.remote_mut();
        remote.add_use_seeds(used, first, seeds);
        let is_far = |expected: u32| is_new || expected.abs_diff(next) > USE_MASK as u32 / 2;
        remote.renumber_uses(used, |_, _| false, |expected| if is_far(expected) { next } else { expected });
    }
}

/// Returns whether a fact is about an input.
fn is_input(fact: &Fact) -> bool {
    matches!(fact.kind, FactKind::Input { .. })
}

/// Returns whether one of these abilities caused a fact.
fn is_of(sim: &Sim, fact: &Fact, abilities: &[AbilityId]) -> bool {
    sim.chain(fact.link).iter().filter_map(|link| link.what.ability()).any(|a| abilities.contains(&a))
}

/// Returns the use number with these low bits that is nearest to `expected`.
fn nearest_use(expected: u32, low: u8) -> u32 {
    let range = USE_MASK as u32 + 1;
    let ahead = u32::from(low).wrapping_sub(expected) % range;
    if ahead < range / 2 { expected.wrapping_add(ahead) } else { expected.wrapping_add(ahead).wrapping_sub(range) }
}

/// Reads the verdicts of a packet.
pub(super) fn read_verdicts(from: &mut BitReader) -> Result<Vec<CommandVerdict>, WireError> {
    let mut verdicts = Vec::new();
    for _ in 0..get_uint_to(from, MAX_VERDICTS, "verdicts")? {
        let base = get_uint_to(from, u32::MAX as u64, "a base")? as u32;
        let sub = get_uint_to(from, u16::MAX as u64, "a sub")? as u16;
        let (mut activated, mut next_uses) = (None, Vec::new());
        if !from.bit()? {
            let activated = activated.insert(Vec::new());
            for _ in 0..get_uint_to(from, MAX_ACTIVATED, "activations")? {
                let ability = AbilityId(get_uint_to(from, u32::MAX as u64, "an ability")? as u32);
                activated.push(ability);
                if from.bit()? {
                    next_uses.push((ability, from.bits(USE_BITS)? as u8));
                }
            }
        }
        verdicts.push(CommandVerdict { base, sub, activated, next_uses });
    }
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::nearest_use;
    use crate::client::CommandStatus;
    use crate::harness::Harness;
    use crate::link::LinkProfile;
    use crate::message::{Request, ToClient};
    use crate::server::{NOTHING, Secret, Server, ServerConfig};
    use crate::view::ActorList;
    use crate::wire::bits::BitWriter;
    use crate::wire::number::{put_int, put_uint};
    use ugas_core::{AbilityGrant, Op, Rules, Sim, SimConfig, SpawnSpec, Target, UsedAbility};
    use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Effect};

    /// Returns a packet of the server that contains only verdicts.
    fn packet(verdicts: &[(u32, u16, bool)]) -> Vec<u8> {
        let mut out = BitWriter::new();
        out.bit(true);
        put_int(&mut out, 2);
        // No seeds.
        out.bit(false);
        put_uint(&mut out, verdicts.len() as u64);
        for &(base, sub, refused) in verdicts {
            put_uint(&mut out, base as u64);
            put_uint(&mut out, sub as u64);
            out.bit(refused);
            if !refused {
                put_uint(&mut out, 0);
            }
        }
        out.bit(false);
        out.bit(false);
        out.bits(NOTHING, 2);
        ActorList::default().close(&mut out);
        ActorList::default().close(&mut out);
        out.finish().to_vec()
    }

    /// A hero with an ability of Ana, after she joined.
    fn joined() -> (Harness, ugas_core::ControllerId, ugas_core::AbilityId) {
        let set = AttributeSet::new("S").with(Attribute::new("Mana", 100.0));
        let cost = Effect::instant("GE_Cost").add("Mana", -1.0);
        let luck = Effect { application_chance: Some(0.5.into()), ..Effect::instant("GE_Luck").add("Mana", 1.0) };
        let apply = AbilityTask::new("ApplyEffectToOwner").param("EffectClass", "GE_Luck");
        let ability = Ability::new("GA").cost("GE_Cost").task(apply);
        let rules = Rules::builder().add(set).add(cost).add(luck).add(ability).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let ability = rules.ability("GA").unwrap();
        sim.run(Op::Grant { who, grant: AbilityGrant::new(ability) }).unwrap();
        let mut net = Harness::new(Server::new(sim, ServerConfig::default(), Secret::known(1)), 1);
        net.join("Ana", LinkProfile::round_trip(100, 0), &[who]).unwrap();
        net.run(60);
        (net, who, ability)
    }

    #[test]
    fn a_roll_that_is_unknown_is_left_to_the_server_and_the_rest_is_predicted() {
        let (mut net, who, ability) = joined();
        let mana = net.server().sim().rules().attribute("Mana").unwrap();
        let ask = || Request::Activate { who, ability, target: Target::None };
        let mut lucky = 0;
        for is_known in (0..40).map(|n| n % 2 == 0) {
            let before = net.client("Ana").sim().get(who, mana).unwrap();
            let ana = net.client_mut("Ana");
            if !is_known {
                ana.sim.remote_mut().remove_uses(who);
            }
            assert!(matches!(ana.command(ask()), Ok(CommandStatus::Predicted(..))));
            let predicted = ana.sim().get(who, mana).unwrap() - before;
            let corrections = ana.counts().corrections;
            net.run(90);
            let ana = net.client("Ana");
            let result = ana.sim().get(who, mana).unwrap() - before;
            assert_eq!(net.server().sim().get(who, mana), ana.sim().get(who, mana));
            assert_eq!(predicted, if is_known { result } else { -1.0 }, "the cost is predicted");
            assert_eq!(ana.counts().corrections - corrections, u64::from(predicted != result));
            lucky += (result > -1.0) as u32;
            // The server reveals the seeds again.
            let used = UsedAbility { who, ability };
            let next = net.server().sim().remote().next_use(used).unwrap();
            let seeds = (next..next + 4).map(|n| Secret::known(1).seed_of_use(used, n)).collect();
            let (first, tick) = (next, net.server().tick());
            net.client_mut("Ana").receive_message(ToClient::UseSeeds { who, ability, next, first, seeds }, tick);
        }
        assert!((5..35).contains(&lucky), "{lucky}");
    }

    #[test]
    fn a_client_takes_over_the_servers_numbers_of_uses_with_the_next_verdict() {
        let (mut net, who, ability) = joined();
        let mana = net.server().sim().rules().attribute("Mana").unwrap();
        let group = UsedAbility { who, ability };
        let next = |sim: &Sim| sim.remote().next_use(group).unwrap();
        for wrong_by in [-2_i32, 5, 1, -1, 3, -4] {
            // Each of these uses is in flight when the verdict of the first arrives.
            net.client_mut("Ana").sim.remote_mut().renumber_uses(
                group,
                |_, _| false,
                |next| next.wrapping_add_signed(wrong_by),
            );
            for _ in 0..3 {
                let ask = Request::Activate { who, ability, target: Target::None };
                net.client_mut("Ana").command(ask).unwrap();
                net.run(4);
            }
            net.run(60);
            assert_eq!(next(net.client("Ana").sim()), next(net.server().sim()), "{wrong_by}");
            // Now the predictions are right.
            let corrections = net.client("Ana").counts().corrections;
            for _ in 0..10 {
                let ask = Request::Activate { who, ability, target: Target::None };
                net.client_mut("Ana").command(ask).unwrap();
                net.run(3);
            }
            net.run(60);
            assert_eq!(net.client("Ana").counts().corrections, corrections, "{wrong_by}");
            assert_eq!(net.client("Ana").sim().get(who, mana), net.server().sim().get(who, mana));
        }
    }

    #[test]
    fn the_number_of_a_use_is_the_nearest_with_these_low_bits() {
        for expected in [0_u32, 5, 31, 32, 63, 64, 1000, u32::MAX - 3] {
            for difference in -32_i32..32 {
                let number = expected.wrapping_add_signed(difference);
                assert_eq!(nearest_use(expected, (number & 63) as u8), number, "{expected} {difference}");
            }
        }
    }

    // covers: UGAS-13.5-03
    #[test]
    fn verdicts_for_unknown_or_decided_keys_are_ignored() {
        let (mut net, who, ability) = joined();
        let ask = || Request::Activate { who, ability, target: Target::None };
        net.client_mut("Ana").command(ask()).unwrap();
        net.run(30);
        let ana = net.client_mut("Ana");
        assert_eq!(
            (ana.pending_commands(), ana.journal_entries(), ana.pending_facts.len()),
            (0, 0, 0),
            "decided commands are dropped"
        );
        ana.command(ask()).unwrap();
        ana.take_facts(&mut super::super::NetFacts::default());
        let state = |ana: &super::Client| {
            let facts = (ana.pending_facts.len(), ana.out.facts.list.len());
            let status = ana.predictions().map(|p| p.status).collect::<Vec<_>>();
            (
                ana.sim.row_hash(who).unwrap(),
                ana.pending.len(),
                ana.journal_entries(),
                facts,
                status,
                ana.counts().rejected,
            )
        };
        let before = state(ana);
        let tick = net.server().tick();
        let ana = net.client_mut("Ana");
        // The first key is decided; the others are unknown.
        for verdicts in [[(1, 0, true), (1, 0, false)], [(77, 0, true), (77, 9, false)], [(0, 0, true), (2, 1, true)]] {
            ana.read(&packet(&verdicts), tick).unwrap();
            assert_eq!(state(ana), before, "{verdicts:?}");
        }
        // The verdict of the pending command is applied.
        ana.read(&packet(&[(2, 0, true)]), tick).unwrap();
        assert_ne!(state(ana), before);
        // The client reports the misprediction with a command of its own.
        assert_eq!((ana.pending_commands(), ana.counts().rejected), (1, 1));
    }
}
