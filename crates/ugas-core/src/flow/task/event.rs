//! Gameplay events. The combat rules of the receiving controller can prevent an event or change its magnitude. Each
//! event that is not prevented emits a fact and is passed to the waiting tasks and triggers of the receiving row.

use crate::fact::{ParamValue, put_param};
use crate::flow::combat::{CombatEvent, RuleHolder, RuledValue};
use crate::flow::{Flow, RowEvent, Via};
use crate::rules::RuleOn;
use crate::state::alert;
use crate::{BadValue, ControllerId, EventData, FactKind, NameKind, Refusal, Restriction};

/// Maximum number of entries of an event's payload.
const PAYLOAD: usize = 64;

impl Flow<'_> {
    pub(crate) fn send_event(&mut self, mut event: EventData) -> Result<(), Refusal> {
        let slot = self.slot(event.target)?;
        if self.rules.tags.def(event.tag).is_none() {
            return Err(Refusal::UnknownName { kind: NameKind::Tag, id: event.tag.0 });
        }
        let numbers = event.payload.iter().map(|p| p.1).chain([event.magnitude]);
        if !numbers.clone().all(f64::is_finite) || event.payload.len() > PAYLOAD {
            return Err(Refusal::BadValue { what: BadValue::Number });
        }
        event.hit.iter().try_for_each(|hit| self.rules.refuse_hit(hit))?;
        if event.instigator.is_some_and(|i| i.0 >= self.st.next_id) {
            return Err(Refusal::StaleHandle);
        }
        let source = event.instigator.unwrap_or(ControllerId::NONE);
        self.journal_source(event.target, source);
        self.rule_event(slot, &mut event)?;
        let mut bytes = Vec::new();
        for (name, value) in &event.payload {
            let number = name.0.to_string();
            let name = self.rules.param_name(*name).unwrap_or(&number);
            put_param(&mut bytes, name, ParamValue::Number(*value));
        }
        if let Some(place) = event.hit.as_ref().and_then(|h| h.position) {
            put_param(&mut bytes, "HitPosition", ParamValue::Vector(place));
        }
        let detail = self.log.keep(&bytes);
        let via = Via { source, ..Via::NOTHING };
        let (tag, magnitude) = (event.tag, event.magnitude);
        self.fact(event.target, via, FactKind::GameplayEvent { tag, magnitude, detail });
        self.notify(slot, alert::EVENT, || RowEvent::Event(Box::new(event)));
        Ok(())
    }

    /// Applies the receiver's combat rules, which may prevent an event or scale its magnitude. The sign of the
    /// magnitude is kept.
    fn rule_event(&self, slot: usize, event: &mut EventData) -> Result<(), Refusal> {
        let (view, on, size) = (self.view(), RuleOn::Event(event.tag), event.magnitude.abs());
        let about = CombatEvent {
            tags: &[event.tag],
            amount: event.magnitude,
            style: Default::default(),
            source: event.instigator.unwrap_or(ControllerId::NONE),
            target: event.target,
            attribute: None,
            frozen: None,
        };
        if view.restricted(slot, on, None, Some(&about)) {
            return Err(Refusal::Restricted { by: Restriction::CombatRule });
        }
        let RuledValue { value: ruled, is_restricted } =
            view.ruled_value(RuleHolder::Row(slot), on, size, None, Some(&about));
        if is_restricted {
            return Err(Refusal::Restricted { by: Restriction::CombatRule });
        }
        if ruled != size {
            event.magnitude = if event.magnitude < 0.0 { -ruled } else { ruled };
        }
        Ok(())
    }
}
