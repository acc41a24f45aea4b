//! Who plays the duel: two small minds, and a person who may take over one of them at any time.
//!
//! Both play through clients, over links, by what their client shows them: they are as late as any player.

use serde::{Deserialize, Serialize};
use ugas_core::{AbilityId, Anchor, ControllerId, InputId, Rules, Sim, SimTime, Target};
use ugas_net::client::Client;
use ugas_net::harness::Harness;
use ugas_net::message::Request;

/// Half the width of the ring.
const RING: f64 = 14.0;
/// Ticks without a key after which the machine plays on.
const PATIENCE: u32 = 600;
/// Metres of a blink.
const BLINK: f64 = 8.0;

/// What a person holds down: where to walk, and what to use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Keys {
    /// Right is positive.
    #[serde(default)]
    pub x: f64,
    /// Down is positive.
    #[serde(default)]
    pub z: f64,
    /// Inputs that are down, by name.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Gives the hero back to the machine.
    #[serde(default)]
    pub leave: bool,
}

/// The duel's players.
#[derive(Clone, Debug)]
pub struct Duel {
    heroes: [Hero; 2],
    keys: Keys,
    /// Ticks until the machine plays on; 0 if it does.
    mine: u32,
}

#[derive(Clone, Debug)]
struct Hero {
    client: &'static str,
    who: ControllerId,
    foe: ControllerId,
    /// Ticks since it last did something, so that it does not do everything at once.
    rested: u32,
    /// Walks round the ring this way.
    way: f64,
    /// Inputs that are down, and for how many ticks more; those of a person until the key comes up.
    down: Vec<(InputId, u32)>,
}

/// What a hero wants in a tick.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    walk: [f64; 2],
    cast: Option<AbilityId>,
}

/// Ticks for which a machine holds a key: a channel and a shield are held, everything else is a tap.
fn hold_of(name: &str) -> u32 {
    match name {
        "GA_LifeDrain" => 185,
        "GA_Guard" => 80,
        _ => 2,
    }
}

impl Duel {
    /// Two heroes, the first of which a person may play.
    pub(super) fn new(pyra: ControllerId, brann: ControllerId) -> Duel {
        let hero = |client, who, foe, way| Hero { client, who, foe, rested: 0, way, down: Vec::new() };
        let heroes = [hero("You", pyra, brann, 1.0), hero("Rival", brann, pyra, -1.0)];
        Duel { heroes, keys: Keys::default(), mine: 0 }
    }

    /// Whether a person plays.
    pub fn is_taken(&self) -> bool {
        self.mine > 0
    }

    /// Whether one of them is down.
    pub fn is_over(&self, sim: &Sim) -> bool {
        let dead = sim.rules().find_tag("State.Dead");
        dead.is_some_and(|tag| self.heroes.iter().any(|hero| sim.has_tag(hero.who, tag).unwrap_or(false)))
    }

    /// Who is played by the person.
    pub fn hero(&self) -> ControllerId {
        self.heroes[0].who
    }

    pub(super) fn hold(&mut self, mut keys: Keys) {
        let fine = |v: f64| if v.is_finite() { v.clamp(-1.0, 1.0) } else { 0.0 };
        (keys.x, keys.z) = (fine(keys.x), fine(keys.z));
        self.mine = if keys.leave { 0 } else { PATIENCE };
        self.keys = keys;
    }

    /// One tick of both.
    pub(super) fn play(&mut self, net: &mut Harness) {
        let held = self.keys.x != 0.0 || self.keys.z != 0.0 || !self.keys.inputs.is_empty();
        if !held {
            self.mine = self.mine.saturating_sub(1);
        }
        for (at, hero) in self.heroes.iter_mut().enumerate() {
            let client = net.client_mut(hero.client);
            if !client.owned().contains(&hero.who) {
                continue;
            }
            let keys = Some(&self.keys).filter(|_| at == 0 && self.mine > 0);
            hero.let_go(client, keys);
            if !is_fit(client.sim(), hero.who) {
                continue;
            }
            hero.rested += 1;
            let wish = match keys {
                Some(keys) => hero.asked(client, keys),
                None if at == 0 => hero.mage(client.sim()),
                None => hero.knight(client.sim()),
            };
            hero.act(client, wish);
        }
    }
}

impl Hero {
    /// From afar, and away if he comes close.
    fn mage(&mut self, sim: &Sim) -> Wish {
        let Some((to, distance)) = self.towards(sim) else { return Wish::default() };
        let can = |name: &str| self.can(sim, name);
        if sim.cast(self.who).ok().flatten().is_some() {
            return Wish::default();
        }
        let mut wish = Wish::default();
        let share = share_of(sim, self.who, "Health", "MaxHealth");
        wish.cast = match distance {
            d if d < 5.0 => can("GA_Blink"),
            d if d < 15.0 && share < 0.6 => can("GA_LifeDrain"),
            d if d > 7.0 => can("GA_Fireball"),
            _ => None,
        };
        wish.cast = wish.cast.or_else(|| can("GA_Firebolt"));
        if distance < 9.0 {
            // Back and sideways: straight back ends at the wall.
            wish.walk = [-to[0] - to[1] * self.way * 0.8, -to[1] + to[0] * self.way * 0.8];
        }
        wish
    }

    /// Up close as fast as he can; behind his shield while she casts.
    fn knight(&mut self, sim: &Sim) -> Wish {
        let Some((to, distance)) = self.towards(sim) else { return Wish::default() };
        let can = |name: &str| self.can(sim, name);
        let casts = sim.rules().find_tag("State.Casting").is_some_and(|t| sim.has_tag(self.foe, t).unwrap_or(false));
        let mut wish = Wish { walk: to, cast: None };
        if distance < 2.6 {
            wish.walk = [0.0; 2];
            wish.cast = can("GA_Bash").or_else(|| can("GA_Judgement")).or_else(|| can("GA_Strike"));
        } else if casts && distance > 6.0 {
            wish.cast = can("GA_Guard");
        }
        wish
    }

    /// What the person wants. Keys go down as they are pressed, whatever comes of it.
    fn asked(&mut self, client: &mut Client, keys: &Keys) -> Wish {
        let rules = client.sim().rules().clone();
        for input in keys.inputs.iter().filter_map(|name| rules.find_input(name)) {
            if !self.down.iter().any(|(held, _)| *held == input) {
                self.press(client, input, u32::MAX);
            }
        }
        Wish { walk: [keys.x, keys.z], cast: None }
    }

    /// Keys that were held long enough, or that the person let go, come up.
    fn let_go(&mut self, client: &mut Client, keys: Option<&Keys>) {
        let rules = client.sim().rules().clone();
        let who = self.who;
        self.down.retain_mut(|(input, left)| {
            let wanted = keys.is_some_and(|k| k.inputs.iter().any(|name| rules.find_input(name) == Some(*input)));
            *left = if *left == u32::MAX && !wanted { 0 } else { left.saturating_sub(u32::from(*left != u32::MAX)) };
            // Where it cannot be told now it is told in the next tick.
            *left > 0 || client.command(Request::Release { who, input: *input }).is_err()
        });
    }

    fn press(&mut self, client: &mut Client, input: InputId, ticks: u32) {
        let target = Target::Controller(self.foe);
        if client.command(Request::Press { who: self.who, input, target }).is_ok() {
            self.down.push((input, ticks));
            self.rested = 0;
        }
    }

    fn act(&mut self, client: &mut Client, wish: Wish) {
        let rules = client.sim().rules().clone();
        let mut at = place(client.sim(), self.who);
        let mut moved = false;
        let length = (wish.walk[0] * wish.walk[0] + wish.walk[1] * wish.walk[1]).sqrt();
        let casting = client.sim().cast(self.who).ok().flatten().is_some();
        if length > 1e-6 && !casting {
            let speed =
                rules.find_attribute("MoveSpeed").and_then(|a| client.sim().get(self.who, a).ok()).unwrap_or(0.0);
            let step = speed / f64::from(super::RATE) / length.max(1.0);
            at = [at[0] + wish.walk[0] * step, at[1] + wish.walk[1] * step];
            moved = true;
        }
        let grants = client.sim().grants(self.who).unwrap_or_default();
        let input = wish.cast.and_then(|ability| grants.iter().find(|g| g.ability == ability)).map(|g| g.input);
        if let Some(input) = input.filter(|i| !self.down.iter().any(|(held, _)| held == i)) {
            let name = wish.cast.and_then(|a| rules.ability_name(a)).unwrap_or_default();
            self.press(client, input, hold_of(name));
        }
        if let Some(jump) = self.jump(client.sim(), &rules) {
            (at, moved) = (jump, true);
        }
        if moved {
            let out = (at[0] * at[0] + at[1] * at[1]).sqrt();
            if out > RING {
                at = [at[0] * RING / out, at[1] * RING / out];
                self.way = -self.way;
            }
            let anchor = Anchor { facing: [wish.walk[0], 0.0, wish.walk[1]], ..Anchor::at([at[0], 0.0, at[1]]) };
            // A window that is closed lets nobody move; the next tick tries again.
            let _ = client.command(Request::Move { who: self.who, anchor });
        }
    }

    /// Where a blink of this tick leads: what the engine does about the request to teleport. Through the middle, where
    /// there is most room.
    fn jump(&mut self, sim: &Sim, rules: &Rules) -> Option<[f64; 2]> {
        let blink = rules.find_effect("GE_Blink")?;
        let fresh = sim.effects(self.who).ok()?.into_iter().any(|e| e.effect == blink && e.elapsed == SimTime::ZERO);
        let at = place(sim, self.who);
        let out = (at[0] * at[0] + at[1] * at[1]).sqrt().max(1e-6);
        fresh.then(|| [at[0] - at[0] / out * BLINK, at[1] - at[1] / out * BLINK])
    }

    /// The way to the foe, of length one, and how far it is.
    fn towards(&self, sim: &Sim) -> Option<([f64; 2], f64)> {
        let dead = sim.rules().find_tag("State.Dead");
        if !sim.exists(self.foe) || dead.is_some_and(|t| sim.has_tag(self.foe, t).unwrap_or(false)) {
            return None;
        }
        let (here, there) = (place(sim, self.who), place(sim, self.foe));
        let way = [there[0] - here[0], there[1] - here[1]];
        let distance = (way[0] * way[0] + way[1] * way[1]).sqrt();
        let unit = distance.max(1e-6);
        Some(([way[0] / unit, way[1] / unit], distance))
    }

    fn can(&self, sim: &Sim, name: &str) -> Option<AbilityId> {
        let ability = sim.rules().find_ability(name)?;
        // A breath between two decisions, as people need one.
        let ready = self.rested >= 3 && sim.check(self.who, ability, Target::Controller(self.foe)).is_ok();
        ready.then_some(ability)
    }
}

/// Whether somebody can do anything at all.
fn is_fit(sim: &Sim, who: ControllerId) -> bool {
    let has = |name: &str| sim.rules().find_tag(name).is_some_and(|t| sim.has_tag(who, t).unwrap_or(true));
    sim.exists(who) && !has("State.Dead") && !has("State.Debuff.Stunned")
}

fn place(sim: &Sim, who: ControllerId) -> [f64; 2] {
    let anchor = sim.anchor(who).ok().flatten().unwrap_or(Anchor::at([0.0; 3]));
    [anchor.position[0], anchor.position[2]]
}

fn share_of(sim: &Sim, who: ControllerId, value: &str, most: &str) -> f64 {
    let get = |name: &str| sim.rules().find_attribute(name).and_then(|a| sim.get(who, a).ok());
    match (get(value), get(most)) {
        (Some(value), Some(most)) if most > 0.0 => value / most,
        _ => 1.0,
    }
}
