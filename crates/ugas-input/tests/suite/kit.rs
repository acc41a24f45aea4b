//! Controls from YAML, a world without a sim, and a seat whose results read as text.

use std::collections::BTreeSet;
use ugas_core::{ControllerId, InputId, SimTime, TagId, Target};
use ugas_doc::{CompositeSlot, DeviceInput, Doc, InputActionSet, Platform};
use ugas_input::{
    ActionLife, Activity, Controls, DeviceEvent, DeviceId, InputCode, Intent, Liveness, Phase, Seat, SeatOutput,
};

pub(crate) const PAD: DeviceId = DeviceId(7);
const WHO: ControllerId = ControllerId(0);

pub(crate) fn docs(text: &str) -> Vec<Doc> {
    let read = ugas_data::read_str("input.yaml", text).unwrap_or_else(|e| panic!("{e:?}"));
    read.docs.into_iter().map(|doc| doc.doc).collect()
}

/// Actions as `Name` (Digital) or `Name:Axis2D`, all of them in the set `Play`.
pub(crate) fn actions(names: &str) -> String {
    let mut text = String::new();
    let mut all = Vec::new();
    for word in names.split_whitespace() {
        let (name, kind) = word.split_once(':').unwrap_or((word, "Digital"));
        all.push(name);
        text += &format!("Kind: input_action\nName: {name}\nValueType: {kind}\n---\n");
    }
    text + &format!("Kind: input_action_set\nName: Play\nActions: [{}]\n---\n", all.join(", "))
}

pub(crate) fn input(name: &str) -> DeviceInput {
    InputCode::named(name).unwrap().device_input().unwrap()
}

/// A mapping of the set `Play` with one line per binding: `Action: Key.A + Key.B; Priority: 1`. A composite binding has
/// its directions in brackets: `Move: [Up Key.W, Down Key.S]`.
pub(crate) fn mapping(lines: &[&str]) -> String {
    let device = |name: &str| {
        let device = format!("{:?}", InputCode::named(name).unwrap().device());
        format!("{{Device: {device}, Input: {name}}}")
    };
    let mut text = "Kind: input_mapping\nActionSet: Play\nBindings:\n".to_owned();
    for line in lines {
        let (action, rest) = line.split_once(": ").unwrap();
        let mut parts = rest.split("; ");
        let inputs = parts.next().unwrap();
        text += &format!("  - Action: {action}\n");
        if let Some(slots) = inputs.strip_prefix('[') {
            text += "    CompositeInputs:\n";
            for slot in slots.trim_end_matches(']').split(", ") {
                let (slot, name) = slot.split_once(' ').unwrap();
                text += &format!("      {slot}: {}\n", device(name));
            }
        } else {
            let list: Vec<_> = inputs.split(" + ").map(device).collect();
            text += &format!("    Inputs: [{}]\n", list.join(", "));
        }
        parts.for_each(|field| text += &format!("    {field}\n"));
    }
    text
}

/// Which sets are active and which tags the controller has.
#[derive(Clone, Default)]
pub(crate) struct World {
    actions: Vec<String>,
    sets: Vec<InputActionSet>,
    tags: Vec<String>,
    pub(crate) asleep: BTreeSet<String>,
    pub(crate) suppressed: BTreeSet<String>,
    pub(crate) owned: BTreeSet<String>,
}

impl Liveness for World {
    fn rules_key(&self) -> u64 {
        1
    }

    fn find_input(&self, name: &str) -> Option<InputId> {
        self.actions.iter().position(|action| action == name).map(|at| InputId(at as u32))
    }

    fn find_action_set(&self, name: &str) -> Option<u32> {
        self.sets.iter().position(|set| set.name == name).map(|at| at as u32)
    }

    fn find_tag(&self, name: &str) -> Option<TagId> {
        self.tags.iter().position(|tag| tag == name).map(|at| TagId(at as u32))
    }

    fn action_life(&self, _: ControllerId, input: InputId) -> ActionLife {
        let name = &self.actions[input.0 as usize];
        if self.suppressed.contains(name) {
            return ActionLife { set: None, activity: Activity::Suppressed(TagId(0)) };
        }
        let holds = |set: &&InputActionSet| set.actions.contains(name) && !self.asleep.contains(&set.name);
        let best = self.sets.iter().filter(holds).max_by_key(|set| set.priority);
        let set = best.and_then(|set| self.find_action_set(&set.name));
        ActionLife { set, activity: if set.is_some() { Activity::Active } else { Activity::Asleep } }
    }

    fn has_tag(&self, _: ControllerId, tag: TagId) -> bool {
        self.owned.contains(&self.tags[tag.0 as usize])
    }
}

#[derive(Clone)]
pub(crate) struct Rig {
    pub(crate) controls: Controls,
    pub(crate) world: World,
    pub(crate) seat: Seat,
    pub(crate) out: SeatOutput,
}

impl Rig {
    pub(crate) fn new(text: &str) -> Rig {
        Rig::of(&docs(text), &[])
    }

    /// Actions as in [`actions`], bindings as in [`mapping`].
    pub(crate) fn play(names: &str, lines: &[&str]) -> Rig {
        Rig::new(&(actions(names) + &mapping(lines)))
    }

    pub(crate) fn of(docs: &[Doc], platforms: &[Platform]) -> Rig {
        let controls = Controls::new(docs, platforms).unwrap_or_else(|e| panic!("{e}"));
        let mut world = World { tags: vec!["Input.Blocked".into()], ..World::default() };
        for doc in docs {
            match doc {
                Doc::InputAction(action) => world.actions.push(action.name.clone()),
                Doc::InputActionSet(set) => world.sets.push((**set).clone()),
                Doc::InputMapping(mapping) => {
                    world.tags.extend(mapping.bindings.iter().flat_map(|b| b.tags.required_tags.clone()));
                }
                _ => {}
            }
        }
        Rig { controls, world, seat: Seat::new(), out: SeatOutput::default() }
    }

    pub(crate) fn press(&mut self, name: &str, ms: i64) -> &mut Rig {
        self.event(name, ms, [1.0, 0.0, 0.0])
    }

    pub(crate) fn release(&mut self, name: &str, ms: i64) -> &mut Rig {
        self.event(name, ms, [0.0; 3])
    }

    pub(crate) fn event(&mut self, name: &str, ms: i64, value: [f64; 3]) -> &mut Rig {
        let input = InputCode::named(name).unwrap();
        self.seat.take(DeviceEvent { at: SimTime::millis(ms), device: PAD, input, value });
        self
    }

    /// Steps to a time and returns what the sim is told: `20 Press Fire`.
    pub(crate) fn step(&mut self, ms: i64) -> Vec<String> {
        self.out.clear();
        let until = SimTime::millis(ms);
        self.seat.step(&self.controls, &self.world, WHO, Target::None, until, &mut self.out);
        self.out.intents.iter().map(|(at, intent)| self.tell(*at, *intent)).collect()
    }

    pub(crate) fn tell(&self, at: SimTime, intent: Intent) -> String {
        let ms = at.0 / SimTime::millis(1).0;
        let name = intent.input().map_or("everything", |input| &self.world.actions[input.0 as usize]);
        match intent {
            Intent::Press { .. } => format!("{ms} Press {name}"),
            Intent::Release { .. } => format!("{ms} Release {name}"),
            Intent::LetGo { .. } => format!("{ms} LetGo {name}"),
            Intent::Axis { value, .. } => format!("{ms} Axis {name} {:?}", value.0),
        }
    }

    /// Returns the events of the last step: `Started Fire`.
    pub(crate) fn events(&self) -> Vec<String> {
        let tell = |e: &ugas_input::ActionEvent| format!("{:?} {}", e.phase, self.controls.action_name(e.action));
        self.out.events.iter().map(tell).collect()
    }

    /// Returns the values of an action that the last step reported.
    pub(crate) fn values(&self, action: &str) -> Vec<[f64; 3]> {
        let own = self.out.events.iter().filter(|e| self.controls.action_name(e.action) == action);
        own.filter(|e| e.phase != Phase::Completed).map(|e| e.value).collect()
    }

    pub(crate) fn why(&self, name: &str) -> Vec<ugas_input::WhyNot> {
        let code = InputCode::named(name).unwrap();
        let answers = self.seat.why_not(&self.controls, &self.world, WHO, code);
        answers.into_iter().map(|answer| answer.why).collect()
    }

    /// Remaps one input of the set `Play`.
    pub(crate) fn remap(
        &mut self,
        action: &str,
        slot: Option<CompositeSlot>,
        from: &str,
        to: &str,
        mode: ugas_input::OnConflict,
    ) -> ugas_input::Remap {
        self.controls.remap("Play", action, slot, &[input(from)], &[input(to)], mode)
    }
}

pub(crate) fn near(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3)
}
