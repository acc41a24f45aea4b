//! The parts of a controller that its owning client and observers receive.
//!
//! The replication mode of a controller decides what is sent, and the mode of each attribute restricts who receives its
//! value. A [`Mask`] combines both modes. In the modes `Mixed` and `Full` the owning client receives the exact state,
//! which also contains grants, activations and tasks.
//!
//! | Mode | Owning client | Observers |
//! |---|---|---|
//! | `None` | nothing | nothing |
//! | `Minimal` | tags, cues | tags, cues |
//! | `Mixed` | tags, cues, effects, attributes `OwnerOnly` and `All` | tags, cues |
//! | `Full` | tags, cues, effects, attributes `OwnerOnly` and `All` | tags, cues, effects, attributes `All` |

use ugas_core::{AttributeId, Rules, SetId};
use ugas_doc::{ControllerReplication, ReplicationMode};

/// Who receives the state of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// The owning client.
    Owner,
    /// Every other client.
    Observer,
}

/// The parts of a controller that are replicated to a recipient.
///
/// ```
/// use ugas_core::Rules;
/// use ugas_doc::{Attribute, AttributeSet, ControllerReplication, ReplicationMode};
/// use ugas_net::mask::{Recipient, Mask};
/// let mut gold = Attribute::new("Gold", 5.0);
/// gold.replication_mode = ReplicationMode::OwnerOnly;
/// let rules = Rules::builder().add(AttributeSet::new("S").with(Attribute::new("Health", 9.0)).with(gold)).build()?;
/// let sets = [rules.set("S").unwrap()];
/// let seen = |recipient| Mask::new(&rules, &sets, ControllerReplication::Full, recipient);
/// assert_eq!(seen(Recipient::Owner).attributes.count(), 2);
/// assert_eq!(seen(Recipient::Observer).attributes.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mask {
    /// One bit for each attribute: in the order of the attribute sets, and within a set in the order of its document.
    pub attributes: BitSet,
    /// Whether active effects are sent.
    pub effects: bool,
    /// Whether tags are sent.
    pub tags: bool,
    /// Whether cues are sent.
    pub cues: bool,
}

impl Mask {
    /// Creates the mask of a recipient for a controller with these attribute sets in this mode.
    pub fn new(rules: &Rules, sets: &[SetId], mode: ControllerReplication, recipient: Recipient) -> Mask {
        let mut mask = Mask {
            attributes: BitSet::default(),
            effects: details(mode, recipient),
            tags: shows(mode),
            cues: shows(mode),
        };
        let attributes = sets.iter().filter_map(|&s| rules.set_attributes(s)).flatten();
        for (at, attribute) in attributes.enumerate() {
            mask.attributes.put(at, mask.effects && admits(attribute.replication, recipient));
        }
        mask
    }

    /// Returns the attributes that this mask hides. `sets` must be the attribute sets from which the mask was created.
    pub fn hidden(&self, rules: &Rules, sets: &[SetId]) -> Box<[AttributeId]> {
        let attributes = sets.iter().filter_map(|&s| rules.set_attributes(s)).flatten().enumerate();
        attributes.filter(|&(at, _)| !self.attributes.has(at)).map(|(_, a)| a.attribute).collect()
    }

    /// Returns whether no part of the controller is replicated.
    pub fn is_empty(&self) -> bool {
        !self.effects && !self.tags && !self.cues && self.attributes.count() == 0
    }
}

/// Returns whether an attribute is replicated to a recipient, for a controller with these attribute sets in this mode.
pub(crate) fn is_seen(
    rules: &Rules,
    sets: &[SetId],
    mode: ControllerReplication,
    recipient: Recipient,
    attribute: AttributeId,
) -> bool {
    let mut all = sets.iter().filter_map(|&s| rules.set_attributes(s)).flatten();
    details(mode, recipient) && all.any(|a| a.attribute == attribute && admits(a.replication, recipient))
}

/// Returns the attributes of all attribute sets that are hidden from owning clients. Client and server leave out the
/// same attributes.
pub(crate) fn hidden_from_owners(rules: &Rules) -> Vec<AttributeId> {
    let sets = (0..).map(SetId).take_while(|&set| rules.set_name(set).is_some());
    let all = sets.filter_map(|set| rules.set_attributes(set)).flatten();
    all.filter(|a| !admits(a.replication, Recipient::Owner)).map(|a| a.attribute).collect()
}

/// Returns whether the mode sends anything.
fn shows(mode: ControllerReplication) -> bool {
    match mode {
        ControllerReplication::None => false,
        ControllerReplication::Minimal | ControllerReplication::Mixed | ControllerReplication::Full => true,
    }
}

/// Returns whether the mode sends effects and attributes to the recipient.
fn details(mode: ControllerReplication, recipient: Recipient) -> bool {
    match (mode, recipient) {
        (ControllerReplication::None | ControllerReplication::Minimal, _) => false,
        (ControllerReplication::Mixed, Recipient::Owner) => true,
        (ControllerReplication::Mixed, Recipient::Observer) => false,
        (ControllerReplication::Full, _) => true,
    }
}

/// Returns whether the mode of an attribute allows sending its value to the recipient.
fn admits(attribute: ReplicationMode, recipient: Recipient) -> bool {
    match (attribute, recipient) {
        (ReplicationMode::None, _) => false,
        (ReplicationMode::OwnerOnly, Recipient::Owner) => true,
        (ReplicationMode::OwnerOnly, Recipient::Observer) => false,
        (ReplicationMode::All, _) => true,
    }
}

/// A set of small integers, one bit each.
///
/// ```
/// let mut bits = ugas_net::mask::BitSet::default();
/// bits.put(70, true);
/// assert!(bits.has(70) && !bits.has(69) && !bits.has(700));
/// assert_eq!(bits.iter().collect::<Vec<_>>(), [70]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// Inserts or removes a number.
    pub fn put(&mut self, at: usize, on: bool) {
        let (word, bit) = (at / 64, 1 << (at % 64));
        if on && word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            *word = if on { *word | bit } else { *word & !bit };
        }
    }

    /// Returns whether the set contains a number.
    pub fn has(&self, at: usize) -> bool {
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Returns how many numbers the set contains.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the numbers of the set in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.words.len() * 64).filter(|&at| self.has(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ugas_doc::{Attribute, AttributeSet, Controller};

    const MODES: [ControllerReplication; 4] = [
        ControllerReplication::None,
        ControllerReplication::Minimal,
        ControllerReplication::Mixed,
        ControllerReplication::Full,
    ];

    /// Three attributes: hidden, visible to the owner, visible to all.
    fn rules() -> std::sync::Arc<Rules> {
        let attribute = |name: &str, mode| Attribute { replication_mode: mode, ..Attribute::new(name, 1.0) };
        let set = AttributeSet::new("S")
            .with(attribute("Hidden", ReplicationMode::None))
            .with(attribute("Own", ReplicationMode::OwnerOnly))
            .with(attribute("Open", ReplicationMode::All));
        Rules::builder().add(set).add(Controller::new("Plain").set("S")).build().unwrap()
    }

    /// Attributes, effects, tags and cues as sent to the owner and to observers.
    fn table(mode: ControllerReplication) -> [(Vec<usize>, bool, bool, bool); 2] {
        let rules = rules();
        [Recipient::Owner, Recipient::Observer].map(|recipient| {
            let mask = Mask::new(&rules, &[rules.set("S").unwrap()], mode, recipient);
            (mask.attributes.iter().collect(), mask.effects, mask.tags, mask.cues)
        })
    }

    #[test]
    fn each_mode_sends_what_the_table_lists() {
        let nothing = (vec![], false, false, false);
        let signs = (vec![], false, true, true);
        let own = (vec![1, 2], true, true, true);
        assert_eq!(table(ControllerReplication::None), [nothing.clone(), nothing]);
        assert_eq!(table(ControllerReplication::Minimal), [signs.clone(), signs.clone()]);
        assert_eq!(table(ControllerReplication::Mixed), [own.clone(), signs]);
        assert_eq!(table(ControllerReplication::Full), [own, (vec![2], true, true, true)]);
    }

    #[test]
    fn only_the_mode_none_has_an_empty_mask() {
        let rules = rules();
        for (mode, recipient) in MODES.into_iter().flat_map(|m| [(m, Recipient::Owner), (m, Recipient::Observer)]) {
            let mask = Mask::new(&rules, &[rules.set("S").unwrap()], mode, recipient);
            assert_eq!(mask.is_empty(), mode == ControllerReplication::None, "{mode:?} {recipient:?}");
        }
    }

    #[test]
    fn attributes_that_are_not_sent_are_hidden() {
        let rules = rules();
        let sets = [rules.set("S").unwrap()];
        let hidden = |mode, recipient| Mask::new(&rules, &sets, mode, recipient).hidden(&rules, &sets);
        let [unsent, owner] = ["Hidden", "Own"].map(|a| rules.attribute(a).unwrap());
        assert_eq!(*hidden(ControllerReplication::Full, Recipient::Owner), [unsent]);
        assert_eq!(*hidden(ControllerReplication::Full, Recipient::Observer), [unsent, owner]);
        assert_eq!(hidden(ControllerReplication::Mixed, Recipient::Observer).len(), 3);
    }

    // covers: UGAS-13.2-05
    #[test]
    fn the_default_mode_is_mixed() {
        let rules = rules();
        let plain = rules.template("Plain").unwrap();
        assert_eq!(rules.template_replication(plain), Some(ControllerReplication::Mixed));
    }
}
