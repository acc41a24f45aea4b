//! Combat: values that combat rules change, restrictions, global cooldowns, charges, casts, lost targets, input,
//! damage.

mod cast;
mod charge;
mod damage;
mod gcd;
mod lost;
mod restrict;
mod value;

pub use charge::ChargeView;
pub(crate) use damage::CombatResult;
pub(crate) use value::{CombatEvent, RuleHolder, RuledValue};
