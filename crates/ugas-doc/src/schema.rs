//! JSON Schemas of the documents, generated from the types, so that editors check what the reader accepts.

use crate::{Binding, Formula, Kind, Time};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Returns the JSON Schema (2020-12) of a document kind, without the keys `Kind` and `$schema`.
///
/// ```
/// let schema = ugas_doc::schema_of(ugas_doc::Kind::Curve);
/// assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
/// assert!(schema["properties"]["Points"].is_object());
/// ```
pub fn schema_of(kind: Kind) -> serde_json::Value {
    fn of<T: JsonSchema>() -> serde_json::Value {
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
    }
    match kind {
        Kind::Attribute => of::<crate::Attribute>(),
        Kind::AttributeSet => of::<crate::AttributeSet>(),
        Kind::TagRegistry => of::<crate::TagRegistry>(),
        Kind::Effect => of::<crate::Effect>(),
        Kind::Ability => of::<crate::Ability>(),
        Kind::Controller => of::<crate::Controller>(),
        Kind::Curve => of::<crate::Curve>(),
        Kind::AbilitySet => of::<crate::AbilitySet>(),
        Kind::Timeline => of::<crate::Timeline>(),
        Kind::Calculation => of::<crate::Calculation>(),
        Kind::InputAction => of::<crate::InputAction>(),
        Kind::InputActionSet => of::<crate::InputActionSet>(),
        Kind::InputMapping => of::<crate::InputMapping>(),
        Kind::InputModifier => of::<crate::InputModifier>(),
        Kind::Scene => of::<crate::Scene>(),
        Kind::Patch => of::<crate::Patch>(),
    }
}

impl JsonSchema for Formula {
    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "An expression, or a plain number or boolean.", "type": ["string", "number", "boolean"]})
    }
}

impl JsonSchema for Binding {
    fn schema_name() -> Cow<'static, str> {
        "Binding".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let formula = generator.subschema_for::<Formula>();
        json_schema!({
            "description": "One name with its expression.",
            "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": formula
        })
    }
}

impl JsonSchema for Time {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Seconds, or frames such as 12f.",
            "anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+f$"}]
        })
    }
}
