//! Hot reload of rows that read each other: captured values and live modifiers while the rows move to the new rules.

use ugas_core::*;
use ugas_doc::*;

fn rules(b: RulesBuilder, exec: bool) -> RulesBuilder {
    let e = Effect::infinite("GE_Bleed").every(1.0);
    let e = if exec { e.execute("ExecCalc_B") } else { e };
    let b = b
        .add(AttributeSet::new("X").with(Attribute::new("Xa", 1.0)))
        .add(AttributeSet::new("T").with(Attribute::new("Ta", 1.0)))
        .add(AttributeSet::new("S").with(Attribute::new("Power", 7.0)))
        .add(e);
    b.calc_fn("ExecCalc_B", [Read::source("Power").on_application()], |cx| {
        let p = cx.source("Power");
        cx.add("Ta", p)
    })
}

fn go(spare: bool) {
    let r = rules(Rules::builder(), false).build().unwrap();
    let mut sim = Sim::new(r.clone(), SimConfig::default());
    let mk = |sim: &mut Sim, n: &str| sim.spawn(SpawnSpec::sets([r.set(n).unwrap()])).unwrap();
    let x = if spare { Some(mk(&mut sim, "X")) } else { None };
    let (t, s) = (mk(&mut sim, "T"), mk(&mut sim, "S"));
    if let Some(x) = x {
        sim.despawn(x).unwrap();
    }
    let mut spec = Spec::new(r.effect("GE_Bleed").unwrap(), t);
    spec.source = s;
    sim.apply(&spec).unwrap();
    let next = rules(Rules::builder().after(r.clone()), true).build().unwrap();
    sim.reload(next).unwrap();
    sim.advance_to(SimTime::seconds(1.5));
    assert_eq!(sim.get(t, r.attribute("Ta").unwrap()), Ok(8.0));
}

#[test]
fn a_new_capture_reads_a_source_row_that_is_migrated_later() {
    go(true);
}

#[test]
fn a_new_capture_is_taken_at_the_reload() {
    let rules = |b: RulesBuilder, exec: bool| {
        let e = Effect::infinite("GE_Bleed").every(1.0);
        let e = if exec { e.execute("ExecCalc_B") } else { e };
        b.add(AttributeSet::new("S").with(Attribute::new("Power", 7.0)))
            .add(AttributeSet::new("T").with(Attribute::new("Ta", 1.0)))
            .add(Effect::infinite("GE_Strong").add("Power", 100.0))
            .add(e)
            .calc_fn("ExecCalc_B", [Read::source("Power").on_application()], |cx| {
                let p = cx.source("Power");
                cx.add("Ta", p)
            })
    };
    let r = rules(Rules::builder(), false).build().unwrap();
    let mut sim = Sim::new(r.clone(), SimConfig::default());
    let t = sim.spawn(SpawnSpec::sets([r.set("T").unwrap()])).unwrap();
    let s = sim.spawn(SpawnSpec::sets([r.set("S").unwrap()])).unwrap();
    let mut spec = Spec::new(r.effect("GE_Bleed").unwrap(), t);
    spec.source = s;
    sim.apply(&spec).unwrap();
    sim.reload(rules(Rules::builder().after(r.clone()), true).build().unwrap()).unwrap();
    sim.apply(&Spec::new(r.effect("GE_Strong").unwrap(), s)).unwrap();
    sim.advance_to(SimTime::seconds(1.5));
    assert_eq!(sim.get(t, r.attribute("Ta").unwrap()).unwrap(), 8.0, "captured at reload");
}

#[test]
fn a_live_modifier_updates_for_a_newly_added_attribute() {
    let rules = |b: RulesBuilder, more: bool| {
        let s = AttributeSet::new("B").with(Attribute::new("Bb", 1.0));
        let s = if more { s.with(Attribute::new("Power", 50.0)) } else { s };
        b.add(AttributeSet::new("A").with(Attribute::new("Power", 7.0)))
            .add(s)
            .add(AttributeSet::new("T").with(Attribute::new("Ta", 1.0)))
            .add(Effect::infinite("GE_Live").add("Ta", Magnitude::attribute("Power")))
    };
    let r = rules(Rules::builder(), false).build().unwrap();
    let mut sim = Sim::new(r.clone(), SimConfig::default());
    let t = sim.spawn(SpawnSpec::sets([r.set("T").unwrap()])).unwrap();
    let s = sim.spawn(SpawnSpec::sets([r.set("A").unwrap(), r.set("B").unwrap()])).unwrap();
    let mut spec = Spec::new(r.effect("GE_Live").unwrap(), t);
    spec.source = s;
    sim.apply(&spec).unwrap();
    let ta = r.attribute("Ta").unwrap();
    assert_eq!(sim.get(t, ta).unwrap(), 8.0);
    sim.run(Op::RemoveSet { who: s, set: r.set("A").unwrap(), force: true }).unwrap();
    assert_eq!(sim.get(t, ta).unwrap(), 8.0);
    sim.reload(rules(Rules::builder().after(r.clone()), true).build().unwrap()).unwrap();
    assert_eq!(sim.get(s, r.attribute("Power").unwrap()).unwrap(), 50.0);
    assert_eq!(sim.get(t, ta).unwrap(), 51.0);
}
