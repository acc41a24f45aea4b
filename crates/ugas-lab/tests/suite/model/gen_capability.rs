//! Random capabilities, capability sets and ops about them.

use super::capability::Source;
use super::coded::{ABSENT, CODED, DRAIN};
use super::drive::WITH_RESOURCES;
use super::effects::SECOND;
use super::generate::{Documents, Rng};
use super::ops::Op;
use super::resources::FILL;
use super::world::World;
use ugas_doc::{
    Attribute, AttributeSet, Capability, CapabilitySet, DurationPolicy, Effect, MagnitudeType, Operation,
    SetCapability, Side,
};

/// The bit of the seeds whose worlds have capabilities.
const CAPABLE: u64 = 1 << 32;
/// The tags by which capabilities are blocked.
pub(crate) const CAPABILITY_TAGS: &[&str] =
    &["Capability", "Capability.Move", "Capability.Move.Fly", "Capability.Attack"];
/// The attribute set that capabilities register.
const DATA: &str = "S_Data";
/// How many documents there are.
const DOCUMENTS: usize = 4;

/// The seed of a number in a row of seeds: half of the worlds have capabilities, with each kind of other documents.
/// Half of the worlds with capabilities, and half of those without, have stats and resources.
pub(crate) fn seed_of(number: u64) -> u64 {
    if matches!(number % 8, 1 | 2 | 3 | 5) { capable_seed_of(number) } else { resource_seed_of(number) }
}

/// The seed of a number in a row of seeds whose worlds all have capabilities. Half of them have stats and resources.
pub(crate) fn capable_seed_of(number: u64) -> u64 {
    resource_seed_of(number) | CAPABLE
}

fn resource_seed_of(number: u64) -> u64 {
    if number / 8 % 2 == 1 { number | WITH_RESOURCES } else { number }
}

/// An op about capabilities.
#[derive(Clone, Debug)]
pub(crate) enum CapabilityOp {
    Block { who: u32, tag: &'static str, source: Source },
    Unblock { who: u32, tag: &'static str, source: Source },
    Enable { who: u32, class: String, on: bool },
    SetTick { who: u32, class: String, ticks: Option<bool>, interval: Option<i64> },
    SetLocal { who: u32, is_local: bool },
}

/// Adds capabilities and their sets, if the seed asks for them.
pub(crate) fn add(seed: u64, docs: &mut Documents) {
    if seed & CAPABLE == 0 {
        return;
    }
    let rng = &mut Rng::new(!seed ^ 0xca9a_b111);
    let near: Vec<String> =
        docs.sets[0].attributes.iter().filter(|a| a.derived_from.is_none()).map(|a| a.name.clone()).collect();
    let data = AttributeSet::new(DATA)
        .with(Attribute::new("Energy", rng.number(0, 40)).min(0.0).max(60.0))
        .with(Attribute::new("Charge", rng.number(-3, 9)));
    docs.sets.push(data);
    for i in 0..2 {
        let hit = if rng.percent(70) { "Health" } else { rng.pick(&near) };
        docs.effects.push(Effect::instant(format!("GE_CapHit{i}")).add(hit, rng.number(-2, 1)));
        let mut buff = Effect::infinite(format!("GE_CapBuff{i}")).add(rng.pick(&near), rng.number(-6, 9));
        buff.granted_tags = rng.tags(60, 2);
        docs.effects.push(buff);
    }
    docs.effects.push(Effect::instant("GE_CapFill").add("Energy", rng.number(-2, 3)));
    for i in 0..DOCUMENTS {
        let new = document(rng, format!("Cap_{i}"), docs, &near);
        docs.capabilities.push(new);
    }
    for i in 0..3 {
        let mut set = CapabilitySet::new(format!("CS_{i}"));
        if rng.percent(50) {
            set.data_components.push(DATA.to_owned());
        }
        if i == 2 {
            set.sets = (0..2).filter(|_| rng.percent(60)).map(|n| format!("CS_{n}")).collect();
        }
        set.capabilities = (0..rng.range(1, 4)).map(|_| entry(rng)).collect();
        if !docs.resources.is_empty() && rng.percent(40) {
            set.capabilities.push(SetCapability::new(DRAIN));
        }
        docs.capability_sets.push(set);
    }
    if rng.percent(40) {
        docs.ability_sets[1].capabilities = vec![entry(rng)];
    }
}

fn document(rng: &mut Rng, name: String, docs: &Documents, near: &[String]) -> Capability {
    let mut new = Capability::new(name);
    if rng.percent(55) {
        new.query = Some(query(rng));
    }
    let has_resource = !docs.resources.is_empty();
    let bound = if docs.resources.iter().any(|r| r.max.is_some()) { "MaxR0" } else { "R0" };
    let attribute = |rng: &mut Rng| match rng.below(10) {
        // Only worlds with a resource draw these numbers: the others stay the same.
        0..6 if has_resource && rng.percent(70) => (*rng.pick(&["R0", "R0", "R0", "Stat.Size", bound])).to_owned(),
        0..6 => "Health".to_owned(),
        6..8 => "Energy".to_owned(),
        _ => rng.pick(near).clone(),
    };
    if rng.percent(50) {
        let (name, limit) = (attribute(rng), rng.number(5, 60));
        new.when = Some(match rng.below(3) {
            0 => format!("{name} < {limit}"),
            1 => format!("{name} > {limit}"),
            _ => format!("has_tag(self, {}) || {name} < {limit}", rng.tag()),
        });
    }
    if rng.percent(30) {
        let (name, limit) = (attribute(rng), rng.number(5, 60));
        new.until = Some(if rng.percent(50) { format!("{name} >= {limit}") } else { format!("{name} < {limit}") });
    }
    let lasting = |e: &&Effect| e.duration_policy == DurationPolicy::Infinite && !e.name.starts_with("GE_Co");
    let lasting: Vec<&Effect> = docs.effects.iter().filter(lasting).collect();
    for _ in 0..rng.below(3) {
        let is_own = rng.percent(65);
        let effect = if is_own { format!("GE_CapBuff{}", rng.below(2)) } else { rng.pick(&lasting).name.clone() };
        new.effects.push(effect);
    }
    let plain: Vec<&Effect> = docs.effects.iter().filter(|e| is_plain(e)).collect();
    for list in [&mut new.on_activated, &mut new.on_deactivated] {
        if rng.percent(30) {
            list.push(rng.pick(&plain).name.clone());
        }
    }
    if rng.percent(45) {
        new.on_tick.push((*rng.pick(&["GE_CapHit0", "GE_CapHit1", "GE_CapFill"])).to_owned());
    }
    if has_resource && rng.percent(30) {
        new.on_tick.push(FILL.to_owned());
    }
    if rng.percent(30) {
        new.block.push((*rng.pick(CAPABILITY_TAGS)).to_owned());
    }
    new
}

/// Whether an effect can be applied any number of times without a number growing out of bounds.
fn is_plain(e: &Effect) -> bool {
    let adds = |m: &ugas_doc::Modifier| {
        m.operation == Operation::Add && m.magnitude.kind == MagnitudeType::ScalableFloat && m.magnitude.curve.is_none()
    };
    e.duration_policy == DurationPolicy::Instant && e.effects.is_none() && e.modifiers.iter().all(adds)
}

fn query(rng: &mut Rng) -> String {
    let (a, b) = (rng.tag(), rng.tag());
    match rng.below(4) {
        0 => a,
        1 => format!("!{a}"),
        2 => format!("{a} | !{b}"),
        _ => format!("!({a} & {b})"),
    }
}

fn entry(rng: &mut Rng) -> SetCapability {
    let class = match rng.below(100) {
        0..45 => format!("Cap_{}", rng.below(DOCUMENTS)),
        45..97 => (*rng.pick(CODED)).to_owned(),
        _ => ABSENT.to_owned(),
    };
    let mut new = SetCapability::new(class);
    new.side = match rng.below(100) {
        0..58 => Side::Always,
        58..72 => Side::AuthorityOnly,
        72..82 => Side::LocalControlledOnly,
        82..92 => Side::OwnerLocalControlledOnly,
        92..96 => Side::AuthorityAndLocalControlled,
        _ => Side::AllClients,
    };
    if rng.percent(65) {
        new.tags.push((*rng.pick(CAPABILITY_TAGS)).to_owned());
    }
    new.can_ever_tick = !rng.percent(7);
    new.enabled = !rng.percent(8);
    if rng.percent(35) {
        new.tick_interval = *rng.pick(&[0.02, 0.05, 0.1, 0.25, 0.3, 1.0]);
    }
    if rng.percent(15) {
        new.blocked_by = Some(query(rng));
    }
    new
}

/// A capability set that a new controller has.
pub(crate) fn spawned(rng: &mut Rng, docs: &Documents) -> Option<String> {
    (!docs.capability_sets.is_empty() && rng.percent(50)).then(|| rng.pick(&docs.capability_sets).name.clone())
}

/// Sometimes an op about capabilities, in a world that has some.
pub(crate) fn op(rng: &mut Rng, world: &World, docs: &Documents, who: u32, live: &[u32]) -> Option<Op> {
    if docs.capabilities.is_empty() || !rng.percent(40) {
        return None;
    }
    if let Some(who) = lone(world).filter(|_| rng.aside(11).percent(30)) {
        return Some(Op::RemoveSet { who, set: DATA.to_owned(), force: true });
    }
    let class = |rng: &mut Rng| {
        let records = world.rows.get(&who).map_or(&[][..], |r| &r.play.capable.records);
        if records.is_empty() || rng.percent(5) { "Cap_0".to_owned() } else { rng.pick(records).entry.class.clone() }
    };
    let op = match rng.below(100) {
        0..16 => return Some(Op::GrantSet { who, set: rng.pick(&docs.capability_sets).name.clone() }),
        16..20 => {
            let sets: Vec<u64> =
                world.rows.get(&who).map_or(Vec::new(), |r| r.play.sets.iter().map(|s| s.handle).collect());
            return Some(Op::RevokeSet { who, handle: if sets.is_empty() { 0 } else { *rng.pick(&sets) } });
        }
        20..34 => {
            CapabilityOp::Block { who, tag: rng.pick::<&str>(CAPABILITY_TAGS), source: source(rng, world, who, live) }
        }
        34..40 => {
            let blocks = if world.rows.contains_key(&who) { world.blocks(who) } else { Vec::new() };
            if blocks.is_empty() || rng.percent(10) {
                CapabilityOp::Unblock {
                    who,
                    tag: rng.pick::<&str>(CAPABILITY_TAGS),
                    source: source(rng, world, who, live),
                }
            } else {
                let (tag, source) = rng.pick(&blocks).clone();
                let tag = CAPABILITY_TAGS.iter().find(|t| **t == tag).expect("it is one of them");
                CapabilityOp::Unblock { who, tag, source }
            }
        }
        40..48 => CapabilityOp::Enable { who, class: class(rng), on: rng.percent(60) },
        48..56 => CapabilityOp::SetTick {
            who,
            class: class(rng),
            ticks: rng.percent(40).then(|| rng.percent(65)),
            interval: rng.percent(60).then(|| *rng.pick(&[0, 0, SECOND / 20, SECOND / 5, SECOND / 60, -1])),
        },
        56..66 => {
            let is_local = world.rows.get(&who).is_none_or(|r| r.play.capable.is_remote);
            CapabilityOp::SetLocal { who, is_local: is_local ^ rng.percent(15) }
        }
        66..69 => return Some(Op::SetActive { who, active: rng.percent(70) }),
        69..72 => return Some(Op::SetRate { who, rate: *rng.pick(&[65536, 65536, 32768, 0, 131072]) }),
        72..75 => return Some(Op::AddSet { who, set: DATA.to_owned() }),
        75..78 => return Some(Op::RemoveSet { who, set: DATA.to_owned(), force: rng.percent(70) }),
        _ => {
            let stride = *rng.pick(&[SECOND / 60, SECOND / 60, SECOND / 30, SECOND / 20, SECOND / 7, SECOND / 3]);
            return Some(Op::Advance { to: world.now + stride });
        }
    };
    Some(Op::Capability(op))
}

/// A controller that nobody plays, with data components: without them, its capabilities wait when somebody plays it.
fn lone(world: &World) -> Option<u32> {
    let waits = |r: &super::world::Row| {
        let elsewhere = r.play.capable.records.iter().any(|c| c.stage == super::capability::Stage::Elsewhere);
        r.play.capable.is_remote && elsewhere && r.sets.iter().any(|s| s == DATA)
    };
    world.rows.iter().find(|(_, r)| waits(r)).map(|(who, _)| *who)
}

fn source(rng: &mut Rng, world: &World, who: u32, live: &[u32]) -> Source {
    let effects: Vec<(u32, u64)> =
        world.rows.iter().flat_map(|(id, r)| r.effects.iter().map(|e| (*id, e.key))).collect();
    let records = world.rows.get(&who).map_or(&[][..], |r| &r.play.capable.records);
    match rng.below(100) {
        20..45 if !effects.is_empty() => {
            let (target, key) = *rng.pick(&effects);
            Source::Effect(target, key)
        }
        45..60 => Source::Controller(*rng.pick(live)),
        60..62 => Source::Controller(world.next_id + 3),
        62..85 if !records.is_empty() => {
            let (handle, position) = rng.pick(records).key;
            Source::Capability(handle, position)
        }
        85..87 => Source::Capability(u64::MAX, 0),
        _ => Source::Host(rng.pick::<&str>(&["Cutscene", "Menu"])),
    }
}

/// Whether the sides of another controller's capabilities may depend on this controller, or its own on what the host
/// set: a controller that leaves and comes back is then another one.
pub(crate) fn is_owner(world: &World, who: u32) -> bool {
    let Some(row) = world.rows.get(&who) else { return false };
    let owns = |other: &super::world::Row| row.avatar.is_some() && other.owner == row.avatar;
    row.play.capable.is_remote || world.rows.iter().any(|(id, other)| *id != who && owns(other))
}
