//! Attribute values and the modifiers that act on them.

use super::few::Few;
use crate::plan::ATTRIBUTES;

/// What the runtime calls Add, Multiply and AddPost, in the order they are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add = 0,
    Multiply = 1,
    AddPost = 2,
}

/// Base and current value of one attribute, side by side because whoever wants one mostly wants the other.
#[derive(Clone, Copy)]
pub(crate) struct Value {
    pub(crate) current: f64,
    pub(crate) base: f64,
}

/// One modifier that acts on a controller.
#[derive(Clone, Copy)]
pub(crate) struct Modifier {
    pub(crate) magnitude: f64,
    /// The effect it belongs to.
    owner: u32,
    /// Attribute, operation and channel, so that one comparison sorts by all three.
    place: u32,
}

impl Modifier {
    pub(crate) const FILLER: Modifier = Modifier { magnitude: 0.0, owner: u32::MAX, place: u32::MAX };

    #[inline]
    pub(crate) fn new(attribute: usize, operation: Operation, channel: u16, magnitude: f64) -> Modifier {
        let place = (attribute as u32) << 24 | (operation as u32) << 16 | u32::from(channel);
        // Minus zero becomes zero, so that equal sums have equal bits.
        Modifier { magnitude: magnitude + 0.0, owner: u32::MAX, place }
    }

    #[inline]
    pub(crate) fn owned_by(self, owner: u32) -> Modifier {
        Modifier { owner, ..self }
    }

    #[inline]
    pub(crate) fn attribute(&self) -> usize {
        (self.place >> 24) as usize & (ATTRIBUTES - 1)
    }

    #[inline]
    pub(crate) fn operation(&self) -> Operation {
        match self.place >> 16 & 0xff {
            0 => Operation::Add,
            1 => Operation::Multiply,
            _ => Operation::AddPost,
        }
    }

    /// Returns the canonical order: attribute, operation, channel, total order of the magnitude.
    #[inline]
    fn precedes(&self, other: &Modifier) -> bool {
        self.place < other.place
            || self.place == other.place && self.magnitude.total_cmp(&other.magnitude) == std::cmp::Ordering::Less
    }
}

/// The modifiers of one controller, kept in the canonical order, so that one set of modifiers gives one set of bits
/// however it came about.
pub(crate) struct Modifiers(Few<Modifier, 8>);

/// What the modifiers of one attribute add up to.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    pub(crate) add: f64,
    pub(crate) factor: f64,
    pub(crate) add_post: f64,
}

impl Sums {
    #[inline]
    pub(crate) fn of(&self, base: f64) -> f64 {
        (base + self.add) * self.factor + self.add_post
    }

    /// The base at which the result is `value`; only for a factor above 0.
    #[inline]
    fn base_for(&self, value: f64) -> f64 {
        (value - self.add_post) / self.factor - self.add
    }
}

impl Modifiers {
    #[inline]
    pub(crate) fn new() -> Modifiers {
        Modifiers(Few::new(Modifier::FILLER))
    }

    #[inline]
    pub(crate) fn insert(&mut self, modifier: Modifier) {
        self.0.insert(modifier, |other| other.precedes(&modifier));
    }

    /// Takes an effect's modifiers out and returns the set of attributes they acted on.
    #[inline]
    pub(crate) fn remove_of(&mut self, owner: u32) -> u16 {
        let mut touched = 0;
        self.0.retain(|modifier| {
            let stays = modifier.owner != owner;
            touched |= u16::from(!stays) << modifier.attribute();
            stays
        });
        touched
    }

    /// Returns the set of attributes that modifiers act on.
    #[inline]
    pub(crate) fn attributes(&self) -> u16 {
        self.0.as_slice().iter().fold(0, |set, modifier| set | 1 << modifier.attribute())
    }

    /// Between which values the base keeps the result between `low` and `high`, as far as the modifiers leave room.
    #[cold]
    pub(crate) fn window(&self, attribute: usize, low: f64, high: f64) -> (f64, f64) {
        let sums = self.sums(attribute);
        if sums.factor > 0.0 { (sums.base_for(low), sums.base_for(high)) } else { (low, high) }
    }

    /// Sums from scratch: subtracting would drift.
    #[inline]
    pub(crate) fn sums(&self, attribute: usize) -> Sums {
        let mut sums = Sums { add: 0.0, factor: 1.0, add_post: 0.0 };
        let mut channel = (u32::MAX, 0.0);
        for modifier in self.0.as_slice() {
            if modifier.attribute() != attribute {
                continue;
            }
            match modifier.operation() {
                Operation::Add => sums.add += modifier.magnitude,
                Operation::Multiply => {
                    if modifier.place != channel.0 {
                        sums.factor *= 1.0 + channel.1;
                        channel = (modifier.place, 0.0);
                    }
                    channel.1 += modifier.magnitude;
                }
                Operation::AddPost => sums.add_post += modifier.magnitude,
            }
        }
        sums.factor *= 1.0 + channel.1;
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::{Modifier, Modifiers, Operation};

    #[test]
    fn any_insertion_order_gives_the_same_bits() {
        let set: Vec<Modifier> = (0..12)
            .map(|index| {
                let operation = [Operation::Add, Operation::Multiply, Operation::AddPost][index % 3];
                Modifier::new(3, operation, (index % 2) as u16, 0.1 * (index as f64 - 5.0) + 1e-9)
            })
            .collect();
        let value = |rotation: usize| {
            let mut modifiers = Modifiers::new();
            for index in 0..set.len() {
                modifiers.insert(set[(index * 5 + rotation) % set.len()]);
            }
            modifiers.sums(3).of(100.0).to_bits()
        };
        assert!((1..12).all(|rotation| value(rotation) == value(0)));
    }

    #[test]
    fn channels_add_up_before_they_multiply() {
        let mut modifiers = Modifiers::new();
        for (channel, magnitude) in [(0, 0.10), (1, 0.5), (0, 0.15), (2, 1.0)] {
            modifiers.insert(Modifier::new(0, Operation::Multiply, channel, magnitude));
        }
        modifiers.insert(Modifier::new(0, Operation::Add, 0, 30.0));
        assert_eq!(modifiers.sums(0).of(100.0), 487.5);
        assert_eq!(modifiers.attributes(), 1);
    }
}
