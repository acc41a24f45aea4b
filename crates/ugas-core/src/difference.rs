//! The first difference between two states of one controller, for people: why a client corrected its prediction.

use crate::flow::distance;
use crate::image::RowImage;
use crate::state::{Activation, Capabilities, CapabilityRecord, Effect};
use crate::{AbilityId, Anchor, AttributeId, CapabilityId, EffectId, EffectKey, Rules, TagId};

/// The first difference between two states of one controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowDifference {
    /// The current or the base value of an attribute.
    Attribute {
        /// The attribute.
        attribute: AttributeId,
        /// The current value in the first state.
        first: f64,
        /// The current value in the second state.
        second: f64,
    },
    /// An active effect that one of the states does not have.
    Effect {
        /// The effect.
        effect: EffectId,
        /// Whether the first state has it.
        is_in_first: bool,
    },
    /// An active effect with other times, stacks or magnitudes.
    EffectState {
        /// The effect.
        effect: EffectId,
    },
    /// A tag that one of the states does not have, or has more often.
    Tag {
        /// The tag.
        tag: TagId,
        /// Whether the first state has it more often.
        is_in_first: bool,
    },
    /// An active ability that one of the states does not have, or that is in another state.
    Ability {
        /// The ability.
        ability: AbilityId,
        /// Whether the first state has it.
        is_in_first: bool,
    },
    /// A capability that one of the states does not have, or that is in another state.
    Capability {
        /// The class.
        class: CapabilityId,
        /// Whether the first state has it.
        is_in_first: bool,
    },
    /// The position or facing.
    Position {
        /// The distance between the positions; zero if only the facing differs, `None` if one state has no position.
        distance: Option<f64>,
    },
    /// Anything else: grants, cooldown timers, waiting tasks, held inputs.
    Other,
}

impl RowDifference {
    /// Describes the difference in one line, with the names of the rules. The first state is called predicted, the
    /// second the server's.
    ///
    /// ```
    /// use ugas_core::{Rules, RowDifference};
    /// use ugas_doc::{Attribute, AttributeSet};
    /// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build()?;
    /// let attribute = rules.attribute("Health").unwrap();
    /// let difference = RowDifference::Attribute { attribute, first: 90.0, second: 40.0 };
    /// assert_eq!(difference.describe(&rules), "attribute Health: predicted 90, server 40");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe(&self, rules: &Rules) -> String {
        let side = |is_in_first| if is_in_first { "only predicted" } else { "only on the server" };
        let named = |name: Option<&str>, id: u32| name.map_or_else(|| format!("#{id}"), str::to_owned);
        match *self {
            RowDifference::Attribute { attribute, first, second } => {
                let name = named(rules.attribute_name(attribute), attribute.0);
                if first == second {
                    return format!("attribute {name}: other base value");
                }
                let [first, second] = short(first, second);
                format!("attribute {name}: predicted {first}, server {second}")
            }
            RowDifference::Effect { effect, is_in_first } => {
                format!("effect {}: {}", named(rules.effect_name(effect), effect.0), side(is_in_first))
            }
            RowDifference::EffectState { effect } => {
                format!("effect {}: other times, stacks or magnitudes", named(rules.effect_name(effect), effect.0))
            }
            RowDifference::Tag { tag, is_in_first } => {
                format!("tag {}: {}", named(rules.tag_name(tag), tag.0), side(is_in_first))
            }
            RowDifference::Ability { ability, is_in_first } => {
                format!("ability {}: {}", named(rules.ability_name(ability), ability.0), side(is_in_first))
            }
            RowDifference::Capability { class, is_in_first } => {
                format!("capability {}: {}", named(rules.capability_name(class), class.0), side(is_in_first))
            }
            RowDifference::Position { distance: None } => {
                "position: set only in the prediction or on the server".into()
            }
            RowDifference::Position { distance: Some(0.0) } => "facing: the server has another direction".into(),
            RowDifference::Position { distance: Some(distance) } => {
                format!("position: the server's is {} away from the predicted one", short(distance, 0.0)[0])
            }
            RowDifference::Other => "timers, tasks, grants or inputs".into(),
        }
    }
}

/// Formats two numbers with at most three decimals, or in full if they would look equal.
fn short(first: f64, second: f64) -> [String; 2] {
    let [a, b] = [first, second].map(|n| format!("{n:.3}").trim_end_matches('0').trim_end_matches('.').to_owned());
    if a == b { [first.to_string(), second.to_string()] } else { [a, b] }
}

impl RowImage {
    /// Returns the first difference between two states of one controller, without the attributes in `hidden`. Returns
    /// `None` if an image is empty, or if the hashes without these attributes are equal. `rules` must be the rules of
    /// the sim that captured the images.
    pub fn difference(&self, other: &RowImage, rules: &Rules, hidden: &[AttributeId]) -> Option<RowDifference> {
        let (a, b) = (self.inner.as_ref()?, other.inner.as_ref()?);
        if self.hash_without(rules, hidden) == other.hash_without(rules, hidden) {
            return None;
        }
        let effects = || self.effect_difference(other);
        let values = || {
            let slots = a.layout.slots.iter().map(|s| s.attribute).zip(a.row.attrs.iter().zip(b.row.attrs.iter()));
            let mut differing = slots.filter(|(id, (a, b))| !hidden.contains(id) && a != b);
            let (attribute, (a, b)) = differing.next()?;
            Some(RowDifference::Attribute { attribute, first: a.current, second: b.current })
        };
        let tags = || {
            let count = |of: &crate::flow::Captured, tag| of.row.tags.count(&rules.tags, tag);
            let all = a.row.tags.iter(&rules.tags).chain(b.row.tags.iter(&rules.tags)).map(|(tag, _)| tag);
            let mut differing = all.filter(|&tag| count(a, tag) != count(b, tag));
            differing.next().map(|tag| RowDifference::Tag { tag, is_in_first: count(a, tag) > count(b, tag) })
        };
        let abilities = || {
            let same = |x: &Activation, y: &Activation| (x.key(a.row.id), x.state) == (y.key(a.row.id), y.state);
            let (first, second) = (&a.row.play().activations, &b.row.play().activations);
            let only = |of: &[Activation], not_in: &[Activation]| {
                of.iter().find(|x| !not_in.iter().any(|y| same(x, y))).map(|x| x.ability)
            };
            let in_first = only(first, second).map(|ability| RowDifference::Ability { ability, is_in_first: true });
            let in_second =
                || only(second, first).map(|ability| RowDifference::Ability { ability, is_in_first: false });
            in_first.or_else(in_second)
        };
        let capabilities = || {
            let (first, second) = (a.row.play().capabilities(), b.row.play().capabilities());
            let only = |of: &Capabilities, not_in: &Capabilities| {
                let is_same = |r: &CapabilityRecord| not_in.find(r.key()).is_some_and(|other| other.stage == r.stage);
                of.records.iter().find(|r| !r.is_for_authority() && !is_same(r)).map(|r| r.class)
            };
            let in_first = only(first, second).map(|class| RowDifference::Capability { class, is_in_first: true });
            in_first
                .or_else(|| only(second, first).map(|class| RowDifference::Capability { class, is_in_first: false }))
        };
        let position = || {
            let (first, second) = (a.row.side().anchor, b.row.side().anchor);
            let far = |(a, b): (Anchor, Anchor)| distance(a.position, b.position);
            (first != second).then(|| RowDifference::Position { distance: first.zip(second).map(far) })
        };
        let found = abilities().or_else(capabilities).or_else(values).or_else(effects).or_else(tags);
        let found = found.or_else(position);
        Some(found.unwrap_or(RowDifference::Other))
    }

    fn effect_difference(&self, other: &RowImage) -> Option<RowDifference> {
        let (a, b) = (self.inner.as_ref()?, other.inner.as_ref()?);
        let key = |e: &Effect| -> EffectKey { e.key(a.row.id) };
        let find = |list: &[Effect], of: &Effect| list.iter().position(|e| key(e) == key(of));
        let (first, second) = (&a.row.effects, &b.row.effects);
        if let Some(e) = first.iter().find(|e| find(second, e).is_none()) {
            return Some(RowDifference::Effect { effect: e.def, is_in_first: true });
        }
        if let Some(e) = second.iter().find(|e| find(first, e).is_none()) {
            return Some(RowDifference::Effect { effect: e.def, is_in_first: false });
        }
        let times = |e: &Effect| (e.start, e.end, e.stacks(), e.inhibited());
        let changed = first.iter().find(|e| find(second, e).is_some_and(|at| times(&second[at]) != times(e)))?;
        Some(RowDifference::EffectState { effect: changed.def })
    }
}

#[cfg(test)]
mod tests {
    use super::{RowDifference, short};
    use crate::{Anchor, Op, RowImage, Rules, Sim, SimConfig, SpawnSpec};
    use ugas_doc::{Attribute, AttributeSet};

    #[test]
    fn a_position_is_described_with_its_distance() {
        let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build().unwrap();
        let mut sim = Sim::new(rules.clone(), SimConfig::default());
        let who = sim.spawn(SpawnSpec::sets([rules.set("S").unwrap()])).unwrap();
        let mut captured = |anchor| {
            sim.run(Op::Move { who, anchor }).unwrap();
            let mut image = RowImage::default();
            sim.capture(who, &mut image).unwrap();
            image
        };
        let here = captured(Some(Anchor::at([0.0; 3])));
        let turned = captured(Some(Anchor { facing: [1.0, 0.0, 0.0], ..Anchor::at([0.0; 3]) }));
        let there = captured(Some(Anchor::at([3.0, 0.0, 4.0])));
        let nowhere = captured(None);
        let text = |other| here.difference(other, &rules, &[]).unwrap().describe(&rules);
        assert_eq!(text(&there), "position: the server's is 5 away from the predicted one");
        assert_eq!(text(&turned), "facing: the server has another direction");
        assert_eq!(text(&nowhere), "position: set only in the prediction or on the server");
    }

    #[test]
    fn numbers_are_short_unless_they_would_look_equal() {
        assert_eq!(short(1.0 / 3.0, 40.0), ["0.333", "40"]);
        assert_eq!(short(0.1 + 0.2, 0.3), ["0.30000000000000004", "0.3"]);
        let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0))).build().unwrap();
        let attribute = rules.attribute("Health").unwrap();
        let same = RowDifference::Attribute { attribute, first: 9.0, second: 9.0 };
        assert_eq!(same.describe(&rules), "attribute Health: other base value");
    }
}
