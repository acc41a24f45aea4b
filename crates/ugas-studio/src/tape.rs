//! Recording, seeking and forking.
//!
//! A world is a value that steps and takes inputs, and the same inputs at the same ticks give the same world. So a
//! recording is the inputs and a copy of the world every now and then: to be at any tick again, the copy before it is
//! taken and stepped. Nothing is written to a disk.

/// Copies that are kept; when there are more, every second one is dropped. Ten minutes at sixty ticks a second end with
/// four hundred and fifty of them, eighty ticks apart: what that takes in memory, and what going anywhere costs, is what the
/// example `seek` prints.
const MOST_KEYFRAMES: usize = 460;
/// Ticks between the first copies.
const FIRST_EVERY: u32 = 20;

/// Something that can be recorded.
pub trait World: Clone {
    /// What is done to it from outside.
    type Input: Clone;

    /// The tick it is at.
    fn tick(&self) -> u32;

    /// Goes one tick on.
    fn step(&mut self);

    /// Does what came from outside, between two ticks. Why not, if it does not; then nothing changed.
    fn take(&mut self, input: &Self::Input) -> Result<(), String>;
}

/// A world, where it came from, and everything that was done to it.
///
/// ```
/// use ugas_studio::tape::{Tape, World};
///
/// #[derive(Clone, PartialEq, Debug)]
/// struct Sum { tick: u32, sum: u64 }
/// impl World for Sum {
///     type Input = u64;
///     fn tick(&self) -> u32 { self.tick }
///     fn step(&mut self) { self.tick += 1; self.sum = self.sum.wrapping_mul(3) + 1 }
///     fn take(&mut self, input: &u64) -> Result<(), String> { self.sum += input; Ok(()) }
/// }
///
/// let mut tape = Tape::new(Sum { tick: 0, sum: 0 });
/// (0..100).for_each(|_| tape.step());
/// tape.put(7)?;
/// let then = tape.world().clone();
/// (0..100).for_each(|_| tape.step());
/// tape.seek(100);
/// assert_eq!(tape.world(), &then);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tape<W: World> {
    world: W,
    /// Copies by rising tick, each after the inputs of its tick that came before it was taken: none.
    keyframes: Vec<W>,
    /// Ticks between two copies.
    every: u32,
    inputs: Vec<(u32, W::Input)>,
    /// The last tick that was reached.
    end: u32,
    /// Futures that something done in the past took the place of, the oldest first.
    cuts: Vec<Cut<W::Input>>,
}

/// A future that is not so any more.
#[derive(Clone, Debug)]
struct Cut<I> {
    /// How many inputs there were with the one that took its place.
    with: usize,
    end: u32,
    inputs: Vec<(u32, I)>,
}

impl<W: World> Tape<W> {
    /// A recording that begins with a world as it is.
    pub fn new(world: W) -> Tape<W> {
        let end = world.tick();
        Tape { keyframes: vec![world.clone()], world, every: FIRST_EVERY, inputs: Vec::new(), end, cuts: Vec::new() }
    }

    /// The world where the recording stands.
    pub fn world(&self) -> &W {
        &self.world
    }

    /// Where the recording stands, for questions whose answers are remembered in the world. Nothing that counts may be
    /// changed by it.
    pub fn world_mut(&mut self) -> &mut W {
        &mut self.world
    }

    /// Lends something to the world and to every copy of it that is kept. It may not change what a step does.
    pub(crate) fn lend(&mut self, lend: impl Fn(&mut W)) {
        lend(&mut self.world);
        self.keyframes.iter_mut().for_each(lend);
    }

    /// The first tick.
    pub fn start(&self) -> u32 {
        self.keyframes[0].tick()
    }

    /// The last tick that was reached.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Copies that are kept.
    pub fn keyframes(&self) -> usize {
        self.keyframes.len()
    }

    /// Ticks between two of them: no more are stepped to be anywhere in the recording.
    pub fn spacing(&self) -> u32 {
        self.every
    }

    /// Whether the recording stands at its end.
    pub fn is_live(&self) -> bool {
        self.world.tick() >= self.end
    }

    /// What was done, by rising tick.
    pub fn inputs(&self) -> &[(u32, W::Input)] {
        &self.inputs
    }

    /// Goes one tick on; where there is a recording, as it says.
    pub fn step(&mut self) {
        self.world.step();
        let tick = self.world.tick();
        if tick > self.end {
            self.end = tick;
            if tick - self.start() >= self.every && (tick - self.start()).is_multiple_of(self.every) {
                self.keep();
            }
        } else {
            repeat(&mut self.world, &self.inputs);
        }
    }

    /// Does something now. In the past another future begins with it; what was done in the old one is kept until this is
    /// taken back.
    pub fn put(&mut self, input: W::Input) -> Result<(), String> {
        let mut tried = self.world.clone();
        tried.take(&input)?;
        let (tick, end) = (tried.tick(), self.end);
        let kept = self.inputs.partition_point(|(at, _)| *at <= tick);
        let later = self.inputs.split_off(kept);
        self.fork();
        self.world = tried;
        self.inputs.push((tick, input));
        if tick < end {
            self.cuts.push(Cut { with: self.inputs.len(), end, inputs: later });
        }
        Ok(())
    }

    /// Forgets what was recorded after now.
    pub fn fork(&mut self) {
        let tick = self.world.tick();
        if tick >= self.end {
            return;
        }
        self.end = tick;
        self.keyframes.retain(|k| k.tick() <= tick);
        self.inputs.retain(|(at, _)| *at <= tick);
        self.cuts.retain(|cut| cut.with <= self.inputs.len());
    }

    /// Goes to a tick of the recording, or to the end nearest to it.
    pub fn seek(&mut self, tick: u32) {
        let tick = tick.clamp(self.start(), self.end);
        let here = self.world.tick();
        if here <= tick && tick - here < self.every {
            run(&mut self.world, tick, &self.inputs);
        } else {
            self.world = self.at(tick);
        }
    }

    /// A copy of the world as it was at a tick of the recording.
    pub fn at(&self, tick: u32) -> W {
        let before = self.keyframes.partition_point(|k| k.tick() <= tick).max(1) - 1;
        let mut world = self.keyframes[before].clone();
        repeat(&mut world, &self.inputs);
        run(&mut world, tick.min(self.end), &self.inputs);
        world
    }

    /// Takes back the last thing that was done, as if it never was, and goes to where the recording stood. If it took the
    /// place of another future, that is there again. `seen` is shown every tick that is another one now, the first is that
    /// of what is taken back.
    pub fn undo(&mut self, seen: &mut dyn FnMut(&W)) -> bool {
        let Some((at, _)) = self.inputs.pop() else { return false };
        let (now, mut end) = (self.world.tick(), self.end);
        self.keyframes.retain(|k| k.tick() <= at);
        self.end = at;
        self.world = self.at(at);
        seen(&self.world);
        if let Some(cut) = self.cuts.pop_if(|cut| cut.with > self.inputs.len()) {
            self.inputs.extend(cut.inputs);
            end = end.max(cut.end);
        }
        while self.world.tick() < end {
            self.step();
            repeat(&mut self.world, &self.inputs);
            seen(&self.world);
        }
        self.seek(now);
        true
    }

    fn keep(&mut self) {
        self.keyframes.push(self.world.clone());
        if self.keyframes.len() > MOST_KEYFRAMES {
            self.every *= 2;
            let (start, every) = (self.start(), self.every);
            self.keyframes.retain(|k| (k.tick() - start).is_multiple_of(every));
        }
    }
}

/// Goes on to a tick as it was.
fn run<W: World>(world: &mut W, tick: u32, inputs: &[(u32, W::Input)]) {
    while world.tick() < tick {
        world.step();
        repeat(world, inputs);
    }
}

/// Does what was done at the world's tick.
fn repeat<W: World>(world: &mut W, inputs: &[(u32, W::Input)]) {
    let tick = world.tick();
    let from = inputs.partition_point(|(at, _)| *at < tick);
    for (_, input) in inputs[from..].iter().take_while(|(at, _)| *at == tick) {
        // What was done once can be done again.
        let _ = world.take(input);
    }
}
