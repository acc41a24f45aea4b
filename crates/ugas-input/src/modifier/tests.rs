use super::*;

fn step(doc: InputModifier) -> Step {
    compile(&doc, None, &CustomModifiers::new()).unwrap()
}

fn modifier(kind: ModifierType) -> InputModifier {
    InputModifier::new("IM", kind)
}

fn through(doc: InputModifier, value: [f64; 3]) -> [f64; 3] {
    run(&[step(doc)], value, 3, false)
}

fn near(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3)
}

fn dead_zone(shape: &str) -> InputModifier {
    let doc = modifier(ModifierType::DeadZone).with("InnerThreshold", 0.15).with("OuterThreshold", 0.95);
    doc.with("DeadZoneShape", shape)
}

// covers: UGAS-11.6-01
#[test]
fn a_dead_zone_is_zero_inside_one_outside_and_rescaled_between() {
    assert_eq!(through(dead_zone("Radial"), [0.1, 0.1, 0.0]), [0.0; 3]);
    assert!((length(through(dead_zone("Radial"), [0.96, 0.0, 0.0])) - 1.0).abs() < 1e-12);
    assert!(near(through(dead_zone("Radial"), [0.55, 0.0, 0.0]), [0.5, 0.0, 0.0]));
    assert!(near(through(dead_zone("Axial"), [0.55, 0.1, -0.99]), [0.5, 0.0, -1.0]));
}

// covers: UGAS-11.6-02 UGAS-11.6-04 UGAS-11.6-05 UGAS-11.6-06
#[test]
fn factors_signs_and_orders_change_each_axis() {
    let both = modifier(ModifierType::Sensitivity).with("Multiplier", 2.0).with("MultiplierX", 1.5);
    assert_eq!(through(both, [1.0, 1.0, 0.0]), [3.0, 2.0, 0.0]);
    let invert = modifier(ModifierType::AxisInvert).with("InvertY", true);
    assert_eq!(through(invert, [0.3, 0.4, 0.0]), [0.3, -0.4, 0.0]);
    assert_eq!(through(modifier(ModifierType::AxisInvert), [0.3, 0.4, 0.0]), [0.3, 0.4, 0.0]);
    let scale = modifier(ModifierType::AxisScale).with("ScaleX", 2.0);
    assert_eq!(through(scale, [1.0, 1.0, 1.0]), [2.0, 1.0, 1.0]);
    let swizzle = modifier(ModifierType::AxisSwizzle).with("SwizzleOrder", "YXZ");
    assert_eq!(through(swizzle, [1.0, 2.0, 3.0]), [2.0, 1.0, 3.0]);
}

// covers: UGAS-11.6-03
#[test]
fn response_curves_keep_the_sign() {
    let curve = |kind: &str| modifier(ModifierType::ResponseCurve).with("CurveType", kind);
    let exponential = || curve("Exponential").with("Exponent", 2.5);
    assert!(near(through(exponential(), [0.5, -0.5, 0.0]), [0.1768, -0.1768, 0.0]));
    assert_eq!(through(curve("SCurve"), [0.5, -1.0, 1.0]), [0.5, -1.0, 1.0]);
    assert_eq!(through(curve("Linear"), [0.3, 0.0, 0.0])[0], 0.3);
    let point = |x: f64, y: f64| Value::Map([("In".into(), x.into()), ("Out".into(), y.into())].into());
    let custom = curve("Custom").with("CurvePoints", vec![point(0.0, 0.0), point(1.0, 2.0)]);
    assert_eq!(through(custom, [0.5, -0.5, 3.0]), [1.0, -1.0, 2.0]);
}

// covers: UGAS-11.6-07 UGAS-11.6-08 UGAS-11.6-10
#[test]
fn lengths_are_limited_or_one() {
    let radial = || modifier(ModifierType::RadialScaling).with("MaxRadius", 1.0);
    assert!(near(through(radial(), [1.0, 1.0, 0.0]), [0.707, 0.707, 0.0]));
    assert_eq!(through(radial(), [0.3, 0.0, 0.0]), [0.3, 0.0, 0.0]);
    assert_eq!(through(modifier(ModifierType::Normalize), [3.0, 4.0, 0.0]), [0.6, 0.8, 0.0]);
    assert_eq!(through(modifier(ModifierType::Normalize), [0.0; 3]), [0.0; 3]);
    let clamp = modifier(ModifierType::Clamp).with("Min", -1.0).with("Max", 1.0);
    assert_eq!(through(clamp, [3.0, -3.0, 0.5]), [1.0, -1.0, 0.5]);
}

// covers: UGAS-11.6-09
#[test]
fn a_threshold_is_exclusive_and_may_release_lower() {
    let pressed =
        |doc: &InputModifier, x: f64, before: bool| run(&[step(doc.clone())], [x, 0.0, 0.0], 1, before)[0] == 1.0;
    let plain = modifier(ModifierType::TriggerThreshold);
    let at = [0.4, 0.5, 0.6].map(|x| pressed(&plain, x, false));
    assert_eq!(at, [false, false, true]);
    assert!(!pressed(&plain, 0.5, true), "without ReleaseThreshold the two limits are one");
    let sticky = plain.with("PressThreshold", 0.6).with("ReleaseThreshold", 0.3);
    assert_eq!([0.5, 0.31, 0.3].map(|x| pressed(&sticky, x, true)), [true, true, false]);
    assert!(!pressed(&sticky, 0.5, false));
}

struct Doubled;
impl CustomModifier for Doubled {
    fn apply(&self, value: [f64; 3], _: &BTreeMap<String, Value>) -> [f64; 3] {
        value.map(|number| 2.0 * number)
    }
}

// covers: UGAS-11.6-11
#[test]
fn a_custom_modifier_is_code_and_an_unknown_one_is_an_error() {
    let custom = CustomModifiers::from([("Doubled".to_owned(), Arc::new(Doubled) as Arc<dyn CustomModifier>)]);
    let doc = |class: &str| modifier(ModifierType::Custom).with("CalculatorClass", class);
    let doubled = compile(&doc("Doubled"), None, &custom).unwrap();
    assert_eq!(run(&[doubled], [0.25, 0.5, 0.0], 2, false), [0.5, 1.0, 0.0]);
    let errors = compile(&doc("Dobled"), None, &custom).unwrap_err();
    assert_eq!(errors, ["CalculatorClass: no modifier is registered as 'Dobled'; did you mean 'Doubled'?"]);
}

// covers: UGAS-11.6-12 UGAS-11.6-14
#[test]
fn steps_run_in_order() {
    let sensitivity = |x: f64| step(modifier(ModifierType::Sensitivity).with("Multiplier", x));
    let clamp = || step(modifier(ModifierType::Clamp).with("Min", -1.0).with("Max", 1.0));
    assert_eq!(run(&[sensitivity(2.0), clamp()], [0.8, 0.0, 0.0], 1, false)[0], 1.0);
    assert_eq!(run(&[clamp(), sensitivity(2.0)], [0.8, 0.0, 0.0], 1, false)[0], 1.6);
    let stick = [step(dead_zone("Radial")), step(modifier(ModifierType::RadialScaling).with("MaxRadius", 1.0))];
    assert!((length(run(&stick, [1.0, 1.0, 0.0], 2, false)) - 1.0).abs() < 1e-12);
    assert_eq!(run(&[sensitivity(0.5)], [4.0, 2.0, 0.0], 2, false), [2.0, 1.0, 0.0]);
}

#[test]
fn everything_that_is_wrong_with_a_modifier_is_named() {
    let errors = |doc: InputModifier| compile(&doc, None, &CustomModifiers::new()).unwrap_err().join("\n");
    let both = errors(modifier(ModifierType::DeadZone).with("InnerThreshold", 2.0).with("OuterTreshold", 0.5));
    assert!(both.contains("InnerThreshold: expected a number from 0 to 1"), "{both}");
    assert!(both.contains("did you mean 'OuterThreshold'?"), "{both}");
    let equal = modifier(ModifierType::DeadZone).with("InnerThreshold", 0.5).with("OuterThreshold", 0.5);
    assert!(errors(equal).contains("must be less"));
    assert!(errors(modifier(ModifierType::AxisSwizzle).with("SwizzleOrder", "XXZ")).contains("SwizzleOrder"));
    assert!(errors(modifier(ModifierType::Clamp).with("Min", f64::NAN)).contains("finite"));
    assert!(errors(modifier(ModifierType::Clamp).with("Min", 2.0)).contains("must not be greater"));
    assert!(errors(modifier(ModifierType::ResponseCurve).with("CurveType", "Custom")).contains("CurvePoints"));
    let release = modifier(ModifierType::TriggerThreshold).with("ReleaseThreshold", 0.6);
    assert!(errors(release).contains("ReleaseThreshold 0.6"));
}

#[test]
fn a_result_that_is_not_finite_is_zero_and_a_value_at_rest_stays_at_rest() {
    let huge = modifier(ModifierType::AxisScale).with("ScaleX", 1e300);
    assert_eq!(run(&[step(huge.clone()), step(huge)], [1e6, 1.0, 0.0], 2, false), [0.0, 1.0, 0.0]);
    let floor = modifier(ModifierType::Clamp).with("Min", 0.5).with("Max", 1.0);
    assert_eq!(through(floor, [0.0; 3]), [0.0; 3]);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    /// One modifier of each type that keeps the direction of a value.
    fn odd_steps() -> Vec<Step> {
        let curve = |kind: &str| modifier(ModifierType::ResponseCurve).with("CurveType", kind);
        let point = |x: f64, y: f64| Value::Map([("In".into(), x.into()), ("Out".into(), y.into())].into());
        let docs = [
            dead_zone("Radial"),
            dead_zone("Axial"),
            modifier(ModifierType::Sensitivity).with("Multiplier", 1.7),
            curve("Exponential").with("Exponent", 2.5),
            curve("SCurve"),
            curve("Custom").with("CurvePoints", vec![point(0.0, 0.0), point(0.5, 0.2), point(1.0, 1.0)]),
            modifier(ModifierType::AxisInvert).with("InvertX", true),
            modifier(ModifierType::AxisScale).with("ScaleY", 0.5),
            modifier(ModifierType::AxisSwizzle).with("SwizzleOrder", "YXZ"),
            modifier(ModifierType::RadialScaling),
            modifier(ModifierType::Normalize),
            modifier(ModifierType::Clamp),
        ];
        docs.into_iter().map(step).collect()
    }

    fn value() -> impl Strategy<Value = [f64; 3]> {
        [-1.0..1.0_f64, -1.0..1.0_f64, -1.0..1.0_f64]
    }

    proptest! {
        #[test]
        fn the_opposite_value_gives_the_opposite_result(value in value()) {
            for step in odd_steps() {
                let there = run(std::slice::from_ref(&step), value, 3, false);
                let back = run(std::slice::from_ref(&step), value.map(|x| -x), 3, false);
                prop_assert_eq!(there, back.map(|x| -x));
            }
        }

        #[test]
        fn values_stay_in_range_and_small_changes_have_small_effects(value in value(), by in value()) {
            let near = std::array::from_fn(|i| value[i] + 1e-6 * by[i]);
            for (i, step) in odd_steps().into_iter().enumerate() {
                let (a, b) = (run(std::slice::from_ref(&step), value, 3, false), run(std::slice::from_ref(&step), near, 3, false));
                let most = if matches!(step, Step::Scale(_)) { 1.7 } else { 1.0 };
                prop_assert!(a.iter().all(|x| x.abs() <= most + 1e-12), "{} {:?}", i, a);
                let is_jump = matches!(step, Step::Normalize) && length(value) < 0.01;
                let far = length(std::array::from_fn(|i| a[i] - b[i]));
                prop_assert!(far < 1e-3 || is_jump, "{} {:?} {:?}", i, a, b);
            }
        }

        #[test]
        fn larger_values_give_no_smaller_results(x in 0.0..1.0_f64, more in 0.0..0.5_f64) {
            for step in odd_steps() {
                let at = |x: f64| length(run(std::slice::from_ref(&step), [x, 0.0, 0.0], 3, false));
                prop_assert!(at(x) <= at(x + more) + 1e-12);
            }
        }

        #[test]
        fn steps_in_a_row_are_one_after_the_other(value in value(), first in 0..12_usize, second in 0..12_usize) {
            let steps = odd_steps();
            let both = run(&[steps[first].clone(), steps[second].clone()], value, 3, false);
            let one = run(&steps[first..=first], value, 3, false);
            prop_assert_eq!(both, run(&steps[second..=second], one, 3, false));
        }
    }
}
