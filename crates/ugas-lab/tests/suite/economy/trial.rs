//! Rules with one ability for each thing that the shipped packs do not have and that a client could exploit: a rare
//! random reward, a wind-up that an animation ends, a recovery that the client may not cancel, a commit at the hit, a
//! commit when the input is released, a budget of applications by the client, and answers that the client may give only later, or not, or only without a
//! timeline.

use std::collections::BTreeMap;
use ugas_doc::{Ability, AbilityTask, Attribute, AttributeSet, Category, Doc, Effect, Magnitude, Timeline, Value};

fn task(name: &str) -> AbilityTask {
    AbilityTask::new(name)
}

fn to_target(effect: &str) -> AbilityTask {
    task("ApplyEffectToTarget").param("EffectClass", effect)
}

fn to_owner(effect: &str) -> AbilityTask {
    task("ApplyEffectToOwner").param("EffectClass", effect)
}

fn aim() -> AbilityTask {
    task("WaitTargetData").param("TargetingMethod", "Trace")
}

fn delay(seconds: f64) -> AbilityTask {
    task("WaitDelay").param("Duration", seconds)
}

fn resource(name: &str, value: f64) -> Attribute {
    Attribute { category: Category::Resource, ..Attribute::new(name, value).min(0.0) }
}

pub(crate) fn docs() -> Vec<Doc> {
    let vitals = AttributeSet::new("Vitals")
        .with(resource("Health", 100_000.0))
        .with(resource("Mana", 60.0))
        .with(resource("Gold", 0.0))
        .with(Attribute::new("MoveSpeed", 6.0));
    let mut luck = Effect::instant("GE_Luck").add("Gold", 10.0);
    luck.application_chance = Some(Magnitude::value(0.05));
    let mut docs: Vec<Doc> = vec![
        vitals.into(),
        Effect::instant("GE_Cost").add("Mana", -10.0).into(),
        Effect::instant("GE_Hit").add("Health", -10.0).into(),
        Effect::instant("GE_Heavy").add("Health", -50.0).into(),
        Effect::instant("GE_Smash").add("Health", -20.0).into(),
        Effect::instant("GE_Judge").add("Health", -40.0).into(),
        Effect::instant("GE_Heal").add("Health", 20.0).into(),
        Effect::instant("GE_Charge").add("Health", -30.0).into(),
        Effect::instant("GE_Prayer").add("Health", 40.0).into(),
        Effect::instant("GE_Swing").add("Health", -60.0).into(),
        Effect::infinite("GE_Shield").grants("State.Shielded").into(),
        Effect::lasting("GE_BoltCooldown", 0.5).grants("Cooldown.Bolt").into(),
        Effect::lasting("GE_LuckyCooldown", 0.25).grants("Cooldown.Lucky").into(),
        Effect::instant("GE_Loose").add("Health", -35.0).into(),
        Effect::lasting("GE_LooseCooldown", 1.0).grants("Cooldown.Loose").into(),
        Effect::lasting("GE_JudgeCooldown", 1.0).grants("Cooldown.Judge").into(),
        Timeline::new("TL_Windup", 1.0).montage("Anim_Windup").into(),
        luck.into(),
    ];
    docs.extend(abilities().into_iter().map(Doc::from));
    docs.extend(actors());
    docs
}

fn abilities() -> Vec<Ability> {
    let mut smash = Ability::new("GA_Smash").range(3.0).task(to_target("GE_Smash")).task(delay(1.0));
    smash.client_may_cancel = Some(false);
    let mut shield = Ability::new("GA_Shield")
        .task(to_owner("GE_Shield"))
        .task(task("WaitInputRelease"))
        .task(task("RemoveEffectFromOwner").param("EffectClass", "GE_Shield"));
    shield.on_cancel.push(task("RemoveEffectFromOwner").param("EffectClass", "GE_Shield"));
    let budget = BTreeMap::from([
        ("EffectClass".to_owned(), Value::from("GE_Hit")),
        ("Total".to_owned(), Value::from(3.0)),
        ("PerTarget".to_owned(), Value::from(2.0)),
    ]);
    let volley = delay(1.0).param("ClientEffects", Value::List(vec![Value::Map(budget)]));
    vec![
        Ability::new("GA_Volley").range(30.0).cooldown("GE_BoltCooldown").task(volley),
        Ability::new("GA_Bolt").range(30.0).cost("GE_Cost").cooldown("GE_BoltCooldown").task(to_target("GE_Hit")),
        Ability::new("GA_Lucky").cooldown("GE_LuckyCooldown").task(to_owner("GE_Luck")),
        Ability::new("GA_Beam").range(30.0).task(delay(3.0)).task(to_target("GE_Heavy")),
        Ability::new("GA_Windup")
            .range(30.0)
            .task(task("PlayMontage").param("MontageToPlay", "Anim_Windup"))
            .task(task("WaitMontageEnded").param("Montage", "Anim_Windup"))
            .task(to_target("GE_Heavy")),
        Ability::new("GA_Judge")
            .range(3.0)
            .manual()
            .cost("GE_Cost")
            .cooldown("GE_JudgeCooldown")
            .task(delay(0.4))
            .task(task("CommitAbility"))
            .task(to_target("GE_Judge")),
        Ability::new("GA_Heal").charges(2, 2.0).task(to_owner("GE_Heal")),
        Ability::new("GA_Jab").range(3.0).gcd(0.5).task(to_target("GE_Hit")),
        Ability::new("GA_Kick").range(3.0).gcd(0.5).task(to_target("GE_Hit")),
        Ability::new("GA_Charge").range(30.0).task(aim().param("ClientAnswersAfter", 1.0)).task(to_target("GE_Charge")),
        Ability::new("GA_Prayer").task(aim().param("ClientAnswers", false)).task(to_owner("GE_Prayer")),
        Ability::new("GA_Swing")
            .range(30.0)
            .task(task("PlayMontage").param("MontageToPlay", "Anim_Windup"))
            .task(task("WaitMontageEnded").param("Montage", "Anim_Windup").param("ClientAnswers", true))
            .task(to_target("GE_Swing")),
        // A shot that commits when the input is released.
        Ability::new("GA_Loose")
            .range(30.0)
            .manual()
            .cooldown("GE_LooseCooldown")
            .task(task("WaitInputRelease"))
            .task(task("CommitAbility"))
            .task(to_target("GE_Loose")),
        smash,
        shield,
    ]
}

/// The templates of the cheater and of the other actors.
fn actors() -> Vec<Doc> {
    const TEXT: &str = "
Kind: gameplay_controller
OwnerActor: {ActorID: Hero, ActorType: PlayerCharacter}
AttributeSets: [{Name: Vitals}]
GrantedAbilities:
  - {AbilityClass: GA_Bolt, Level: 1, InputID: Primary}
  - {AbilityClass: GA_Lucky, Level: 1}
  - {AbilityClass: GA_Volley, Level: 1}
  - {AbilityClass: GA_Beam, Level: 1}
  - {AbilityClass: GA_Windup, Level: 1, InputID: Ability1}
  - {AbilityClass: GA_Judge, Level: 1}
  - {AbilityClass: GA_Heal, Level: 1}
  - {AbilityClass: GA_Charge, Level: 1}
  - {AbilityClass: GA_Prayer, Level: 1}
  - {AbilityClass: GA_Swing, Level: 1}
  - {AbilityClass: GA_Jab, Level: 1}
  - {AbilityClass: GA_Kick, Level: 1}
  - {AbilityClass: GA_Smash, Level: 1}
  - {AbilityClass: GA_Shield, Level: 1, InputID: Ability2}
  - {AbilityClass: GA_Loose, Level: 1, InputID: Ability3}
ReplicationMode: Mixed
---
Kind: gameplay_controller
OwnerActor: {ActorID: Foe, ActorType: Enemy}
AttributeSets: [{Name: Vitals}]
ReplicationMode: Mixed
";
    ugas_data::read_str("trial.yaml", TEXT).unwrap().docs.into_iter().map(|loaded| loaded.doc).collect()
}
