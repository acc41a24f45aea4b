//! JSON Schemas of the documents, generated from the types, so that editors accept the same documents as the reader.

use crate::{Binding, Formula, Time};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Returns the JSON Schema of a type.
pub(crate) fn of_type<T: JsonSchema>() -> serde_json::Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
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
