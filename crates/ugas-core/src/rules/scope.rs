//! The values that an expression may read in addition to attributes. They depend on the scope of the expression.

use super::interner::nearest;
use crate::{KeyId, ParamId};

/// The owner of the tags that `has_tag` tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bearer {
    Own,
    Source,
    Target,
    /// The event: its tag and its payload tags.
    Event,
    /// The hit.
    Hit,
}

impl Bearer {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Bearer::Own => "self",
            Bearer::Source => "source",
            Bearer::Target => "target",
            Bearer::Event => "event",
            Bearer::Hit => "hit",
        }
    }
}

/// A local value of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Local {
    /// `level`: the level of the activation, the grant or the effect.
    Level,
    /// `stacks`: the number of stacks of the effect.
    Stacks,
    /// `sbc.X`: a set-by-caller value.
    Caller(KeyId),
    /// `param.X`: a parameter of the grant, or else an entry of the event's payload.
    Param(ParamId),
    /// `event.Magnitude`.
    Magnitude,
    /// `event.Amount`: the amount of damage, healing or threat.
    Amount,
    /// `event.Direct`: 1 if the style is Direct, else 0.
    Direct,
    /// `event.Periodic`.
    Periodic,
    /// `event.Area`.
    Area,
    /// `cast.Tick`.
    Tick,
    /// `held`: how long the input was held, in seconds.
    Held,
    /// `found`: how many targets were found.
    Found,
    /// `hit.distance`: the distance of the hit; 0 without a hit.
    Distance,
    /// `distance()`: the distance between source and target, or between an ability's owner and its target; no value if
    /// one of them has no position.
    TargetDistance,
    /// A `Let` value, by its index.
    Bound(u16),
    /// `params.X`: a parameter of the execution, by its index among the parameters that the calculation reads.
    Given(u16),
}

/// Locals with a fixed name.
const WORDS: [(&str, Local); 12] = [
    ("level", Local::Level),
    ("stacks", Local::Stacks),
    ("held", Local::Held),
    ("found", Local::Found),
    ("cast.Tick", Local::Tick),
    ("event.Magnitude", Local::Magnitude),
    ("event.Amount", Local::Amount),
    ("event.Direct", Local::Direct),
    ("event.Periodic", Local::Periodic),
    ("event.Area", Local::Area),
    ("amount", Local::Amount),
    ("hit.distance", Local::Distance),
];

/// The values that expressions of one scope may read. Attributes are available everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    locals: &'static [Local],
    params: bool,
    keys: bool,
    rolls: bool,
    bearers: &'static [Bearer],
}

impl Scope {
    /// Derived attributes. Only attributes can be read.
    pub(crate) const VALUES: Scope = Scope { locals: &[], params: false, keys: false, rolls: false, bearers: &[] };
    /// Conditions of capabilities: attributes and tags of the owner.
    pub(crate) const OWNER: Scope =
        Scope { locals: &[], params: false, keys: false, rolls: false, bearers: &[Bearer::Own] };
    /// `ActivationCondition`. There is no event yet.
    pub(crate) const ACTIVATION: Scope = Scope {
        locals: &[Local::Level, Local::TargetDistance],
        params: true,
        keys: false,
        rolls: false,
        bearers: &[Bearer::Own, Bearer::Source, Bearer::Target],
    };
    /// `ApplicationCondition`. The parameters are those of the ability that applies the effect.
    pub(crate) const APPLICATION: Scope = Scope {
        locals: &[Local::Level, Local::Stacks, Local::Distance, Local::TargetDistance],
        params: true,
        keys: true,
        rolls: false,
        bearers: &[Bearer::Own, Bearer::Source, Bearer::Target, Bearer::Hit],
    };
    /// Numbers and branches of tasks. The source is the controller that caused the activation.
    pub(crate) const TASK: Scope = Scope {
        locals: &[
            Local::Level,
            Local::Magnitude,
            Local::Tick,
            Local::Held,
            Local::Found,
            Local::Distance,
            Local::TargetDistance,
        ],
        params: true,
        keys: false,
        rolls: false,
        bearers: &[Bearer::Own, Bearer::Source, Bearer::Target, Bearer::Event, Bearer::Hit],
    };
    /// `When` of combat rules.
    pub(crate) const RULE: Scope = Scope {
        locals: &[
            Local::Level,
            Local::Stacks,
            Local::Magnitude,
            Local::Amount,
            Local::Direct,
            Local::Periodic,
            Local::Area,
            Local::TargetDistance,
        ],
        params: false,
        keys: true,
        rolls: false,
        bearers: &[Bearer::Own, Bearer::Source, Bearer::Target, Bearer::Event],
    };

    /// Expressions of a `calculation`. A name without a prefix is an attribute of the target.
    pub(crate) const CALCULATION: Scope = Scope {
        locals: &[Local::Level, Local::Stacks, Local::Amount, Local::Distance, Local::TargetDistance],
        params: false,
        keys: true,
        rolls: true,
        bearers: &[Bearer::Own, Bearer::Source, Bearer::Target, Bearer::Hit],
    };

    /// Returns whether an expression may draw random numbers.
    pub(crate) fn rolls(&self) -> bool {
        self.rolls
    }

    /// Returns whether there is a target, so that `distance()` is defined.
    pub(crate) fn has_distance(&self) -> bool {
        self.locals.contains(&Local::TargetDistance)
    }

    pub(crate) fn bearers(&self) -> &'static [Bearer] {
        self.bearers
    }

    /// Resolves a local. Returns `None` if the word is not a local, and an error if the scope does not have the local.
    /// In a scope without locals, every word is an attribute.
    pub(crate) fn local(
        &self,
        word: &str,
        key: &mut dyn FnMut(&str) -> Result<KeyId, String>,
    ) -> Option<Result<Local, String>> {
        if self.locals.is_empty() {
            return None;
        }
        let here = |local: Local, there: bool| match there {
            true => Ok(local),
            false => Err(format!("{word} is not available here; remove it")),
        };
        if let Some((_, local)) = WORDS.iter().find(|(w, _)| *w == word) {
            return Some(here(*local, self.locals.contains(local)));
        }
        match word.split_once('.')? {
            ("param", name) => Some(here(Local::Param(ParamId::named(name)), self.params)),
            ("sbc", _) if !self.keys => Some(Err(format!("{word} is not available here; remove it"))),
            ("sbc", name) => Some(key(name).map(Local::Caller)),
            (of @ ("event" | "cast" | "hit"), name) => {
                let near = nearest(word, WORDS.iter().map(|(w, _)| *w));
                Some(Err(format!("{of} has no {name}{}", super::lookup::suggestion(near))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_lists_every_value_of_an_expression() {
        let page = include_str!("../../../../book/src/calculations.md");
        for (word, _) in WORDS {
            assert!(page.contains(&format!("`{word}`")), "calculations.md does not list {word}");
        }
    }
}
