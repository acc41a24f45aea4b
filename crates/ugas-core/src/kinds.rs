//! The kinds of definitions that rules assign ids to, as one table with one entry per kind.
//!
//! Each entry generates the id type, the variant of [`NameKind`] and the look-ups of [`Rules`](crate::Rules) by name
//! and by id. `table` is the field of the rules that stores the names. The hash of the rules depends on the order of
//! the table, so a new kind must be added at the end.

use crate::ids::{described, ids};
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! for_each_name_kind {
    ($then:ident) => {
        $then! {
            /// An attribute by name: `Health`, or `Vitals.Health` with the name of its attribute set. If several
            /// attribute sets define an attribute `Health`, the name `Health` has one id for all of them. The form
            /// `Vitals.Health` selects the attribute only on controllers that have the attribute set `Vitals`.
            Attribute {
                id: AttributeId, a: "an", noun: "attribute",
                table: attributes, find: find_attribute, get: attribute, name: attribute_name
            }
            /// An attribute set.
            Set { id: SetId, a: "an", noun: "attribute set", table: sets, find: find_set, get: set, name: set_name }
            /// A tag.
            Tag { id: TagId, a: "a", noun: "tag", table: tags, find: find_tag, get: tag, name: tag_name }
            /// An effect definition.
            Effect { id: EffectId, a: "an", noun: "effect", table: effects, find: find_effect, get: effect, name: effect_name }
            /// An ability definition.
            Ability {
                id: AbilityId, a: "an", noun: "ability",
                table: abilities, find: find_ability, get: ability, name: ability_name
            }
            /// An ability set.
            AbilitySet {
                id: AbilitySetId, a: "an", noun: "ability set",
                table: ability_sets, find: find_ability_set, get: ability_set, name: ability_set_name
            }
            /// A timeline.
            Timeline {
                id: TimelineId, a: "a", noun: "timeline",
                table: timelines, find: find_timeline, get: timeline, name: timeline_name
            }
            /// A task type.
            TaskKind {
                id: TaskKindId, a: "a", noun: "task type",
                table: task_names, find: find_task_kind, get: task_kind, name: task_kind_name
            }
            /// A curve.
            Curve { id: CurveId, a: "a", noun: "curve", table: curves, find: find_curve, get: curve, name: curve_name }
            /// A calculation: a document, or host code.
            Calculation {
                id: CalcId, a: "a", noun: "calculation",
                table: calcs, find: find_calculator, get: calculator, name: calculator_name
            }
            /// A registered hook, requirement or validator.
            Hook { id: HookId, a: "a", noun: "hook", table: hook_names, find: find_hook, get: hook, name: hook_name }
            /// A set-by-caller key.
            Key { id: KeyId, a: "a", noun: "set-by-caller key", table: key_names, find: find_key, get: key, name: key_name }
            /// An input binding name.
            Input { id: InputId, a: "an", noun: "input", table: input_names, find: find_input, get: input, name: input_name }
            /// A controller template, by the `ActorID` of its document.
            Template {
                id: TemplateId, a: "a", noun: "controller template",
                table: templates, find: find_template, get: template, name: template_name
            }
            /// A class of capabilities: a document, or host code.
            Capability {
                id: CapabilityId, a: "a", noun: "capability",
                table: capabilities, find: find_capability, get: capability, name: capability_name
            }
            /// A set of input actions.
            ActionSet {
                id: ActionSetId, a: "an", noun: "input action set",
                table: action_sets, find: find_action_set, get: action_set, name: action_set_name
            }
            /// A motion pattern.
            Motion {
                id: MotionId, a: "a", noun: "motion pattern",
                table: motions, find: find_motion, get: motion, name: motion_name
            }
        }
    };
}
pub(crate) use for_each_name_kind;

macro_rules! kinds {
    ($(
        $(#[$doc:meta])*
        $kind:ident { id: $id:ident, a: $a:literal, noun: $noun:literal, table: $table:ident, find: $find:ident, get: $get:ident, name: $name:ident }
    )*) => {
        /// The kinds of definitions that rules assign ids to.
        ///
        /// ```
        /// assert_eq!(ugas_core::NameKind::AbilitySet.to_string(), "ability set");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum NameKind {
            $($(#[$doc])* $kind,)*
            /// A run-time definition.
            Definition,
        }

        impl NameKind {
            /// The kinds that have names in the rules.
            pub(crate) const NAMED: [NameKind; [$($noun),*].len()] = [$(NameKind::$kind),*];

            /// Returns the noun for messages.
            pub(crate) fn noun(self) -> &'static str {
                match self {
                    $(NameKind::$kind => $noun,)*
                    NameKind::Definition => "run-time definition",
                }
            }
        }

        ids! {
            $($(#[$doc])* $id $noun;)*
        }

        described! {
            $($id $name;)*
        }
    };
}
for_each_name_kind!(kinds);

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.noun())
    }
}
