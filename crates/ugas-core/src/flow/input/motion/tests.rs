//! The matcher of motions against one that tries every subset of the history, and clean motions in all forms.

use super::*;
use crate::rng::mix;
use crate::rules::Rules;
use ugas_doc::{InputAction, InputValue, MotionPattern};

const FRAME: i64 = 705_600_000 / 60;

fn compiled(patterns: impl IntoIterator<Item = MotionPattern>) -> std::sync::Arc<Rules> {
    let stick = InputAction { simulated: Some(true), ..InputAction::new("Stick", InputValue::Axis2D) };
    patterns.into_iter().fold(Rules::builder().add(stick), |b, p| b.add(p)).build().unwrap()
}

fn pattern(name: &str, directions: &str, tolerance: u32) -> MotionPattern {
    MotionPattern { tolerance, ..MotionPattern::new(name, "Stick", directions) }
}

/// Tries every subset of the history as the entries that the directions of the form match.
fn find_by_subsets(def: &MotionDef, history: &[HeldDirection], now: SimTime) -> Option<SimTime> {
    let mut best = None;
    for form in &def.forms {
        for subset in 1u32..1 << history.len() {
            let chosen: Vec<usize> = (0..history.len()).filter(|i| subset >> i & 1 != 0).collect();
            if let Some(at) = match_of(def, form, history, &chosen, now) {
                best = best.max(Some(at));
            }
        }
    }
    best
}

/// Returns when a pattern ends, if exactly these entries match directions of the form.
fn match_of(
    def: &MotionDef,
    form: &[MotionStep],
    history: &[HeldDirection],
    chosen: &[usize],
    now: SimTime,
) -> Option<SimTime> {
    let (&start, &end) = (chosen.first()?, chosen.last()?);
    let is = |i: usize, step: &MotionStep| history[i].direction == step.direction;
    if !is(start, &form[0]) || !is(end, &form[form.len() - 1]) || (form.len() == 1) != (start == end) {
        return None;
    }
    let mut middle = chosen.iter().skip(1).rev().skip(1).rev();
    let mut wanted = middle.next();
    let inner = if form.len() > 2 { &form[1..form.len() - 1] } else { &[] };
    for step in inner {
        if wanted.is_some_and(|&i| is(i, step)) {
            wanted = middle.next();
        }
    }
    if wanted.is_some() {
        return None;
    }
    let is_free = |i: usize| {
        i > 0 && history[i].direction == NEUTRAL && {
            history.get(i + 1).is_some_and(|after| after.direction == history[i - 1].direction)
        }
    };
    let extra = (start..end).filter(|i| !chosen.contains(i) && !is_free(*i)).count();
    let cost = form.len() - chosen.len() + extra;
    let is_quick = start == end || history[end].since - history[start].until <= def.max_duration;
    let is_fresh = now - history[end].since <= def.press_within;
    (cost <= def.tolerance as usize && is_quick && is_fresh).then_some(history[end].since)
}

/// Returns a random history of up to `most` directions, each different from the one before it.
fn random_history(seed: &mut u64, most: usize) -> (Vec<HeldDirection>, SimTime) {
    let mut roll = |below: u64| {
        *seed = mix(*seed);
        (*seed >> 33) % below
    };
    let length = 1 + roll(most as u64) as usize;
    let (mut at, mut history, mut last) = (0, Vec::new(), 0);
    for _ in 0..length {
        // Directions of the patterns are likelier.
        let mut direction = [2, 3, 6, 5, 4, 1, 2, 3, 6, 8][roll(10) as usize];
        if direction == last {
            direction = if direction == NEUTRAL { 6 } else { NEUTRAL };
        }
        last = direction;
        let since = SimTime(at);
        at += (1 + roll(9) as i64) * FRAME;
        history.push(HeldDirection { direction, since, until: SimTime(at) });
    }
    (history, SimTime(at))
}

#[test]
fn the_matcher_equals_one_that_tries_every_subset_of_the_history() {
    let names = ["236", "623", "41236", "63214", "66", "22", "2", "656", "3216"];
    let patterns =
        names.iter().flat_map(|&d| (0..3).map(move |t| pattern(&format!("{d}_{t}"), d, t.min(d.len() as u32))));
    let rules = compiled(patterns);
    let (mut seed, mut found) = (7, 0);
    for case in 0..100_000 {
        let (history, now) = random_history(&mut seed, 8);
        let def = rules.motions.get(case % rules.motions.len() as u32).unwrap();
        let ours = find_motion(def, &history, now).map(|f| f.at);
        assert_eq!(ours, find_by_subsets(def, &history, now), "{def:?} in {history:?}");
        found += u32::from(ours.is_some());
    }
    assert!(found > 5_000, "only {found} histories contain their pattern");
}

/// A direction as the value of a stick that faces right.
fn value_of(direction: u8) -> AxisValue {
    let (column, row) = ((direction - 1) % 3, (direction - 1) / 3);
    AxisValue::new([f64::from(column) - 1.0, f64::from(row) - 1.0, 0.0])
}

#[test]
fn directions_have_eighths_of_a_circle_and_a_dead_zone() {
    for direction in 1..=9 {
        assert_eq!(direction_of(value_of(direction)), direction);
    }
    for degrees in 0..360 {
        let (sin, cos) = (libm::sin(f64::from(degrees).to_radians()), libm::cos(f64::from(degrees).to_radians()));
        let eighth = ((degrees * 2 + 45) / 90 % 8) as usize;
        if (degrees * 2 + 45) % 90 != 0 {
            assert_eq!(direction_of(AxisValue::new([cos, sin, 0.0])), CIRCLE[eighth], "{degrees}");
        }
        assert_eq!(direction_of(AxisValue::new([0.29 * cos, 0.29 * sin, 0.0])), NEUTRAL);
    }
}

#[test]
fn mirroring_and_turning_are_inverse_and_keep_the_circle() {
    for direction in 1..=9 {
        assert_eq!(mirrored(mirrored(direction)), direction);
        assert_eq!(turned(turned(direction, 3), 5), direction);
        assert_eq!(seen_from(direction, MotionFacing::Turn, [0.0, 0.0, 1.0]), direction, "up is forward");
        assert_eq!(seen_from(direction, MotionFacing::Mirror, [-1.0, 0.0, 0.0]), mirrored(direction));
    }
    // The owner looks to the right: its forward is 6, so that 6 means 8.
    assert_eq!(seen_from(6, MotionFacing::Turn, [1.0, 0.0, 0.0]), 8);
}

/// Plays directions that each last for a number of ticks, and looks for the pattern at the end.
fn is_found(rules: &Rules, name: &str, directions: &[u8], ticks_each: i64, tick: i64) -> bool {
    let def = rules.motions.get(rules.find_motion(name).unwrap().0).unwrap();
    let entry = |(i, &direction): (usize, &u8)| {
        let since = SimTime(i as i64 * ticks_each * tick);
        HeldDirection { direction, since, until: SimTime(since.0 + ticks_each * tick) }
    };
    let history: Vec<HeldDirection> = directions.iter().enumerate().map(entry).collect();
    let now = history.last().unwrap().until;
    find_motion(def, &history, now).is_some()
}

#[test]
fn clean_motions_are_found_at_every_facing_speed_and_tick_rate_within_their_windows() {
    let clean: [(&str, &[u8]); 5] = [
        ("236", &[2, 3, 6]),
        ("623", &[6, 2, 3]),
        ("41236", &[4, 1, 2, 3, 6]),
        ("63214", &[6, 3, 2, 1, 4]),
        ("360", &[6, 9, 8, 7, 4, 1, 2, 3]),
    ];
    let rules = compiled(clean.iter().map(|(name, _)| pattern(name, name, 0)));
    for (name, directions) in clean {
        for hertz in [20, 30, 60, 144] {
            let tick = 705_600_000 / hertz;
            for ticks_each in 1..40 {
                // The time from leaving the first direction to reaching the last one.
                let duration = (directions.len() as i64 - 2) * ticks_each * tick;
                let press = ticks_each * tick;
                let is_in_time = duration <= SimTime::seconds(0.3).0 && press <= SimTime::seconds(0.5).0;
                for mirror in [false, true] {
                    let seen: Vec<u8> =
                        directions.iter().map(|&d| if mirror { mirrored(mirrored(d)) } else { d }).collect();
                    assert_eq!(is_found(&rules, name, &seen, ticks_each, tick), is_in_time, "{name} at {hertz} Hz");
                }
            }
        }
    }
    // A circle is found from any direction and both ways.
    for start in 0..8 {
        for way in [1, 7] {
            let circle: Vec<u8> = (0..8).map(|i| CIRCLE[(start + i * way) % 8]).collect();
            assert!(is_found(&rules, "360", &circle, 1, FRAME), "{circle:?}");
        }
    }
}

#[test]
fn a_charge_takes_neighbours_and_must_be_held_long_enough() {
    let rules = compiled([pattern("Charge", "[4]6", 0)]);
    let def = rules.motions.get(0).unwrap();
    let held = |list: &[(u8, i64)]| {
        let mut at = 0;
        let entries = list.iter().map(|&(direction, frames)| {
            let since = SimTime(at);
            at += frames * FRAME;
            HeldDirection { direction, since, until: SimTime(at) }
        });
        let history: Vec<HeldDirection> = entries.collect();
        find_motion(def, &history, SimTime(at)).is_some()
    };
    assert!(held(&[(4, 45), (6, 2)]), "0.75 s");
    assert!(!held(&[(4, 44), (6, 2)]));
    assert!(held(&[(1, 20), (4, 15), (7, 10), (6, 2)]), "down-back and up-back charge too");
    assert!(!held(&[(1, 20), (5, 1), (4, 30), (6, 2)]), "a neutral direction ends the charge");
    assert!(!held(&[(4, 60), (5, 19), (6, 2)]), "an additional direction without tolerance");
}
