//! Costs, charges and commits of abilities.

use crate::kit::tasks::*;
use ugas_core::{AbilityGrant, Limits, SimConfig, SimTime, Spec, Target, Which};
use ugas_doc::{Ability, Calculation, CalculationResult, Charges, Effect, Trigger};

#[test]
fn an_ability_with_a_random_cost_is_refused() {
    let rules = base()
        .calc_fn("Calc_Roll", [], |cx| {
            let cost = -(cx.random() * 100.0).floor();
            cx.add("Mana", cost);
        })
        .add(Effect::instant("GE_Gamble").execute("Calc_Roll"))
        .add(Ability::new("GA").cost("GE_Gamble"))
        .build()
        .unwrap();
    for seed in 0..20 {
        let mut s = Stage::with(&rules, "GA", SimConfig { seed, ..SimConfig::default() });
        let mut why = Vec::new();
        s.sim.why_not(s.hero, Which::Ability(s.ability), Target::None, &mut why).unwrap();
        let refused = s.sim.activate(s.hero, s.ability, Target::None).unwrap_err();
        assert_eq!(refused.kind(), "RandomCost");
        assert_eq!(why.first().unwrap().refusal, refused);
        assert!(refused.describe(&rules).contains("Calc_Roll"));
    }
}

#[test]
fn data_that_rolls_in_a_commit_is_a_load_error() {
    let load = |text: &str| {
        let calc = Calculation::new("Calc_Luck").result(CalculationResult::add("Mana", text));
        let cost = Effect::instant("GE_Luck").execute("Calc_Luck");
        base().add(calc).add(cost).add(Ability::new("GA").cost("GE_Luck")).build()
    };
    assert!(load("0 - 5").is_ok());
    let error = load("if(roll(0.5), 0 - 5, 0 - 10)").unwrap_err();
    let issue = error.issues.iter().find(|i| i.code == "roll-on-commit").unwrap();
    assert!(issue.message.contains("GE_Luck") && issue.message.contains("Calc_Luck"), "{issue:?}");
}

#[test]
fn a_charge_refusal_clears_when_enough_charges_are_back() {
    let ready = |max, cost| {
        let mut a = Ability::new("GA").task(wait(0.1));
        a.charges =
            Some(Charges { max, cost: Some(cost), per_cooldown: Some(1), cooldown: 10.0, predict_length: None });
        let mut s = Stage::new(&rules_with(a), "GA");
        let _ = s.sim.activate(s.hero, s.ability, Target::None);
        go(&mut s.sim, 1.0);
        s.sim.castable(s.hero, s.grant).unwrap().ready_at
    };
    assert_eq!(ready(2, 2), Some(SimTime::seconds(20.0)));
    assert_eq!(ready(3, 2), Some(SimTime::seconds(10.0)));
    assert_eq!(ready(1, 2), None, "there will never be enough");
}

// One refused commit does not stop the others.
#[test]
fn a_commit_of_several_activations_tries_each_of_them() {
    let rules = base()
        .add(Effect::instant("GE_Price").add("Mana", -30.0))
        .add(Ability::new("GA").manual().multiple().cost("GE_Price").task(wait(9.0)))
        .build()
        .unwrap();
    let mut s = Stage::new(&rules, "GA");
    for _ in 0..3 {
        s.activate();
    }
    assert_eq!(s.get("Mana"), 50.0);
    let refused = s.sim.commit(s.hero, Which::Ability(s.ability)).unwrap_err();
    assert_eq!(refused.kind(), "Cost");
    assert_eq!(s.get("Mana"), 20.0);
    let committed: Vec<bool> = s.sim.activations(s.hero).unwrap().map(|a| a.committed).collect();
    assert_eq!(committed, [true], "those that were refused are cancelled");
}

#[test]
fn a_refused_commit_keeps_notices_queued_before_it() {
    // GA_Watch waits for the end of GA. GA_Try is triggered by the tag that ends GA, and its commit is refused late.
    let cost =
        Effect { remove_effects_with_tags: vec!["State.None".into()], ..Effect::instant("GE_Odd").add("Mana", -1.0) };
    let rules = base()
        .add(cost)
        .add(Effect::infinite("GE_Silence").grants("State.Silenced"))
        .add(Ability::new("GA").cancels("State.Silenced").task(wait(99.0)))
        .add(Ability::new("GA_Watch").task(task("WaitAbilityEnded").param("Ability", "GA")).task(mark("GE_Mark")))
        .add(
            Ability::new("GA_Try")
                .trigger(Trigger::tag_added("State.Silenced"))
                .cost("GE_Odd")
                .owned("State.Buff")
                .task(wait(9.0)),
        )
        .build()
        .unwrap();
    let limits = Limits { effects_per_controller: 1, ..Limits::default() };
    let mut s = Stage::with(&rules, "GA", SimConfig { limits, ..SimConfig::default() });
    for name in ["GA_Watch", "GA_Try"] {
        s.sim.grant(s.hero, AbilityGrant::new(ability(&rules, name))).unwrap();
    }
    s.activate();
    s.sim.activate(s.hero, ability(&rules, "GA_Watch"), Target::None).unwrap();
    s.sim.apply(&Spec::new(rules.effect("GE_Silence").unwrap(), s.hero)).unwrap();
    assert_eq!(s.get("AttackPower"), 11.0, "GA_Watch was not notified of the end of GA");
}
