//! Tests of the reference implementation, which must be correct before the runtime is compared with it.

use super::{Effect, EffectKey, NONE, Reference};
use crate::plan::{self, DAMAGE, HEALTH, Plan};
use crate::subject::Subject;
use crate::{check, workload};

impl Reference {
    /// Checks what must hold between operations.
    fn audit(&self) {
        for (who, row) in self.rows.iter().enumerate() {
            assert_eq!(row.modified, self.modifiers[who].attributes());
            let (mut slot, mut newer) = (row.newest, NONE);
            while slot != NONE {
                let effect = &self.effects[slot as usize];
                assert_eq!((effect.who as usize, effect.newer), (who, newer));
                assert!(
                    effect.sequence != Effect::FREE
                        && self.details[slot as usize].start <= self.now
                        && effect.end >= self.now
                );
                (newer, slot) = (slot, effect.older);
            }
        }
    }
}

fn one() -> Reference {
    let mut reference = Reference::new(1);
    reference.spawn_one();
    reference
}

#[test]
fn the_consistency_checks_find_no_fault() {
    assert_eq!(check::results::<Reference>(&Plan::new(150)).faults, Vec::<String>::new());
}

#[test]
fn the_lists_stay_consistent_while_effects_are_applied_and_expire() {
    let plan = Plan::new(20);
    let mut reference = workload::running::<Reference>(&plan);
    for _ in 0..4_000 {
        reference.advance(1);
        reference.audit();
    }
    assert!(reference.rows.iter().all(|row| row.newest == NONE));
    assert_eq!(reference.current(3, 4), plan::template()[4]);
}

#[test]
fn a_stale_key_removes_nothing() {
    let mut reference = one();
    let key = reference.apply(0, 0);
    assert_eq!(reference.current(0, 4), 105.0);
    reference.remove(key);
    reference.apply(0, 0);
    reference.remove(key);
    reference.remove((0, EffectKey::NONE));
    assert_eq!(reference.current(0, 4), 105.0);
}

#[test]
fn a_full_list_of_modifiers_spills() {
    let mut reference = one();
    let keys: Vec<_> = (0..20).map(|_| reference.apply(0, 0)).collect();
    assert_eq!(reference.current(0, 4), 200.0);
    keys.into_iter().for_each(|key| reference.remove(key));
    assert_eq!(reference.current(0, 4), 100.0);
    reference.audit();
}

#[test]
fn damage_stops_at_zero_and_immune_targets_refuse_it() {
    let mut reference = one();
    (0..200).for_each(|_| reference.hit(0));
    assert_eq!((reference.current(0, HEALTH), reference.base(0, HEALTH)), (0.0, 0.0));
    let mut reference = one();
    let immune = reference.add_tag(0, plan::IMMUNE);
    reference.hit(0);
    assert_eq!(reference.current(0, HEALTH), 100.0);
    reference.remove(immune);
    reference.hit(0);
    assert_eq!(reference.current(0, HEALTH), 99.0);
}

#[test]
fn a_lowered_cap_lowers_the_capped_attribute() {
    let mut reference = one();
    let definition = reference.rules.definitions[DAMAGE];
    let cause = Reference::cause(DAMAGE as u16, 0, 1, 0);
    let modifier = super::Modifier::new(0, super::Operation::Add, 0, -90.0);
    reference.write_base(0, &modifier, &cause);
    assert_eq!((reference.current(0, 0), reference.current(0, HEALTH), reference.base(0, HEALTH)), (60.0, 60.0, 100.0));
    // A lowering write starts from the clamped value, not from the base above the cap.
    reference.write_base(0, &definition.modifier, &cause);
    assert_eq!(reference.current(0, HEALTH), 59.0);
}
