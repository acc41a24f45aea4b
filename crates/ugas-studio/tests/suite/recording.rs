//! Recordings compared with a simple model that resimulates everything from the start.

use proptest::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use ugas_studio::recording::{Recording, World};

/// A world whose number depends on all its inputs and steps.
#[derive(Clone, Debug, PartialEq)]
struct Toy {
    tick: u32,
    sum: u64,
}

impl World for Toy {
    type Input = u64;

    fn tick(&self) -> u32 {
        self.tick
    }

    fn step(&mut self) {
        self.tick += 1;
        self.sum = self.sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(self.tick));
    }

    fn apply_input(&mut self, input: &u64) -> Result<(), String> {
        if *input == 13 {
            return Err("not this one".to_owned());
        }
        self.sum ^= input.wrapping_mul(31);
        Ok(())
    }
}

/// The length of a timeline and its inputs.
type Future = (u32, Vec<(u32, u64)>);

/// The model of a recording: the current tick, the last tick, and the inputs with their ticks.
#[derive(Clone, Debug, Default)]
struct Model {
    now: u32,
    end: u32,
    inputs: Vec<(u32, u64)>,
    /// The timeline that each input replaced, if the input was applied at an earlier tick.
    instead: Vec<Option<Future>>,
}

impl Model {
    fn put(&mut self, input: u64) {
        let (now, end, all) = (self.now, self.end, self.inputs.clone());
        self.fork();
        self.inputs.push((now, input));
        self.instead.push((now < end).then(|| (end, all.into_iter().filter(|(at, _)| *at > now).collect())));
    }

    fn undo(&mut self) -> bool {
        if let Some(Some((end, later))) = self.instead.pop() {
            self.inputs.pop();
            self.end = self.end.max(end);
            self.instead.extend(later.iter().map(|_| None));
            self.inputs.extend(later);
            return true;
        }
        self.inputs.pop().is_some()
    }

    fn world(&self) -> Toy {
        let mut toy = Toy { tick: 0, sum: 1 };
        for tick in 0..=self.now {
            if tick > 0 {
                toy.step();
            }
            self.inputs.iter().filter(|(at, _)| *at == tick).for_each(|(_, i)| toy.apply_input(i).unwrap());
        }
        toy
    }

    fn fork(&mut self) {
        let now = self.now;
        self.end = self.end.min(now);
        self.inputs.retain(|(at, _)| *at <= now);
        self.instead.truncate(self.inputs.len());
    }
}

#[derive(Clone, Debug)]
enum ResolvedAction {
    Step(u32),
    Put(u64),
    Seek(u32),
    Fork,
    Undo,
    At(u32),
}

fn action() -> impl Strategy<Value = ResolvedAction> {
    prop_oneof![
        4 => (1u32..90).prop_map(ResolvedAction::Step),
        3 => (0u64..20).prop_map(ResolvedAction::Put),
        3 => (0u32..700).prop_map(ResolvedAction::Seek),
        1 => Just(ResolvedAction::Fork),
        1 => Just(ResolvedAction::Undo),
        2 => (0u32..700).prop_map(ResolvedAction::At),
    ]
}

proptest! {
    // covers: OWN-05
    #[test]
    fn a_recording_equals_stepping_from_the_start(actions in prop::collection::vec(action(), 1..40)) {
        let mut recording = Recording::new(Toy { tick: 0, sum: 1 });
        let mut model = Model::default();
        for action in actions {
            match action {
                ResolvedAction::Step(n) => {
                    (0..n).for_each(|_| recording.step());
                    model.now += n;
                    model.end = model.end.max(model.now);
                }
                ResolvedAction::Put(input) => {
                    prop_assert_eq!(recording.put(input).is_ok(), input != 13);
                    if input != 13 {
                        model.put(input);
                    }
                }
                ResolvedAction::Seek(to) => {
                    recording.seek(to);
                    model.now = to.min(model.end);
                }
                ResolvedAction::Fork => {
                    recording.fork();
                    model.fork();
                }
                ResolvedAction::Undo => {
                    prop_assert_eq!(recording.undo(&mut |_| {}), model.undo());
                }
                ResolvedAction::At(to) => {
                    let then = Model { now: to.min(model.end), ..model.clone() };
                    prop_assert_eq!(recording.at(to), then.world());
                }
            }
            prop_assert_eq!(recording.world(), &model.world());
            prop_assert_eq!((recording.end(), recording.is_live()), (model.end, model.now == model.end));
        }
    }
}

/// A world that counts its steps and the steps of all its copies.
#[derive(Clone)]
struct Counted<W>(W, Rc<Cell<u32>>);

impl<W: World> World for Counted<W> {
    type Input = W::Input;

    fn tick(&self) -> u32 {
        self.0.tick()
    }

    fn step(&mut self) {
        self.1.set(self.1.get() + 1);
        self.0.step();
    }

    fn apply_input(&mut self, input: &W::Input) -> Result<(), String> {
        self.0.apply_input(input)
    }
}

/// Every seek in a recording of this many ticks resimulates at most the ticks between two keyframes.
fn sought_within_the_spacing<W: World>(world: W, ticks: u32, most: u32) {
    let steps = Rc::new(Cell::new(0));
    let mut recording = Recording::new(Counted(world, steps.clone()));
    (0..ticks).for_each(|_| recording.step());
    // All over the place, by a stride that shares no factor with the length, and the worst: just before a copy.
    let places = (0..200).map(|i| i * 7_919 % (ticks + 1));
    let spacing = recording.spacing();
    assert!(spacing <= most, "{spacing} ticks lie between two copies");
    let worst = (1..ticks / spacing).map(|i| i * spacing - 1);
    for tick in places.chain(worst) {
        steps.set(0);
        recording.seek(tick);
        assert_eq!(recording.world().tick(), tick);
        assert!(steps.get() < spacing, "{} steps to {tick}", steps.get());
        steps.set(0);
        assert_eq!(recording.at(ticks - tick).tick(), ticks - tick);
        assert!(steps.get() < spacing, "{} steps to {}", steps.get(), ticks - tick);
    }
}

#[test]
fn a_tick_within_ten_minutes_is_reached_in_few_steps() {
    sought_within_the_spacing(Toy { tick: 0, sum: 1 }, 10 * 60 * 60, 80);
}

#[test]
fn a_tick_of_the_duel_is_reached_in_few_steps() {
    sought_within_the_spacing(ugas_studio::session::Session::duel(7).unwrap(), 305, 20);
}
