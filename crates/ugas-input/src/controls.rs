//! The controls of a game on one machine: actions, bindings and modifiers of the loaded platforms, with the changes of
//! one player. Several players on one machine have one clone each.

mod compiler;

use crate::binding::{self, Binding, Part};
use crate::catalogue::{Atom, InputCode};
use crate::modifier::{self, CustomModifier, CustomModifiers, Step};
use crate::spelling;
use compiler::Compiler;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use ugas_core::SimTime;
use ugas_doc::{BindingChange, CompositeSlot, Doc, InputBinding, InputModifier, InputValue, Platform, Value};

/// The most bindings of a game.
const MOST_BINDINGS: usize = 1024;

/// An action of [`Controls`], as a small number.
///
/// ```
/// # use ugas_doc::{Doc, InputAction, InputValue};
/// use ugas_input::Controls;
/// let docs = [Doc::from(InputAction::new("Fire", InputValue::Digital))];
/// let controls = Controls::new(&docs, &[])?;
/// assert_eq!(controls.action_name(controls.action("Fire").unwrap()), "Fire");
/// # Ok::<(), ugas_input::ControlsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ActionIndex(pub(crate) u16);

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub(crate) name: Arc<str>,
    pub(crate) value: InputValue,
    pub(crate) consumes: bool,
    pub(crate) is_simulated: bool,
    /// Indices of its bindings, the highest rank first.
    pub(crate) bindings: Vec<u16>,
    /// Whether a binding of the action is relative.
    pub(crate) is_relative: bool,
    /// Whether a binding of the action requires tags.
    pub(crate) has_tags: bool,
}

impl Action {
    pub(crate) fn is_digital(&self) -> bool {
        self.value == InputValue::Digital
    }
}

#[derive(Clone, Debug)]
struct Set {
    name: Arc<str>,
    priority: i32,
    actions: Vec<Box<str>>,
}

/// A binding as its mapping has it.
#[derive(Clone, Debug)]
struct Authored {
    set: u16,
    platform: Option<Platform>,
    action: u16,
    doc: InputBinding,
}

/// The inputs of a binding or of one direction of it: what a player can change.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) authored: u16,
    pub(crate) slot: Option<CompositeSlot>,
    pub(crate) default: Vec<InputCode>,
    pub(crate) current: Vec<InputCode>,
}

#[derive(Clone, Debug)]
pub(crate) struct Modifier {
    pub(crate) doc: InputModifier,
    pub(crate) changes: BTreeMap<String, Value>,
    step: Step,
}

/// The controls of a game with the changes of one player.
///
/// ```
/// use ugas_doc::{Device, DeviceInput, Doc, InputAction, InputActionSet, InputBinding, InputMapping, InputValue};
/// use ugas_input::Controls;
/// let space = DeviceInput { device: Device::Keyboard, input: "Key.Spcae".into(), custom_device_name: None };
/// let jump = InputBinding { inputs: vec![space], ..InputBinding::new("Jump") };
/// let docs = [
///     Doc::from(InputAction::new("Jump", InputValue::Digital)),
///     Doc::from(InputActionSet::new("OnFoot", ["Jump"])),
///     Doc::from(InputMapping { action_set: "OnFoot".into(), platform: None, bindings: vec![jump], metadata: None }),
/// ];
/// let error = Controls::new(&docs, &[]).unwrap_err();
/// assert!(error.to_string().contains("did you mean 'Key.Space'?"));
/// ```
#[derive(Clone)]
pub struct Controls {
    pub(crate) actions: Vec<Action>,
    sets: Vec<Set>,
    authored: Vec<Authored>,
    pub(crate) units: Vec<Unit>,
    pub(crate) modifiers: BTreeMap<String, Modifier>,
    custom: CustomModifiers,
    /// The names of custom inputs, sorted by code: device, input.
    custom_names: Vec<(InputCode, [Box<str>; 2])>,
    tags: Vec<Box<str>>,
    pub(crate) bindings: Vec<Binding>,
    /// The bindings of axis actions, the highest rank first.
    pub(crate) axis_order: Vec<u16>,
    /// The axis actions without relative inputs, and those with relative inputs.
    pub(crate) axis_actions: [Vec<u16>; 2],
    /// The bindings by atom, sorted: atom, binding.
    index: Vec<(Atom, u16)>,
    /// A hash of everything that a seat refers to by index.
    pub(crate) revision: u64,
    /// A hash of the names of the actions.
    pub(crate) names: u64,
    /// A hash of the parameters of the modifiers.
    pub(crate) settings: u64,
    /// The parts of loaded profiles that fit nothing here.
    pub(crate) kept: Kept,
}

/// The parts of a profile that fit nothing, which are saved again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) changes: Vec<BindingChange>,
    pub(crate) modifiers: BTreeMap<String, BTreeMap<String, Value>>,
}

impl fmt::Debug for Controls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controls").field("actions", &self.actions).field("units", &self.units).finish_non_exhaustive()
    }
}

/// One thing that is wrong with the input documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlsIssue {
    /// The document: an action, a set, a modifier, or the set of a mapping.
    pub document: String,
    /// What is wrong.
    pub message: String,
}

/// Everything that is wrong with the input documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlsError {
    /// The issues, in the order of the documents.
    pub issues: Vec<ControlsIssue>,
}

impl fmt::Display for ControlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |issue: &ControlsIssue| format!("{}: {}", spelling::shown(&issue.document), issue.message);
        f.write_str(&self.issues.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
impl std::error::Error for ControlsError {}

impl Controls {
    /// Compiles the input documents for the given platforms, or returns everything that is wrong with them. Mappings of
    /// other platforms are discarded. A PC with a gamepad has the platforms PC and Console.
    pub fn new<'d>(docs: impl IntoIterator<Item = &'d Doc>, platforms: &[Platform]) -> Result<Controls, ControlsError> {
        Controls::with_modifiers(docs, platforms, [])
    }

    /// Compiles the input documents with modifiers that are implemented in code.
    ///
    /// ```
    /// # struct Doubled;
    /// # impl ugas_input::CustomModifier for Doubled {
    /// #     fn apply(&self, v: [f64; 3], _: &std::collections::BTreeMap<String, ugas_doc::Value>) -> [f64; 3] { v }
    /// # }
    /// use std::sync::Arc;
    /// let custom: [(&str, Arc<dyn ugas_input::CustomModifier>); 1] = [("Doubled", Arc::new(Doubled))];
    /// let controls = ugas_input::Controls::with_modifiers(&[], &[], custom)?;
    /// # Ok::<(), ugas_input::ControlsError>(())
    /// ```
    pub fn with_modifiers<'d, 'n>(
        docs: impl IntoIterator<Item = &'d Doc>,
        platforms: &[Platform],
        custom: impl IntoIterator<Item = (&'n str, Arc<dyn CustomModifier>)>,
    ) -> Result<Controls, ControlsError> {
        let custom = custom.into_iter().map(|(name, code)| (name.to_owned(), code)).collect();
        let mut compiler = Compiler { controls: Controls::empty(custom), issues: Vec::new() };
        let mut mappings = Vec::new();
        for doc in docs {
            compiler.define(doc);
            if let Doc::InputMapping(mapping) = doc
                && mapping.platform.is_none_or(|platform| platforms.contains(&platform))
            {
                mappings.push(&**mapping);
            }
        }
        compiler.controls.actions.sort_by(|a, b| a.name.cmp(&b.name));
        compiler.controls.sets.sort_by(|a, b| a.name.cmp(&b.name));
        mappings.iter().for_each(|mapping| compiler.mapping(mapping));
        let Compiler { mut controls, mut issues } = compiler;
        if controls.authored.len() > MOST_BINDINGS {
            let message = format!("expected at most {MOST_BINDINGS} bindings, found {}", controls.authored.len());
            issues.push(ControlsIssue { document: "mappings".to_owned(), message });
        }
        if !issues.is_empty() {
            return Err(ControlsError { issues });
        }
        controls.compile();
        Ok(controls)
    }

    fn empty(custom: CustomModifiers) -> Controls {
        Controls {
            actions: Vec::new(),
            sets: Vec::new(),
            authored: Vec::new(),
            units: Vec::new(),
            modifiers: BTreeMap::new(),
            custom,
            custom_names: Vec::new(),
            tags: Vec::new(),
            bindings: Vec::new(),
            axis_order: Vec::new(),
            axis_actions: Default::default(),
            index: Vec::new(),
            revision: 0,
            names: 0,
            settings: 0,
            kept: Kept::default(),
        }
    }

    /// Returns an action by name.
    pub fn action(&self, name: &str) -> Option<ActionIndex> {
        self.actions.binary_search_by(|action| (*action.name).cmp(name)).ok().map(|at| ActionIndex(at as u16))
    }

    /// Returns the name of an action; empty if the index belongs to other controls.
    pub fn action_name(&self, action: ActionIndex) -> &str {
        self.actions.get(usize::from(action.0)).map_or("", |action| &action.name)
    }

    /// Iterates over the actions in the order of their names.
    ///
    /// ```
    /// assert_eq!(ugas_input::Controls::new(&[], &[])?.actions().count(), 0);
    /// # Ok::<(), ugas_input::ControlsError>(())
    /// ```
    pub fn actions(&self) -> impl Iterator<Item = (ActionIndex, &str)> {
        self.actions.iter().enumerate().map(|(at, action)| (ActionIndex(at as u16), &*action.name))
    }

    /// Returns a device input as documents write it.
    pub fn device_input(&self, code: InputCode) -> Option<ugas_doc::DeviceInput> {
        let custom = || {
            let at = self.custom_names.binary_search_by_key(&code, |(code, _)| *code).ok()?;
            let [device, input] = &self.custom_names[at].1;
            let custom_device_name = Some(device.to_string());
            let input = input.to_string();
            Some(ugas_doc::DeviceInput { device: ugas_doc::Device::Custom, input, custom_device_name })
        };
        code.device_input().or_else(custom)
    }

    /// Returns the code of a device input and remembers the names of a custom one.
    pub(crate) fn intern(&mut self, input: &ugas_doc::DeviceInput) -> Result<InputCode, String> {
        let code = InputCode::of(input).map_err(|error| error.to_string())?;
        if let Some(device) = input.custom_device_name.as_deref().filter(|_| code.name().is_none()) {
            let names = [device.into(), input.input.as_str().into()];
            match self.custom_names.binary_search_by_key(&code, |(code, _)| *code) {
                Ok(at) if self.custom_names[at].1 != names => {
                    let [device, input] = &self.custom_names[at].1;
                    return Err(format!("the custom input has the same code as {device} {input}; rename one of them"));
                }
                Ok(_) => {}
                Err(at) => self.custom_names.insert(at, (code, names)),
            }
        }
        Ok(code)
    }

    pub(crate) fn set_name(&self, set: u16) -> &str {
        &self.sets[usize::from(set)].name
    }

    pub(crate) fn set_names(&self) -> impl Iterator<Item = &str> {
        self.sets.iter().map(|set| &*set.name)
    }

    pub(crate) fn tag_names(&self) -> &[Box<str>] {
        &self.tags
    }

    /// Returns the bindings that an atom belongs to.
    pub(crate) fn bindings_of(&self, atom: Atom) -> impl Iterator<Item = u16> {
        let first = self.index.partition_point(|entry| entry.0 < atom);
        self.index[first..].iter().take_while(move |entry| entry.0 == atom).map(|entry| entry.1)
    }

    pub(crate) fn unit_place(&self, unit: &Unit) -> UnitPlace<'_> {
        let authored = &self.authored[usize::from(unit.authored)];
        UnitPlace {
            set: self.set_name(authored.set),
            action: &self.actions[usize::from(authored.action)].name,
            platform: authored.platform,
            rank: (self.sets[usize::from(authored.set)].priority, authored.doc.priority),
            is_rebindable: authored.doc.is_rebindable,
        }
    }

    /// Returns why inputs do not fit a unit.
    pub(crate) fn check_unit(&self, at: usize, inputs: &[InputCode]) -> Result<(), String> {
        let authored = usize::from(self.units[at].authored);
        let replaced =
            |(unit, i): (&Unit, usize)| (unit.slot, if i == at { inputs.to_vec() } else { unit.current.clone() });
        let units = self.units.iter().zip(0..).filter(|(unit, _)| usize::from(unit.authored) == authored);
        self.parts_of(authored, units.map(replaced)).map(|_| ())
    }

    fn parts_of(
        &self,
        authored: usize,
        units: impl Iterator<Item = (Option<CompositeSlot>, Vec<InputCode>)>,
    ) -> Result<Vec<Part>, String> {
        let value = self.actions[usize::from(self.authored[authored].action)].value;
        let mut slots = Vec::new();
        for (slot, codes) in units {
            let Some(slot) = slot else { return binding::plain_parts(value, &codes) };
            match codes[..] {
                [code] => slots.push((slot, code)),
                _ => return Err(format!("{slot:?}: expected one device input, found {}", codes.len())),
            }
        }
        binding::composite_parts(value, &slots)
    }

    /// Compiles the bindings from the current inputs and modifiers, which fit.
    pub(crate) fn compile(&mut self) {
        let mut bindings = Vec::with_capacity(self.authored.len());
        let mut tags: Vec<Box<str>> = Vec::new();
        for (at, authored) in self.authored.iter().enumerate() {
            let units = self.units.iter().filter(|unit| usize::from(unit.authored) == at);
            let parts = self.parts_of(at, units.map(|unit| (unit.slot, unit.current.clone()))).unwrap_or_default();
            let mut atoms: Vec<Atom> = parts.iter().flat_map(|part| part.view.atoms().map(|(_, atom)| atom)).collect();
            atoms.sort_unstable();
            atoms.dedup();
            let doc = &authored.doc;
            let step = |name: &String| self.modifiers.get(name).map(|modifier| modifier.step.clone());
            let tag = |name: &String| {
                let at = tags.iter().position(|tag| **tag == **name).unwrap_or_else(|| {
                    tags.push(name.as_str().into());
                    tags.len() - 1
                });
                at as u16
            };
            bindings.push(Binding {
                action: authored.action,
                set: authored.set,
                rank: (self.sets[usize::from(authored.set)].priority, doc.priority),
                is_relative: parts.iter().any(|part| part.code.is_relative()),
                parts,
                atoms,
                steps: doc.modifiers.iter().filter_map(step).collect(),
                tags: doc.tags.required_tags.iter().map(tag).collect(),
                hold: seconds(doc.hold_threshold.unwrap_or(0.0)),
                window: seconds(doc.chord_window),
                opposing: doc.opposing,
                hides: Vec::new(),
                waits_for: Vec::new(),
                order: 0,
            });
        }
        binding::relate(&mut bindings, |action| self.actions[usize::from(action)].consumes);
        for (at, action) in self.actions.iter_mut().enumerate() {
            let own = bindings.iter().zip(0u16..).filter(|(binding, _)| usize::from(binding.action) == at);
            action.bindings = own.map(|(_, at)| at).collect();
            action.bindings.sort_by_key(|&at| bindings[usize::from(at)].order);
            let is_relative = |at: &u16| bindings[usize::from(*at)].is_relative;
            action.is_relative = action.bindings.iter().any(is_relative);
            action.has_tags = action.bindings.iter().any(|at| !bindings[usize::from(*at)].tags.is_empty());
        }
        let atoms =
            |(binding, at): (&Binding, u16)| binding.atoms.iter().map(move |atom| (*atom, at)).collect::<Vec<_>>();
        self.index = bindings.iter().zip(0u16..).flat_map(atoms).collect();
        self.index.sort_unstable();
        let is_axis = |at: &u16| !self.actions[usize::from(bindings[usize::from(*at)].action)].is_digital();
        self.axis_order = (0..bindings.len() as u16).filter(is_axis).collect();
        self.axis_order.sort_by_key(|at| bindings[usize::from(*at)].order);
        self.axis_actions = [false, true].map(|is_relative| {
            let axes = self.actions.iter().zip(0u16..).filter(|(action, _)| !action.is_digital());
            axes.filter(|(action, _)| action.is_relative == is_relative).map(|(_, at)| at).collect()
        });
        self.bindings = bindings;
        self.tags = tags;
        (self.names, self.revision, self.settings) = self.hashes();
    }

    /// Hashes the names of the actions, everything that the state of a seat refers to (the order of actions and bindings
    /// and their inputs), and the parameters of the modifiers.
    fn hashes(&self) -> (u64, u64, u64) {
        let add = |hash: u64, bytes: &[u8]| {
            let bytes = bytes.iter().chain(&[0xff]);
            bytes.fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
        };
        let start = 0xcbf2_9ce4_8422_2325_u64;
        let names = self.actions.iter().fold(start, |hash, action| add(hash, action.name.as_bytes()));
        let mut hash = names;
        for binding in &self.bindings {
            hash = add(hash, self.set_name(binding.set).as_bytes());
            hash = add(hash, &binding.action.to_le_bytes());
            for part in &binding.parts {
                hash = add(hash, format!("{:?}{:?}", part.code, part.role).as_bytes());
            }
        }
        let settings = self.modifiers.values().fold(start, |hash, modifier| {
            add(hash, format!("{:?}{:?}", modifier.doc.params, modifier.changes).as_bytes())
        });
        (names, hash, settings)
    }

    /// Compiles a modifier again with other changes, or returns why the changes are invalid.
    pub(crate) fn change_modifier(&mut self, name: &str, changes: BTreeMap<String, Value>) -> Result<(), String> {
        let Some(modifier) = self.modifiers.get_mut(name) else {
            return Err(format!("unknown input modifier '{}'", spelling::shown(name)));
        };
        modifier.step = modifier::compile(&modifier.doc, Some(&changes), &self.custom).map_err(|e| e.join("; "))?;
        modifier.changes = changes;
        Ok(())
    }
}

/// Where a unit belongs.
pub(crate) struct UnitPlace<'c> {
    pub(crate) set: &'c str,
    pub(crate) action: &'c str,
    pub(crate) platform: Option<Platform>,
    pub(crate) rank: binding::Rank,
    pub(crate) is_rebindable: bool,
}

fn seconds(seconds: f64) -> SimTime {
    SimTime::try_seconds(seconds).unwrap_or(SimTime::ZERO)
}
