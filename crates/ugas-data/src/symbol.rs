//! Finds the names in documents: definitions and references.
//!
//! One table lists the keys whose values contain names, with the kind of these names. Completion, go to definition,
//! references, rename, the lint rules about unused names and the code that locates errors all use this table.

use crate::{Node, NodeValue, Span};
use std::fmt;
use ugas_doc::{Kind, STAT_PREFIX};

/// One variant; the noun only repeats it for each kind that has one.
macro_rules! symbol {
    ($kind:ident $noun:literal) => {
        SymbolKind::$kind
    };
}

macro_rules! symbols {
    ($(
        $(#[$doc:meta])*
        $kind:ident { name: $name:literal $(, defines: { noun: $noun:literal, $($entry:tt)* })? }
    )*) => {
        /// The kind of a name: a tag, or the kind of document that defines the name.
        ///
        /// ```
        /// assert_eq!(ugas_data::SymbolKind::Effect.to_string(), "effect");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum SymbolKind {
            /// A gameplay tag.
            Tag,
            $($(
                #[doc = concat!("The name of a document of the kind `", $name, "`: ", $noun, ".")]
                $kind,
            )?)*
        }

        impl SymbolKind {
            /// Returns the kind of document that defines names of this kind at its top; tags have none.
            pub(crate) fn document_kind(self) -> Option<Kind> {
                match self {
                    SymbolKind::Tag => None,
                    $($(symbol!($kind $noun) => Some(Kind::$kind),)?)*
                }
            }
        }

        /// Returns the kind of the names that documents of a kind define, or `None` if other documents never refer to
        /// them.
        pub(crate) fn symbol_kind(kind: Kind) -> Option<SymbolKind> {
            match kind {
                $(Kind::$kind => [$(symbol!($kind $noun))?].first().copied(),)*
            }
        }
    };
}
ugas_doc::for_each_kind!(symbols);

impl fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.document_kind().and_then(Kind::defines).map_or("tag", |d| d.noun))
    }
}

/// A name in a document.
///
/// ```
/// use ugas_data::{SymbolKind, mentions, read_trees};
/// let text = "Kind: gameplay_effect\nName: GE_Hit\nDurationPolicy: Instant\nGrantedTags: [State.Hurt]\n";
/// let tree = &read_trees("hit.yaml", text).unwrap()[0];
/// let names = mentions(ugas_doc::Kind::Effect, tree, text);
/// assert!(names.iter().any(|m| m.definition && m.name == "GE_Hit"));
/// assert!(names.iter().any(|m| !m.definition && m.kind == SymbolKind::Tag && m.name == "State.Hurt"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The kind.
    pub kind: SymbolKind,
    /// The name.
    pub name: String,
    /// The span of the name in the file, without quotes.
    pub span: Span,
    /// Whether this is the definition of the name.
    pub definition: bool,
    /// The key under which the name is written.
    pub key: String,
}

/// The content of a key.
#[derive(Clone, Copy)]
enum KeyContent {
    /// One name, or a list of names.
    Name(SymbolKind),
    /// An expression, which may name attributes, tags (in `has_tag`) and curves (in `curve`).
    Expression,
    /// A tag query.
    Query,
    /// A description, which may name effects and attributes in braces.
    Prose,
    /// No reference, although the key contains names in other kinds.
    NoName,
}

use KeyContent::{Expression, Name, NoName, Prose, Query};
use SymbolKind::{
    Ability, AbilitySet, Attribute, AttributeSet, Calculation, Capability, CapabilitySet, Controller, Curve, Effect,
    InputAction, InputActionSet, InputModifier, MotionPattern, Scene, StatTable, Tag,
};

/// Keys that contain names in every kind. Keys with different meanings are below.
const ANYWHERE: &[(&str, KeyContent)] = &[
    ("AbilityTags", Name(Tag)),
    ("ActionTags", Name(Tag)),
    ("ActivationBlockedTags", Name(Tag)),
    ("ActivationOwnedTags", Name(Tag)),
    ("ActivationRequiredTags", Name(Tag)),
    ("ApplicationBlockedTags", Name(Tag)),
    ("ApplicationRequiredTags", Name(Tag)),
    ("BlockAbilitiesWithTags", Name(Tag)),
    ("BlockedByTags", Name(Tag)),
    ("BlockedTags", Name(Tag)),
    ("CancelAbilitiesWithTags", Name(Tag)),
    ("CancelOtherAbilitiesWithTags", Name(Tag)),
    ("CancelledByTags", Name(Tag)),
    ("Cue", Name(Tag)),
    ("EffectTags", Name(Tag)),
    ("Event", Name(Tag)),
    ("EventTag", Name(Tag)),
    ("ExcludeTags", Name(Tag)),
    ("GameplayCues", Name(Tag)),
    ("GrantedTags", Name(Tag)),
    ("IgnoreTargetsWithTag", Name(Tag)),
    ("OngoingBlockedTags", Name(Tag)),
    ("OngoingRequiredTags", Name(Tag)),
    ("OwnedTags", Name(Tag)),
    ("RemoveEffectsWithTags", Name(Tag)),
    ("RequireTags", Name(Tag)),
    ("RequiredTags", Name(Tag)),
    ("School", Name(Tag)),
    ("SourceBlockedTags", Name(Tag)),
    ("SourceRequiredTags", Name(Tag)),
    ("SourceTags", Name(Tag)),
    ("StartupTags", Name(Tag)),
    ("Tag", Name(Tag)),
    ("TagAdded", Name(Tag)),
    ("TagPresent", Name(Tag)),
    ("TargetBlockedTags", Name(Tag)),
    ("TargetRequiredTags", Name(Tag)),
    ("TargetTags", Name(Tag)),
    ("WaitTag", Name(Tag)),
    ("WithTags", Name(Tag)),
    ("Attribute", Name(Attribute)),
    ("BackingAttribute", Name(Attribute)),
    ("Dependencies", Name(AttributeSet)),
    ("EffectApplied", Name(Effect)),
    ("EffectClass", Name(Effect)),
    ("OnApplied", Name(Effect)),
    ("OnExecuted", Name(Effect)),
    ("OnExpired", Name(Effect)),
    ("OnRemoved", Name(Effect)),
    ("OverflowEffects", Name(Effect)),
    ("StartupEffects", Name(Effect)),
    ("AbilityClass", Name(Ability)),
    ("Ability", Name(Ability)),
    ("AbilitySets", Name(AbilitySet)),
    ("Curve", Name(Curve)),
    ("CalculatorClass", Name(Calculation)),
    ("Mitigation", Name(Calculation)),
    ("InputID", Name(InputAction)),
    ("ActiveActionSets", Name(InputActionSet)),
    ("ActivationQuery", Query),
    ("Query", Query),
    ("Filter", Query),
    ("ActivationCondition", Expression),
    ("ApplicationCondition", Expression),
    ("Expression", Expression),
    ("When", Expression),
    ("Description", Prose),
];

/// Keys that contain names in one kind only.
const IN_KIND: &[(Kind, &str, KeyContent)] = &[
    (Kind::Ability, "Cost", Name(Effect)),
    (Kind::Ability, "Cooldown", Name(Effect)),
    // Numbers of tasks may be expressions.
    (Kind::Ability, "Duration", Expression),
    (Kind::Ability, "Gravity", Expression),
    (Kind::Ability, "Level", Expression),
    (Kind::Ability, "Magnitude", Expression),
    (Kind::Ability, "MaxRange", Expression),
    (Kind::Ability, "PlayRate", Expression),
    (Kind::Ability, "Radius", Expression),
    (Kind::Ability, "Speed", Expression),
    (Kind::Ability, "Stacks", Expression),
    (Kind::Effect, "Effects", Name(Effect)),
    (Kind::Effect, "Abilities", Name(Ability)),
    (Kind::AbilitySet, "Effects", Name(Effect)),
    (Kind::AbilitySet, "AttributeSets", Name(AttributeSet)),
    // The entries of `Capabilities`.
    (Kind::AbilitySet, "Class", Name(Capability)),
    (Kind::AbilitySet, "Tags", Name(Tag)),
    (Kind::AbilitySet, "BlockedBy", Query),
    (Kind::Capability, "Until", Expression),
    (Kind::Capability, "Effects", Name(Effect)),
    (Kind::Capability, "OnActivated", Name(Effect)),
    (Kind::Capability, "OnDeactivated", Name(Effect)),
    (Kind::Capability, "OnTick", Name(Effect)),
    (Kind::Capability, "Block", Name(Tag)),
    (Kind::CapabilitySet, "Sets", Name(CapabilitySet)),
    (Kind::CapabilitySet, "DataComponents", Name(AttributeSet)),
    (Kind::CapabilitySet, "Class", Name(Capability)),
    (Kind::CapabilitySet, "Tags", Name(Tag)),
    (Kind::CapabilitySet, "BlockedBy", Query),
    // `Capabilities.Sets`.
    (Kind::Controller, "Sets", Name(CapabilitySet)),
    (Kind::AttributeSet, "Min", Name(Attribute)),
    (Kind::AttributeSet, "Max", Name(Attribute)),
    (Kind::AttributeSet, "Before", Name(Attribute)),
    (Kind::Attribute, "Min", Name(Attribute)),
    (Kind::Attribute, "Max", Name(Attribute)),
    (Kind::Attribute, "Before", Name(Attribute)),
    // Defines the stat.
    (Kind::StatTable, "Tag", NoName),
    (Kind::StatTable, "Abilities", Name(Ability)),
    (Kind::Controller, "Stats", Name(StatTable)),
    // A resource is an attribute with its bounds.
    (Kind::Controller, "Resource", Name(Attribute)),
    (Kind::Resource, "MaxStat", Name(Attribute)),
    (Kind::Resource, "MinStat", Name(Attribute)),
    (Kind::Resource, "Effects", Name(Effect)),
    (Kind::Resource, "OnChanged", Name(Effect)),
    (Kind::Calculation, "Value", Expression),
    (Kind::InputActionSet, "Actions", Name(InputAction)),
    (Kind::MotionPattern, "Action", Name(InputAction)),
    (Kind::Ability, "Motion", Name(MotionPattern)),
    (Kind::InputMapping, "Action", Name(InputAction)),
    (Kind::InputMapping, "ActionSet", Name(InputActionSet)),
    (Kind::InputMapping, "Modifiers", Name(InputModifier)),
    (Kind::InputProfile, "Action", Name(InputAction)),
    (Kind::InputProfile, "ActionSet", Name(InputActionSet)),
    (Kind::Scene, "Controller", Name(Controller)),
    (Kind::Scene, "Extends", Name(Scene)),
];

/// Returns every name in a document, in the order of the file. `text` is the text of the whole file.
pub fn mentions(kind: Kind, tree: &Node, text: &str) -> Vec<Mention> {
    let mut found = MentionCollector { kind, text, mentions: Vec::new() };
    let define = |found: &mut MentionCollector<'_>, what, node: Option<&Node>| {
        if let Some(node) = node {
            found.name(what, node, "Name", true);
        }
    };
    if let (Some(what), Some(defined)) = (symbol_kind(kind), kind.defines()) {
        let at = defined.key.split('.').try_fold(tree, |node, step| node.get(step));
        // A resource is referred to as its attribute.
        define(&mut found, if kind == Kind::Resource { Attribute } else { what }, at);
    }
    let list = |key: &str| tree.get(key).map_or(&[][..], Node::items);
    if kind == Kind::TagRegistry {
        list("Tags").iter().for_each(|t| define(&mut found, Tag, t.get("Tag")));
    } else if kind == Kind::AttributeSet {
        list("Attributes").iter().for_each(|a| define(&mut found, Attribute, a.get("Name")));
    } else if kind == Kind::StatTable {
        list("Stats").iter().for_each(|s| define(&mut found, Attribute, s.get("Tag")));
    } else if kind == Kind::Controller {
        for set in list("AttributeSets") {
            found.reference(AttributeSet, set.get("Name"), "Name");
            for a in set.get("Attributes").map_or(&[][..], Node::items) {
                found.reference(Attribute, a.get("Name"), "Name");
            }
        }
    } else if kind == Kind::Calculation {
        for binding in list("Let") {
            binding.entries().iter().for_each(|e| found.expression(&e.value, "Let"));
        }
        for side in tree.get("Capture").map_or(&[][..], Node::entries) {
            for e in side.value.entries() {
                let quoted = e.span.of(text).is_some_and(|cut| cut.starts_with(['"', '\'']));
                let inset = u32::from(quoted);
                let span = Span { start: e.span.start + inset, end: e.span.end - inset };
                found.put(Attribute, e.key.clone(), span, "Capture", false);
            }
        }
    }
    if !matches!(kind, Kind::TagRegistry | Kind::Patch) {
        found.walk(tree, true);
    }
    found.mentions.sort_by_key(|m| m.span);
    found.mentions.dedup();
    found.mentions
}

struct MentionCollector<'t> {
    kind: Kind,
    text: &'t str,
    mentions: Vec<Mention>,
}

impl MentionCollector<'_> {
    fn walk(&mut self, node: &Node, top: bool) {
        for e in node.entries() {
            let own = IN_KIND.iter().find(|(k, key, _)| *k == self.kind && *key == e.key).map(|(.., holds)| *holds);
            let holds = own.or_else(|| ANYWHERE.iter().find(|(key, _)| *key == e.key).map(|(_, holds)| *holds));
            // In maps such as `Charges.Cost` these keys contain numbers; only texts are names.
            match holds {
                Some(Name(what)) => self.names(what, &e.value, &e.key),
                Some(Expression) => self.expression(&e.value, &e.key),
                Some(Query) => self.query(&e.value, &e.key),
                Some(Prose) => self.prose(&e.value, &e.key),
                Some(NoName) | None => {}
            }
            match e.key.as_str() {
                // In `Metadata` only the description contains names.
                "Metadata" if top => {
                    if let Some(text) = e.value.get("Description") {
                        self.prose(text, "Description");
                    }
                }
                // An attribute, unless it is `Level`.
                "CurveInput" if e.value.as_text() != Some("Level") => {
                    self.reference(Attribute, Some(&e.value), &e.key);
                }
                "SetByCaller" => e.value.entries().iter().for_each(|v| self.expression(&v.value, &e.key)),
                _ => self.walk(&e.value, false),
            }
        }
        node.items().iter().for_each(|n| self.walk(n, false));
    }

    fn names(&mut self, what: SymbolKind, node: &Node, key: &str) {
        match &node.value {
            NodeValue::Text(_) => self.name(what, node, key, false),
            NodeValue::List(items) => items.iter().for_each(|n| {
                if n.as_text().is_some() {
                    self.name(what, n, key, false);
                }
            }),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::Map(_) => {}
        }
    }

    fn reference(&mut self, what: SymbolKind, node: Option<&Node>, key: &str) {
        if let Some(node) = node {
            self.name(what, node, key, false);
        }
    }

    fn name(&mut self, what: SymbolKind, node: &Node, key: &str, definition: bool) {
        let Some(name) = node.as_text() else { return };
        if let Some(span) = self.inside(node, name) {
            self.put(what, name.to_owned(), span, key, definition);
        }
    }

    fn put(&mut self, kind: SymbolKind, mut name: String, mut span: Span, key: &str, definition: bool) {
        // `Stat.Haste` is the attribute `Haste` of a stat table.
        if kind == Attribute && name.starts_with(STAT_PREFIX) {
            name.drain(..STAT_PREFIX.len());
            span.start += STAT_PREFIX.len() as u32;
        }
        self.mentions.push(Mention { kind, name, span, definition, key: key.to_owned() });
    }

    /// Returns the span of a text without quotes; `None` if it contains escapes.
    fn inside(&self, node: &Node, text: &str) -> Option<Span> {
        let cut = node.span.of(self.text)?;
        let at = node.span.start as usize + cut.find(text)?;
        Some(Span::new(at, at + text.len()))
    }

    fn query(&mut self, node: &Node, key: &str) {
        let Some((text, start)) = node.as_text().and_then(|t| Some((t, self.inside(node, t)?.start as usize))) else {
            return;
        };
        for (at, word) in words(text) {
            self.put(Tag, word.to_owned(), Span::new(start + at, start + at + word.len()), key, false);
        }
    }

    /// Finds the names of a description: `Deals {GE_Fireball.Health} damage for {GE_Burn.Duration} s`.
    fn prose(&mut self, node: &Node, key: &str) {
        let Some((text, start)) = node.as_text().and_then(|t| Some((t, self.inside(node, t)?.start as usize))) else {
            return;
        };
        for (open, _) in text.match_indices('{') {
            // Searching for the closing brace of each would be quadratic, so a name ends at the first character that
            // cannot be part of one.
            let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
            let len = text[open + 1..].bytes().take_while(|b| part(*b)).count();
            let (name, rest) = text[open + 1..].split_at(len);
            let at = start + open + 1;
            let whole = words(name).next().is_some_and(|(begin, word)| begin == 0 && word.len() == name.len());
            match name.rsplit_once('.') {
                _ if !whole || !rest.starts_with('}') => {}
                None if name == "Level" => {}
                None => self.put(Attribute, name.to_owned(), Span::new(at, at + name.len()), key, false),
                Some((effect, what)) => {
                    self.put(Effect, effect.to_owned(), Span::new(at, at + effect.len()), key, false);
                    if !["Chance", "Duration", "Period"].contains(&what) {
                        let at = at + effect.len() + 1;
                        self.put(Attribute, what.to_owned(), Span::new(at, at + what.len()), key, false);
                    }
                }
            }
        }
    }

    fn expression(&mut self, node: &Node, key: &str) {
        let Some((text, start)) = node.as_text().and_then(|t| Some((t, self.inside(node, t)?.start as usize))) else {
            return;
        };
        let mut before = "";
        let mut function = "";
        for (at, word) in words(text) {
            let rest = text[at + word.len()..].trim_start();
            let what = match function {
                "has_tag" if before == "has_tag" => None,
                "has_tag" => Some(Tag),
                "curve" if before == "curve" => Some(Curve),
                _ => Some(Attribute),
            };
            if rest.starts_with('(') {
                function = word;
            } else {
                if let Some(what) = what {
                    self.in_expression(what, word, start + at, key);
                }
                // After the second argument of has_tag and the first of curve, names are attributes again.
                if (function == "has_tag" && before != "has_tag") || function == "curve" {
                    function = "";
                }
            }
            before = word;
        }
    }

    fn in_expression(&mut self, what: SymbolKind, word: &str, at: usize, key: &str) {
        let (skip, name) = match word.split_once('.') {
            Some(("self" | "source" | "target", rest)) if what == Attribute => (word.len() - rest.len(), rest),
            Some((first, _)) if what == Attribute && first != "Stat" => return,
            _ => (0, word),
        };
        // Attributes start with a capital letter; `level`, `raw` and the like are built-in values.
        let short = name.rsplit("::").next().unwrap_or(name);
        if short.starts_with(|c: char| c.is_ascii_uppercase()) {
            self.put(what, name.to_owned(), Span::new(at + skip, at + word.len()), key, false);
        }
    }
}

/// Returns names with dots and namespaces, and their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut at = 0;
    std::iter::from_fn(move || {
        at += text[at..].find(|c: char| c.is_ascii_alphanumeric() || c == '_')?;
        let mut len = text[at..].find(|c: char| !part(c)).unwrap_or(text.len() - at);
        while text[at + len..].strip_prefix("::").is_some_and(|rest| rest.starts_with(part)) {
            len += 2;
            len += text[at + len..].find(|c: char| !part(c)).unwrap_or(text.len() - at - len);
        }
        let word = (at, &text[at..at + len]);
        at += len;
        Some(word)
    })
    .filter(|(_, word)| !word.starts_with(|c: char| c.is_ascii_digit()))
}
