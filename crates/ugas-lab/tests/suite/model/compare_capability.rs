//! Ops about capabilities in both worlds, and what has to agree about capabilities after an op.

use super::capability::{Record, Source, Stage};
use super::compare::same;
use super::drive::{Both, kind};
use super::gen_capability::{CAPABILITY_TAGS, CapabilityOp};
use ugas_core as core;
use ugas_core::{BlockSource, ControllerId, SimTime};

impl Both {
    pub(crate) fn run_capability(&mut self, op: CapabilityOp) -> (Result<(), &'static str>, Result<(), &'static str>) {
        let id = ControllerId;
        let class = |both: &Both, name: &str| both.sim.rules().capability(name).expect("it was loaded");
        match op {
            CapabilityOp::Block { who, tag, source } => {
                let theirs = core::Op::Block { who: id(who), tag: self.tag(tag), source: self.source(&source) };
                (self.world.block_op(who, tag, &source), kind(self.sim.run(theirs)))
            }
            CapabilityOp::Unblock { who, tag, source } => {
                let theirs = core::Op::Unblock { who: id(who), tag: self.tag(tag), source: self.source(&source) };
                (self.world.unblock_op(who, tag, &source), kind(self.sim.run(theirs)))
            }
            CapabilityOp::Enable { who, class: name, on } => {
                let theirs = core::Op::Enable { who: id(who), capability: class(self, &name), on };
                (self.world.enable_op(who, &name, on), kind(self.sim.run(theirs)))
            }
            CapabilityOp::SetTick { who, class: name, ticks, interval } => {
                let (capability, theirs) = (class(self, &name), interval.map(SimTime));
                let theirs = core::Op::SetTick { who: id(who), capability, ticks, interval: theirs };
                (self.world.set_tick_op(who, &name, ticks, interval), kind(self.sim.run(theirs)))
            }
            CapabilityOp::SetLocal { who, is_local } => {
                (self.world.set_local(who, is_local), kind(self.sim.set_local(id(who), is_local)))
            }
        }
    }

    fn handle(&self, handle: u64) -> u64 {
        self.sets.get(&handle).copied().unwrap_or(u64::MAX)
    }

    fn source(&self, source: &Source) -> BlockSource {
        match source {
            Source::Host(name) => BlockSource::host(name),
            Source::Controller(who) => BlockSource::Controller(ControllerId(*who)),
            Source::Effect(who, key) => BlockSource::Effect(self.key(*who, *key)),
            Source::Capability(handle, position) => {
                BlockSource::Capability { handle: self.handle(*handle), position: *position as u16 }
            }
        }
    }

    pub(crate) fn compare_capabilities(&self, who: u32) -> Result<(), String> {
        let id = ControllerId(who);
        let gone = |r: core::ReadError| format!("refused {r}");
        let (rules, row) = (self.sim.rules(), &self.world.rows[&who].play.capable);
        let state = |r: &Record| match r.stage {
            Stage::Waiting => "Waiting",
            Stage::Elsewhere => "Elsewhere",
            Stage::Inactive | Stage::Active if !r.enabled => "Disabled",
            Stage::Active => "Active",
            Stage::Inactive if r.ticks && self.world.is_blocked(who, r) => "Blocked",
            Stage::Inactive => "Inactive",
        };
        let ours: Vec<_> = row
            .records
            .iter()
            .map(|r| {
                let place = (self.handle(r.key.0), r.key.1 as u16, r.set.as_str(), r.entry.class.as_str());
                (place, r.entry.side, state(r), r.enabled, r.ticks, r.interval)
            })
            .collect();
        let views = self.sim.capabilities(id).map_err(gone)?;
        let theirs: Vec<_> = views
            .iter()
            .map(|v| {
                let set = rules.ability_set_name(v.set).unwrap_or("?");
                let place = (v.handle, v.position, set, rules.capability_name(v.class).unwrap_or("?"));
                (place, v.side, v.state.name(), v.enabled, v.ticks, v.interval.0)
            })
            .collect();
        same("capabilities", &ours, &theirs)?;
        let mut ours: Vec<(core::TagId, BlockSource)> =
            self.world.blocks(who).iter().map(|(tag, source)| (self.tag(tag), self.source(source))).collect();
        ours.sort_unstable();
        same("blocks", &ours, &self.sim.blocks(id).map_err(gone)?)?;
        for name in CAPABILITY_TAGS {
            let ours = self.world.blocks(who).iter().any(|(tag, _)| super::effects::under(name, tag));
            same(&format!("{name} is blocked"), &ours, &self.sim.is_blocked(id, self.tag(name)).map_err(gone)?)?;
        }
        let ticking = row.records.iter().filter(|r| r.is_set_up() && r.enabled && r.ticks).count() as u32;
        let counts = core::CapabilityCounts { total: row.records.len() as u32, ticking };
        same("counts of capabilities", &counts, &self.sim.capability_counts(id).map_err(gone)?)?;
        same("locality", &!row.is_remote, &self.sim.is_local(id).map_err(gone)?)
    }
}
