//! Operations on abilities: grants, ability sets, activation by name, grant, input or handle, validation, avatars.

use super::notice::outcome;
use super::play::{ActivationRequest, Event, How, SetGrant, State};
use super::world::{Refused, Spec, World};

/// Which grants or activations are meant.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    Ability(String),
    Grant(u32),
    Input(String),
    /// By number; 0 is none that ever was.
    Act(u64),
}

impl World {
    fn check_exists(&self, who: u32) -> Result<(), Refused> {
        if self.rows.contains_key(&who) { Ok(()) } else { Err("StaleHandle") }
    }

    /// The grants that are meant, in grant order.
    pub(crate) fn grants_of(&self, who: u32, which: &Which) -> Result<Vec<u32>, Refused> {
        let row = &self.rows[&who];
        let of = match which {
            Which::Act(seq) => Some(self.act(who, *seq).ok_or("StaleHandle")?.grant),
            _ => None,
        };
        let hit = |g: &&super::play::Grant| match which {
            Which::Ability(name) => g.ability == *name,
            Which::Grant(id) => g.id == *id,
            Which::Input(input) => g.input.as_ref() == Some(input),
            Which::Act(_) => Some(g.id) == of,
        };
        Ok(row.grants.iter().filter(hit).map(|g| g.id).collect())
    }

    fn running(&self, who: u32, which: &Which) -> Result<Vec<u64>, Refused> {
        let acts = &self.rows[&who].play.acts;
        if let Which::Act(seq) = which {
            return Ok(acts.iter().filter(|a| a.seq == *seq).map(|a| a.seq).collect());
        }
        let grants = self.grants_of(who, which)?;
        match which {
            Which::Grant(_) if grants.is_empty() => Err("StaleHandle"),
            Which::Ability(_) if grants.is_empty() => Err("NotGranted"),
            _ => Ok(acts.iter().filter(|a| grants.contains(&a.grant)).map(|a| a.seq).collect()),
        }
    }

    pub(crate) fn activate_op(&mut self, who: u32, which: &Which, target: Option<u32>) -> Result<(), Refused> {
        self.check_exists(who)?;
        let grants = self.grants_of(who, which)?;
        let result =
            self.activate(who, &grants, &ActivationRequest { target, ..ActivationRequest::default() }).map(drop);
        self.count(&format!("Activate {}", outcome(result)));
        self.react();
        result
    }

    pub(crate) fn end_op(&mut self, who: u32, which: &Which, how: How) -> Result<(), Refused> {
        self.check_exists(who)?;
        for seq in self.running(who, which)? {
            self.finish(who, seq, how);
        }
        self.react();
        Ok(())
    }

    pub(crate) fn commit_op(&mut self, who: u32, which: &Which) -> Result<(), Refused> {
        self.check_exists(who)?;
        let mut all = Ok(());
        for seq in self.running(who, which)? {
            if !self.is_active(who, seq) {
                continue;
            }
            if let Err(kind) = self.commit(who, seq) {
                self.finish(who, seq, How::Cancelled);
                all = all.and(Err(kind));
            }
        }
        self.react();
        all
    }

    pub(crate) fn validate_op(&mut self, who: u32, which: &Which, ok: bool) -> Result<(), Refused> {
        self.check_exists(who)?;
        for seq in self.running(who, which)? {
            self.validate(who, seq, ok);
        }
        self.react();
        Ok(())
    }

    fn validate(&mut self, who: u32, seq: u64, ok: bool) {
        let Some(a) = self.act(who, seq).filter(|a| a.state == State::Pending).cloned() else { return };
        if !ok {
            return self.finish(who, seq, How::Cancelled);
        }
        let def = self.abilities[&a.ability].clone();
        let new = self.act_mut(who, seq);
        (new.state, new.deadline) = (State::Activating, None);
        let source = a.source;
        let t = super::check::Try { who, grant: a.grant, level: a.level, target: a.target, source };
        if self.refusal(&t, &def, true).is_some() {
            self.play(who).acts.retain(|o| o.seq != seq);
            return;
        }
        // A commit that fails has dropped it.
        let _ = self.launch(who, seq);
    }

    pub(crate) fn validation_due(&mut self, who: u32, seq: u64) {
        self.validate(who, seq, false);
    }

    pub(crate) fn grant_op(
        &mut self,
        who: u32,
        ability: &str,
        level: u32,
        input: Option<String>,
    ) -> Result<(), Refused> {
        self.check_exists(who)?;
        if level == 0 {
            return Err("BadValue");
        }
        self.give(who, ability, level, input, None);
        self.react();
        Ok(())
    }

    pub(crate) fn revoke_op(&mut self, who: u32, which: &Which) -> Result<(), Refused> {
        self.check_exists(who)?;
        let grants = self.grants_of(who, which)?;
        if grants.is_empty() {
            return Err("NotGranted");
        }
        grants.into_iter().for_each(|id| self.revoke_grant(who, id));
        self.react();
        Ok(())
    }

    pub(crate) fn set_level(&mut self, who: u32, grant: u32, level: u32) -> Result<(), Refused> {
        self.check_exists(who)?;
        self.grant(who, grant).ok_or("StaleHandle")?;
        if level == 0 {
            return Err("BadValue");
        }
        self.row(who).grants.iter_mut().filter(|g| g.id == grant).for_each(|g| g.level = level);
        Ok(())
    }

    pub(crate) fn restrict(&mut self, who: u32, grant: u32, name: &str, on: bool) -> Result<(), Refused> {
        self.check_exists(who)?;
        self.grant(who, grant).ok_or("StaleHandle")?;
        let mut freed = false;
        for g in self.row(who).grants.iter_mut().filter(|g| g.id == grant) {
            if on {
                g.restrictions.insert(name.to_owned());
            } else {
                freed = g.restrictions.remove(name);
            }
        }
        if freed {
            self.notify(who, super::notice::Notice::Freed);
            self.react();
        }
        Ok(())
    }

    pub(crate) fn set_param(&mut self, who: u32, grant: u32, name: &str, value: f64) -> Result<(), Refused> {
        self.check_exists(who)?;
        self.grant(who, grant).ok_or("StaleHandle")?;
        if !value.is_finite() {
            return Err("BadValue");
        }
        for g in self.row(who).grants.iter_mut().filter(|g| g.id == grant) {
            g.params.insert(name.to_owned(), value);
        }
        Ok(())
    }

    pub(crate) fn event_op(&mut self, target: u32, event: Event) -> Result<(), Refused> {
        let result = self.send(target, event);
        self.react();
        result
    }

    pub(crate) fn possess(&mut self, who: u32, avatar: Option<u32>) -> Result<(), Refused> {
        self.check_exists(who)?;
        let old = std::mem::replace(&mut self.row(who).avatar, avatar);
        if avatar.is_none() {
            self.cancel_where(who, |w, a| w.abilities[&a.ability].avatar_dependent);
        }
        if old != avatar {
            // The place was the old avatar's.
            if old.is_some() {
                self.row(who).place = None;
            }
            self.emit(who, "Possessed".into());
            self.notify(who, super::notice::Notice::Freed);
            self.owners_changed();
        }
        self.react();
        Ok(())
    }

    // Ability sets ----------------------------------------------------------------------------------------------

    pub(crate) fn grant_set_op(&mut self, who: u32, set: &str) -> Result<u64, Refused> {
        let result = self.grant_set(who, set);
        self.react();
        result
    }

    /// Attribute sets, effects, abilities: all of it or nothing.
    pub(crate) fn grant_set(&mut self, who: u32, set: &str) -> Result<u64, Refused> {
        self.check_exists(who)?;
        self.admit_capabilities(who, set)?;
        let def = self.ability_sets[set].clone();
        let before = self.clone();
        let mut given =
            SetGrant { handle: 0, set: set.to_owned(), sets: Vec::new(), effects: Vec::new(), grants: Vec::new() };
        for name in &def.attribute_sets {
            if !self.rows[&who].sets.contains(name) {
                if let Err(kind) = self.add_set_now(who, name) {
                    *self = before;
                    return Err(kind);
                }
                given.sets.push(name.clone());
            } else if self.is_shared(who, name) {
                given.sets.push(name.clone());
            }
        }
        for effect in &def.effects {
            let spec = Spec::new(effect, who, who);
            // What joins an instance that is there belongs to it.
            let joined = self.existing(&spec, &self.effects[effect]).map(|e| e.key);
            let key = self.key();
            if let Err(kind) = self.apply_now(&spec, key) {
                *self = before;
                return Err(kind);
            }
            let is_own = |world: &World| {
                let row = &world.rows[&who];
                row.effects.iter().any(|e| e.key == key) || row.queue.iter().any(|q| q.0 == key)
            };
            // A removed ability may have applied the instance that it joined.
            let joined = joined.or_else(|| self.existing(&spec, &self.effects[effect]).map(|e| e.key));
            let key = joined.filter(|_| !is_own(self)).unwrap_or(key);
            let row = &self.rows[&who];
            if row.effects.iter().any(|e| e.key == key) || row.queue.iter().any(|q| q.0 == key) {
                given.effects.push(key);
            }
        }
        given.handle = self.seq();
        for a in &def.abilities {
            let id = self.give(who, &a.ability, a.level, a.input_id.clone(), None);
            given.grants.push(id);
        }
        self.emit(who, format!("SetGranted {set}"));
        let handle = given.handle;
        self.handles.push(handle);
        self.play(who).sets.push(given);
        self.add_capabilities(who, handle, set);
        Ok(handle)
    }

    fn is_shared(&self, who: u32, set: &str) -> bool {
        self.rows[&who].play.sets.iter().any(|s| s.sets.iter().any(|n| n == set))
    }

    /// Revokes one set grant in reverse order; refused if another set needs its attribute set.
    pub(crate) fn revoke_set(&mut self, who: u32, handle: u64) -> Result<(), Refused> {
        self.check_exists(who)?;
        let at = self.rows[&who].play.sets.iter().position(|s| s.handle == handle).ok_or("StaleHandle")?;
        let taken = self.play(who).sets.remove(at);
        let doomed: Vec<String> = taken.sets.iter().rev().filter(|s| !self.is_shared(who, s)).cloned().collect();
        if let Err(kind) = self.can_lose(who, &doomed) {
            self.play(who).sets.insert(at, taken);
            return Err(kind);
        }
        self.remove_capabilities(who, |r| r.key.0 == handle);
        taken.grants.iter().rev().for_each(|&id| self.revoke_grant(who, id));
        for &key in taken.effects.iter().rev() {
            // One that ended before is passed over.
            let _ = self.remove_now(who, key, -1);
        }
        for set in &doomed {
            let _ = self.remove_set_now(who, set, true);
        }
        self.emit(who, format!("SetRevoked {}", taken.set));
        self.react();
        Ok(())
    }

    fn can_lose(&self, who: u32, doomed: &[String]) -> Result<(), Refused> {
        let kept: Vec<&String> = self.rows[&who].sets.iter().filter(|s| !doomed.contains(s)).collect();
        if doomed.is_empty() {
            return Ok(());
        }
        if kept.is_empty() {
            return Err("NoSets");
        }
        let names: Vec<&String> = kept.iter().flat_map(|s| self.sets[*s].attributes.iter().map(|a| &a.name)).collect();
        let declared = kept.iter().any(|s| self.sets[*s].dependencies.iter().any(|d| doomed.contains(d)));
        let reads = names.iter().any(|a| self.own_reads(&(who, (*a).clone())).iter().any(|r| !names.contains(&&r.1)));
        if declared || reads { Err("SetNeeded") } else { Ok(()) }
    }
}
