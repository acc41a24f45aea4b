//! Verbs and paths about abilities.

use super::Runner;
use super::act::NEVER_SPAWNED;
use crate::scenario::{AbilitySelector, AbilityVerb, Aim, Completion, Found, Name, Pick, Stop};
use ugas_core::{
    AbilityGrant, AbilityId, AbilitySetId, AbilityState, ActivationKey, Answer, AxisValue, ControllerId, EventData,
    GrantId, Hit, NameKind, Op, Outcome, ParamId, ReadError, Refusal, SimTime, TagId, Target, Which,
};

const NO_SET: AbilitySetId = AbilitySetId(u32::MAX - 1);

/// The result of a verb about abilities.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handle {
    Grant(ControllerId, GrantId),
    Activation(ActivationKey),
    Set(ControllerId, u64),
}

/// A property of an ability in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfAbility {
    State,
    Charges,
    Cooldown,
    Castable,
}

impl Runner<'_> {
    pub(crate) fn ability_verb(&mut self, verb: &AbilityVerb) -> Result<(), Refusal> {
        match verb {
            AbilityVerb::Grant { actor, what, level, input, handle } => {
                let who = self.who(&actor.text);
                let given = match what {
                    Pick::Set(name) => self.grant_set(who, name)?,
                    Pick::Ability(name) | Pick::Input(name) | Pick::Handle(name) => {
                        let input = input.as_ref().map(|n| self.world.input(&n.text));
                        let grant = AbilityGrant { ability: self.ability_id(name), level: *level, input };
                        if let Outcome::Granted(id) = self.sim.run(Op::Grant { who, grant })? {
                            Handle::Grant(who, id)
                        } else {
                            return Ok(());
                        }
                    }
                };
                self.keep(handle.as_ref(), given);
                Ok(())
            }
            AbilityVerb::Revoke(of) => self.revoke(of),
            AbilityVerb::Activate { of, aim, handle } => {
                let (who, which) = self.which(of)?;
                let target = self.aim(aim);
                if let Outcome::Activated(key) = self.sim.run(Op::Activate { who, which, target })? {
                    self.note_aimless(aim, key, "Activate");
                    self.keep(handle.as_ref(), Handle::Activation(key));
                }
                Ok(())
            }
            AbilityVerb::Stop { how, of } => {
                let (who, which) = self.which(of)?;
                self.op(match how {
                    Stop::Cancel => Op::Cancel { who, which },
                    Stop::End => Op::End { who, which },
                    Stop::Commit => Op::Commit { who, which },
                })
            }
            AbilityVerb::Interrupt { actor, what } => {
                let (who, which) = match what {
                    None => (actor.as_ref().map_or(NEVER_SPAWNED, |n| self.who(&n.text)), None),
                    Some(pick) => {
                        let of = AbilitySelector { actor: actor.clone(), pick: pick.clone() };
                        let (who, which) = self.which(&of)?;
                        (who, Some(which))
                    }
                };
                self.op(Op::Interrupt { who, which })
            }
            AbilityVerb::Validate { of, ok } => {
                let (who, which) = self.which(of)?;
                self.op(Op::Validate { who, which, ok: *ok })
            }
            AbilityVerb::Event { to, tag, from, magnitude } => {
                let instigator = from.as_ref().map(|n| self.who(&n.text));
                let tag = self.world.rules.find_tag(&tag.text).unwrap_or(TagId(u32::MAX - 1));
                let event = EventData::new(tag, self.who(&to.text));
                self.op(Op::Event(EventData { instigator, magnitude: *magnitude, ..event }))
            }
            AbilityVerb::Press { actor, input, aim, handle } => {
                let (who, input) = (self.who(&actor.text), self.world.input(&input.text));
                let target = self.aim(aim);
                if let Outcome::Pressed { activated, refused } = self.sim.run(Op::Press { who, input, target })? {
                    if let Some(key) = activated {
                        self.note_aimless(aim, key, "Press");
                        self.keep(handle.as_ref(), Handle::Activation(key));
                    } else if let Some(refusal) = refused {
                        // The press succeeded even if it activated nothing.
                        return Err(refusal);
                    }
                }
                Ok(())
            }
            AbilityVerb::Release { actor, input } => {
                let (who, input) = (self.who(&actor.text), self.world.input(&input.text));
                self.op(Op::Release { who, input })
            }
            AbilityVerb::Axis { actor, input, value } => {
                let (who, input) = (self.who(&actor.text), self.world.input(&input.text));
                let outcome = self.sim.run(Op::Axis { who, input, value: AxisValue::new(*value) })?;
                if let Outcome::Pressed { refused: Some(refusal), .. } = outcome { Err(refusal) } else { Ok(()) }
            }
            AbilityVerb::LetGo { actor, input } => {
                let input = input.as_ref().map(|input| self.world.input(&input.text));
                self.op(Op::LetGo { who: self.who(&actor.text), input })
            }
            AbilityVerb::Complete(completion) => self.complete(completion),
            AbilityVerb::SetParam { of, param, value } => {
                let (who, grant) = self.grant_of(of)?;
                self.op(Op::SetParam { who, grant, param: ParamId::named(&param.text), value: *value })
            }
            AbilityVerb::SetLevel { of, level } => {
                let (who, grant) = self.grant_of(of)?;
                self.op(Op::SetLevel { who, grant, level: *level })
            }
        }
    }

    pub(super) fn grant_set(&mut self, who: ControllerId, name: &Name) -> Result<Handle, Refusal> {
        let set = self.world.rules.find_ability_set(&name.text).unwrap_or(NO_SET);
        if let Outcome::GrantedSet(handle) = self.sim.run(Op::GrantSet { who, set })? {
            Ok(Handle::Set(who, handle))
        } else {
            Err(Refusal::UnknownName { kind: NameKind::Set, id: set.0 })
        }
    }

    fn revoke(&mut self, of: &AbilitySelector) -> Result<(), Refusal> {
        let set = match &of.pick {
            // The oldest existing grant of the set.
            Pick::Set(name) => {
                let who = of.actor.as_ref().map_or(NEVER_SPAWNED, |n| self.who(&n.text));
                let set = self.world.rules.find_ability_set(&name.text);
                let held = self.sim.ability_sets(who)?.into_iter().find(|(s, _)| Some(*s) == set);
                Some((who, held.ok_or(Refusal::StaleHandle)?.1))
            }
            Pick::Handle(name) => match self.handles.get(&name.text) {
                Some(Handle::Set(who, handle)) => Some((*who, *handle)),
                _ => None,
            },
            Pick::Ability(_) | Pick::Input(_) => None,
        };
        if let Some((who, handle)) = set {
            return self.op(Op::RevokeSet { who, handle });
        }
        let (who, which) = self.which(of)?;
        self.op(Op::Revoke { who, which })
    }

    /// Completes the oldest waiting task of a type.
    fn complete(&mut self, c: &Completion) -> Result<(), Refusal> {
        let who = self.who(&c.actor.text);
        let key = *self.waiting(who, &c.task.text)?.first().ok_or(Refusal::StaleHandle)?;
        self.op(Op::Complete { key, answer: self.answer(c) })
    }

    pub(crate) fn answer(&self, c: &Completion) -> Answer {
        let rules = &self.world.rules;
        let hit = c.hit.as_ref().map(|h| Hit {
            position: h.position,
            distance: h.distance,
            tags: h.tags.iter().filter_map(|t| rules.find_tag(&t.text)).collect(),
        });
        let targets = c.targets.iter().map(|n| self.who(&n.text)).collect();
        Answer { fail: c.fail, targets, hit, value: c.value }
    }

    fn keep(&mut self, name: Option<&Name>, handle: Handle) {
        if let Some(name) = name {
            self.handles.insert(name.text.clone(), handle);
        }
    }

    fn ability_id(&self, name: &Name) -> AbilityId {
        self.world.rules.find_ability(&name.text).unwrap_or(AbilityId((1 << 31) - 1))
    }

    pub(crate) fn aim(&self, aim: &Aim) -> Target {
        match aim {
            Aim::Nothing => Target::None,
            Aim::Actor(name) => Target::Controller(self.who(&name.text)),
            Aim::Point(point) => Target::Point(*point),
        }
    }

    /// Returns the actor and the ability of a verb.
    pub(crate) fn which(&self, of: &AbilitySelector) -> Result<(ControllerId, Which), Refusal> {
        let actor = of.actor.as_ref().map(|n| self.who(&n.text));
        let (who, which) = match &of.pick {
            Pick::Ability(name) => (actor, Which::Ability(self.ability_id(name))),
            Pick::Input(name) => (actor, Which::Input(self.world.input(&name.text))),
            Pick::Handle(name) | Pick::Set(name) => match self.handles.get(&name.text) {
                Some(Handle::Grant(who, id)) => (actor.or(Some(*who)), Which::Grant(*id)),
                Some(Handle::Activation(key)) => (actor.or(Some(key.who)), Which::Activation(*key)),
                Some(Handle::Set(..)) | None => return Err(Refusal::StaleHandle),
            },
        };
        Ok((who.unwrap_or(NEVER_SPAWNED), which))
    }

    /// Returns the first matching grant.
    fn grant_of(&self, of: &AbilitySelector) -> Result<(ControllerId, GrantId), Refusal> {
        let (who, which) = self.which(of)?;
        let grants = self.sim.grants(who)?;
        let found = match which {
            Which::Grant(id) => Some(id),
            Which::Ability(ability) => grants.iter().find(|g| g.ability == ability).map(|g| g.id),
            Which::Input(input) => grants.iter().find(|g| g.input == Some(input)).map(|g| g.id),
            Which::Activation(key) => self.sim.activations(who)?.find(|a| a.key == key).map(|a| a.grant),
        };
        found.map(|id| (who, id)).ok_or(Refusal::NotGranted)
    }

    /// Returns every reason why a verb would be refused.
    pub(crate) fn reasons_of(&self, verb: &AbilityVerb) -> Vec<Refusal> {
        match verb {
            AbilityVerb::Activate { of, aim, .. } => match self.which(of) {
                Ok((who, which)) => self.reasons(who, which, self.aim(aim)),
                Err(refusal) => vec![refusal],
            },
            AbilityVerb::Press { actor, input, aim, .. } => {
                let which = Which::Input(self.world.input(&input.text));
                self.reasons(self.who(&actor.text), which, self.aim(aim))
            }
            AbilityVerb::Grant { .. }
            | AbilityVerb::Revoke(_)
            | AbilityVerb::Stop { .. }
            | AbilityVerb::Interrupt { .. }
            | AbilityVerb::Validate { .. }
            | AbilityVerb::Event { .. }
            | AbilityVerb::Release { .. }
            | AbilityVerb::Axis { .. }
            | AbilityVerb::LetGo { .. }
            | AbilityVerb::Complete(_)
            | AbilityVerb::SetParam { .. }
            | AbilityVerb::SetLevel { .. } => Vec::new(),
        }
    }

    /// Reads `Actor.Abilities.<name>`.
    pub(crate) fn ability_now(&self, actor: &str, name: &str, of: OfAbility) -> Result<Found, Refusal> {
        let who = self.who(actor);
        let grants = self.sim.grants(who)?;
        let meant = |g: &&ugas_core::GrantView| match self.handles.get(name) {
            Some(Handle::Grant(_, id)) => g.id == *id,
            Some(Handle::Activation(_) | Handle::Set(..)) => false,
            None => self.world.rules.ability_name(g.ability) == Some(name),
        };
        let mine: Vec<GrantId> = grants.iter().filter(meant).map(|g| g.id).collect();
        let Some(&first) = mine.first() else {
            return Ok(Found::text("NotGranted"));
        };
        Ok(match of {
            // With several grants, the most advanced state is shown.
            OfAbility::State => {
                let states: Result<Vec<AbilityState>, ReadError> =
                    mine.iter().map(|&g| self.sim.ability_state(who, g)).collect();
                let state = states?.into_iter().max_by_key(|s| *s as u8);
                Found::text(format!("{:?}", state.unwrap_or(AbilityState::Granted)))
            }
            OfAbility::Charges => {
                let charges = self.sim.charges(who, first)?;
                charges.map_or(Found::Nothing, |c| Found::Number(f64::from(c.have)))
            }
            OfAbility::Cooldown => self.cooldown_left(who, first)?,
            OfAbility::Castable => {
                let reasons = self.reasons(who, Which::Grant(first), Target::None);
                match reasons.is_empty() {
                    true => Found::Flag(true),
                    false => Found::AnyOf(reasons.iter().map(|r| r.kind().to_owned()).collect()),
                }
            }
        })
    }

    /// Reads `<handle>.State` of a grant, an activation or an ability set.
    pub(crate) fn handle_state(&self, handle: Handle) -> Found {
        Found::text(match handle {
            Handle::Grant(who, id) => match self.sim.ability_state(who, id) {
                Ok(state) => format!("{state:?}"),
                Err(_) => "NotGranted".to_owned(),
            },
            Handle::Activation(key) => {
                let found = self.sim.activations(key.who).ok().and_then(|mut all| all.find(|a| a.key == key));
                found.map_or("Ended".to_owned(), |a| format!("{:?}", a.state))
            }
            Handle::Set(who, handle) => {
                let there = self.sim.ability_sets(who).is_ok_and(|all| all.iter().any(|(_, h)| *h == handle));
                if there { "Granted" } else { "NotGranted" }.to_owned()
            }
        })
    }

    /// Reads `Actor.GlobalCooldown`: the remaining seconds of a group, or of the longest.
    pub(crate) fn global_cooldown_now(&self, actor: &str, group: &str) -> Result<Found, Refusal> {
        let all = self.sim.global_cooldowns(self.who(actor))?;
        let id = ugas_core::GroupId::named(group);
        let left = all.iter().filter(|(g, _)| group.is_empty() || *g == id).map(|(_, t)| t.remaining).max();
        Ok(Found::Number(left.unwrap_or(SimTime::ZERO).as_seconds()))
    }

    /// Reads `Actor.Cast`; nothing without a cast.
    pub(crate) fn cast_now(&self, actor: &str, tick: bool) -> Result<Found, Refusal> {
        Ok(self.sim.cast(self.who(actor))?.map_or(Found::Nothing, |cast| match tick {
            true => Found::Number(f64::from(cast.tick)),
            false => Found::Number(cast.timer.remaining.as_seconds()),
        }))
    }
}
