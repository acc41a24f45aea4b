//! Recording, seeking and forking.
//!
//! A world is deterministic: the same inputs at the same ticks give the same state. A recording consists of the list of
//! inputs and a keyframe (a copy of the world) every few ticks. A seek restores the last keyframe at or before the
//! requested tick and resimulates from that keyframe. A recording exists only in memory.

/// The maximum number of keyframes. When a recording exceeds it, every second keyframe is dropped. A recording of ten
/// minutes at 60 ticks per second has 450 keyframes, 80 ticks apart. The example `seek` prints the memory of the
/// keyframes and the duration of a seek.
const MAX_KEYFRAMES: usize = 460;
/// Initial number of ticks between keyframes.
const INITIAL_SPACING: u32 = 20;

/// A world that can be recorded.
pub trait World: Clone {
    /// The type of inputs from outside the world.
    type Input: Clone;

    /// Returns the current tick.
    fn tick(&self) -> u32;

    /// Advances one tick.
    fn step(&mut self);

    /// Applies an input between two ticks. The error says why the input was refused; a refused input changes nothing.
    fn apply_input(&mut self, input: &Self::Input) -> Result<(), String>;
}

/// A world with its keyframes and inputs.
///
/// ```
/// use ugas_studio::recording::{Recording, World};
///
/// #[derive(Clone, PartialEq, Debug)]
/// struct Sum { tick: u32, sum: u64 }
/// impl World for Sum {
///     type Input = u64;
///     fn tick(&self) -> u32 { self.tick }
///     fn step(&mut self) { self.tick += 1; self.sum = self.sum.wrapping_mul(3) + 1 }
///     fn apply_input(&mut self, input: &u64) -> Result<(), String> { self.sum += input; Ok(()) }
/// }
///
/// let mut recording = Recording::new(Sum { tick: 0, sum: 0 });
/// (0..100).for_each(|_| recording.step());
/// recording.put(7)?;
/// let then = recording.world().clone();
/// (0..100).for_each(|_| recording.step());
/// recording.seek(100);
/// assert_eq!(recording.world(), &then);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recording<W: World> {
    world: W,
    /// Copies of the world by ascending tick, each taken before the inputs of its tick.
    keyframes: Vec<W>,
    /// Ticks between keyframes.
    every: u32,
    inputs: Vec<(u32, W::Input)>,
    /// The last recorded tick.
    end: u32,
    /// Timelines that an input at a recorded tick replaced, the oldest first.
    replaced: Vec<ReplacedTimeline<W::Input>>,
}

/// The part of a timeline that an input replaced.
#[derive(Clone, Debug)]
struct ReplacedTimeline<I> {
    /// The number of inputs, including the input that replaced the timeline.
    with: usize,
    end: u32,
    inputs: Vec<(u32, I)>,
}

impl<W: World> Recording<W> {
    /// Creates a recording that starts with the given state.
    pub fn new(world: W) -> Recording<W> {
        let end = world.tick();
        Recording {
            keyframes: vec![world.clone()],
            world,
            every: INITIAL_SPACING,
            inputs: Vec::new(),
            end,
            replaced: Vec::new(),
        }
    }

    /// Returns the world at the current tick.
    pub fn world(&self) -> &W {
        &self.world
    }

    /// Returns a mutable reference to the world at the current tick, for queries that fill caches. The caller must not
    /// change the state of the world.
    pub fn world_mut(&mut self) -> &mut W {
        &mut self.world
    }

    /// Updates the world and every keyframe with something that does not affect the simulation, such as a clock.
    pub(crate) fn update_all(&mut self, update_all: impl Fn(&mut W)) {
        update_all(&mut self.world);
        self.keyframes.iter_mut().for_each(update_all);
    }

    /// Returns the first tick.
    pub fn start(&self) -> u32 {
        self.keyframes[0].tick()
    }

    /// Returns the last recorded tick.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Returns the number of keyframes.
    pub fn keyframes(&self) -> usize {
        self.keyframes.len()
    }

    /// Returns the number of ticks between keyframes. A seek resimulates at most this many ticks.
    pub fn spacing(&self) -> u32 {
        self.every
    }

    /// Returns whether the current tick is the last recorded tick.
    pub fn is_live(&self) -> bool {
        self.world.tick() >= self.end
    }

    /// Returns the recorded inputs, each with its tick, in the order of ticks.
    pub fn inputs(&self) -> &[(u32, W::Input)] {
        &self.inputs
    }

    /// Advances one tick. If the new tick is part of the recording, the inputs recorded at that tick are applied.
    pub fn step(&mut self) {
        self.world.step();
        let tick = self.world.tick();
        if tick > self.end {
            self.end = tick;
            if tick - self.start() >= self.every && (tick - self.start()).is_multiple_of(self.every) {
                self.add_keyframe();
            }
        } else {
            apply_recorded(&mut self.world, &self.inputs);
        }
    }

    /// Applies an input at the current tick. If that tick is before the end of the recording, the recording after that
    /// tick is dropped; undoing the input restores it.
    pub fn put(&mut self, input: W::Input) -> Result<(), String> {
        let mut tried = self.world.clone();
        tried.apply_input(&input)?;
        let (tick, end) = (tried.tick(), self.end);
        let kept = self.inputs.partition_point(|(at, _)| *at <= tick);
        let later = self.inputs.split_off(kept);
        self.fork();
        self.world = tried;
        self.inputs.push((tick, input));
        if tick < end {
            self.replaced.push(ReplacedTimeline { with: self.inputs.len(), end, inputs: later });
        }
        Ok(())
    }

    /// Drops the recording after the current tick.
    pub fn fork(&mut self) {
        let tick = self.world.tick();
        if tick >= self.end {
            return;
        }
        self.end = tick;
        self.keyframes.retain(|k| k.tick() <= tick);
        self.inputs.retain(|(at, _)| *at <= tick);
        self.replaced.retain(|old| old.with <= self.inputs.len());
    }

    /// Seeks to a tick, clamped to the recorded ticks.
    pub fn seek(&mut self, tick: u32) {
        let tick = tick.clamp(self.start(), self.end);
        let here = self.world.tick();
        if here <= tick && tick - here < self.every {
            resimulate(&mut self.world, tick, &self.inputs);
        } else {
            self.world = self.at(tick);
        }
    }

    /// Returns a copy of the world at a tick of the recording.
    pub fn at(&self, tick: u32) -> W {
        let before = self.keyframes.partition_point(|k| k.tick() <= tick).max(1) - 1;
        let mut world = self.keyframes[before].clone();
        apply_recorded(&mut world, &self.inputs);
        resimulate(&mut world, tick.min(self.end), &self.inputs);
        world
    }

    /// Undoes the last input, resimulates the recording without that input, and returns to the current tick. If the
    /// input had dropped a part of the recording, that part is restored. `seen` is called with the world at every
    /// resimulated tick, first at the tick of the undone input. Returns false if there is no input to undo.
    pub fn undo(&mut self, seen: &mut dyn FnMut(&W)) -> bool {
        let Some((at, _)) = self.inputs.pop() else { return false };
        let (now, mut end) = (self.world.tick(), self.end);
        self.keyframes.retain(|k| k.tick() <= at);
        self.end = at;
        self.world = self.at(at);
        seen(&self.world);
        if let Some(old) = self.replaced.pop_if(|old| old.with > self.inputs.len()) {
            self.inputs.extend(old.inputs);
            end = end.max(old.end);
        }
        while self.world.tick() < end {
            self.step();
            apply_recorded(&mut self.world, &self.inputs);
            seen(&self.world);
        }
        self.seek(now);
        true
    }

    fn add_keyframe(&mut self) {
        self.keyframes.push(self.world.clone());
        if self.keyframes.len() > MAX_KEYFRAMES {
            self.every *= 2;
            let (start, every) = (self.start(), self.every);
            self.keyframes.retain(|k| (k.tick() - start).is_multiple_of(every));
        }
    }
}

/// Resimulates up to a tick.
fn resimulate<W: World>(world: &mut W, tick: u32, inputs: &[(u32, W::Input)]) {
    while world.tick() < tick {
        world.step();
        apply_recorded(world, inputs);
    }
}

/// Applies the recorded inputs of the world's tick.
fn apply_recorded<W: World>(world: &mut W, inputs: &[(u32, W::Input)]) {
    let tick = world.tick();
    let from = inputs.partition_point(|(at, _)| *at < tick);
    for (_, input) in inputs[from..].iter().take_while(|(at, _)| *at == tick) {
        // The input was accepted when it was recorded.
        let _ = world.apply_input(input);
    }
}
