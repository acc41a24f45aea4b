//! Tests of the device side: from events of devices to actions.

mod axes;
mod bindings;
mod catalogue;
mod chords;
mod corpora;
mod devices;
mod hostile;
mod kit;
mod packs;
mod pipeline;
mod profiles;
mod properties;
mod remapping;
