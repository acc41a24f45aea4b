//! The players of the duel: two simple AIs. A person can take over one of them at any time.
//!
//! Both players act through clients and see only the state of their client, so they have the same latency as a human
//! player.

use super::blink::{BLINK, is_blinking};
use super::outcome::ActionOutcome;
use serde::{Deserialize, Serialize};
use ugas_core::{AbilityId, Anchor, ControllerId, InputId, Sim, Target};
use ugas_net::client::Client;
use ugas_net::harness::Harness;
use ugas_net::message::Request;

/// The radius of the ring in metres.
const RING: f64 = 14.0;
/// Ticks without a key press after which the AI takes over again.
const PATIENCE: u32 = 600;

/// The distance in metres at which the knight strikes. The mage walks on for the quarter of a second until the server
/// runs the strike, and the range of a strike is 3 m.
const STRIKE_RANGE: f64 = 1.6;

/// The keys that a person holds down: a direction and inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Keys {
    /// The horizontal direction; right is positive.
    #[serde(default)]
    pub x: f64,
    /// The vertical direction; down is positive.
    #[serde(default)]
    pub z: f64,
    /// Pressed inputs, by name.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// Whether the person returns the hero to the AI.
    #[serde(default)]
    pub leave: bool,
}

/// The players of the duel.
#[derive(Clone, Debug)]
pub struct Duel {
    heroes: [Hero; 2],
    keys: Keys,
    /// Ticks until the AI takes over again; 0 while the AI plays.
    player_ticks: u32,
}

#[derive(Clone, Debug)]
struct Hero {
    client: &'static str,
    who: ControllerId,
    foe: ControllerId,
    /// Ticks since the last key press: the reaction time.
    idle_ticks: u32,
    /// The direction around the ring: 1 or -1.
    orbit: f64,
    /// Pressed inputs with the remaining ticks; `u32::MAX` until a person releases the key.
    down: Vec<(InputId, u32)>,
}

/// The movement and the ability that a player chooses for a tick.
#[derive(Clone, Copy, Debug, Default)]
struct Intent {
    walk: [f64; 2],
    cast: Option<AbilityId>,
}

/// Returns the ticks for which the AI holds a key: long for a channel and a shield, short for the rest.
fn hold_of(name: &str) -> u32 {
    match name {
        "GA_LifeDrain" => 185,
        "GA_Guard" => 80,
        _ => 2,
    }
}

impl Duel {
    /// Creates the players; a person can take over the first player.
    pub(super) fn new(pyra: ControllerId, brann: ControllerId) -> Duel {
        let hero = |client, who, foe, orbit| Hero { client, who, foe, idle_ticks: 0, orbit, down: Vec::new() };
        let heroes = [hero("You", pyra, brann, 1.0), hero("Rival", brann, pyra, -1.0)];
        Duel { heroes, keys: Keys::default(), player_ticks: 0 }
    }

    /// Returns whether a person controls the hero.
    pub fn is_player_controlled(&self) -> bool {
        self.player_ticks > 0
    }

    /// Returns whether one of the heroes is dead.
    pub fn is_over(&self, sim: &Sim) -> bool {
        let dead = sim.rules().find_tag("State.Dead");
        dead.is_some_and(|tag| self.heroes.iter().any(|hero| sim.has_tag(hero.who, tag).unwrap_or(false)))
    }

    /// Returns the hero that a person can play.
    pub fn hero(&self) -> ControllerId {
        self.heroes[0].who
    }

    /// Sets the keys that a person holds down. Returns why a newly pressed input cannot activate its ability.
    pub(super) fn hold(&mut self, mut keys: Keys, net: &Harness) -> Option<ActionOutcome> {
        let fine = |v: f64| if v.is_finite() { v.clamp(-1.0, 1.0) } else { 0.0 };
        (keys.x, keys.z) = (fine(keys.x), fine(keys.z));
        self.player_ticks = if keys.leave { 0 } else { PATIENCE };
        let pressed = keys.inputs.iter().filter(|input| !self.keys.inputs.contains(input));
        let outcome = pressed.filter_map(|input| self.heroes[0].refusal(net, input)).next_back();
        self.keys = keys;
        outcome
    }

    /// Runs one tick of both players.
    pub(super) fn play(&mut self, net: &mut Harness) {
        let held = self.keys.x != 0.0 || self.keys.z != 0.0 || !self.keys.inputs.is_empty();
        if !held {
            self.player_ticks = self.player_ticks.saturating_sub(1);
        }
        for (at, hero) in self.heroes.iter_mut().enumerate() {
            let client = net.client_mut(hero.client);
            if !client.owned().contains(&hero.who) {
                continue;
            }
            let keys = Some(&self.keys).filter(|_| at == 0 && self.player_ticks > 0);
            hero.release_keys(client, keys);
            if !can_act(client.sim(), hero.who) {
                continue;
            }
            hero.idle_ticks += 1;
            let intent = match keys {
                Some(keys) => hero.player_intent(client, keys),
                None if at == 0 => hero.mage(client.sim()),
                None => hero.knight(client.sim()),
            };
            hero.act(client, intent);
        }
    }
}

impl Hero {
    /// Returns the intent of the mage: keep the distance and cast.
    fn mage(&mut self, sim: &Sim) -> Intent {
        let Some((to, distance)) = self.towards(sim) else { return Intent::default() };
        let can = |name: &str| self.can(sim, name);
        if sim.cast(self.who).ok().flatten().is_some() {
            return Intent::default();
        }
        let mut intent = Intent::default();
        let share = share_of(sim, self.who, "Health", "MaxHealth");
        intent.cast = match distance {
            d if d < 5.0 => can("GA_Blink"),
            d if d < 15.0 && share < 0.6 => can("GA_LifeDrain"),
            d if d > 7.0 => can("GA_Fireball"),
            _ => None,
        };
        intent.cast = intent.cast.or_else(|| can("GA_Firebolt"));
        if distance < 9.0 {
            // Walk back and sideways, because walking straight back ends at the edge.
            intent.walk = [-to[0] - to[1] * self.orbit * 0.8, -to[1] + to[0] * self.orbit * 0.8];
        }
        intent
    }

    /// Returns the intent of the knight: close in, and guard while the mage casts.
    fn knight(&mut self, sim: &Sim) -> Intent {
        let Some((to, distance)) = self.towards(sim) else { return Intent::default() };
        let can = |name: &str| self.can(sim, name);
        let casts = sim.rules().find_tag("State.Casting").is_some_and(|t| sim.has_tag(self.foe, t).unwrap_or(false));
        let mut intent = Intent { walk: to, cast: None };
        if distance < STRIKE_RANGE {
            intent.walk = if distance < 1.0 { [0.0; 2] } else { to };
            intent.cast = can("GA_Bash").or_else(|| can("GA_Judgement")).or_else(|| can("GA_Strike"));
        } else if casts && distance > 6.0 {
            intent.cast = can("GA_Guard");
        }
        intent
    }

    /// Returns the intent of the person. Newly pressed keys are sent immediately.
    fn player_intent(&mut self, client: &mut Client, keys: &Keys) -> Intent {
        let rules = client.sim().rules().clone();
        for input in keys.inputs.iter().filter_map(|name| rules.find_input(name)) {
            if !self.down.iter().any(|(held, _)| *held == input) {
                self.press(client, input, u32::MAX);
            }
        }
        Intent { walk: [keys.x, keys.z], cast: None }
    }

    /// Releases keys that were held long enough or that the person released.
    fn release_keys(&mut self, client: &mut Client, keys: Option<&Keys>) {
        let rules = client.sim().rules().clone();
        let who = self.who;
        self.down.retain_mut(|(input, left)| {
            let wanted = keys.is_some_and(|k| k.inputs.iter().any(|name| rules.find_input(name) == Some(*input)));
            *left = if *left == u32::MAX && !wanted { 0 } else { left.saturating_sub(u32::from(*left != u32::MAX)) };
            // If the release cannot be sent now, it is sent in the next tick.
            *left > 0 || client.command(Request::Release { who, input: *input }).is_err()
        });
    }

    /// Returns why an input cannot activate its ability, as the hero's client predicts it.
    fn refusal(&self, net: &Harness, input: &str) -> Option<ActionOutcome> {
        let sim = net.client(self.client).sim();
        let id = sim.rules().find_input(input)?;
        let grants = sim.grants(self.who).ok()?;
        let check = |ability| sim.check(self.who, ability, Target::Controller(self.foe)).err();
        let bound =
            grants.iter().filter(|grant| grant.input == Some(id)).map(|grant| (grant.ability, check(grant.ability)));
        // If one of several bound abilities can be activated, the input is not refused.
        let refused: Option<Vec<_>> = bound.map(|(ability, refusal)| Some((ability, refusal?))).collect();
        let (ability, refusal) = refused?.into_iter().next()?;
        let meta = sim.ability_doc(ability).and_then(|doc| doc.metadata.as_ref());
        let title = meta.and_then(|m| m.display_name.as_deref()).or(sim.rules().ability_name(ability))?;
        Some(ActionOutcome {
            text: format!("{title} cannot be activated: {}", refusal.describe(sim.rules())),
            no_effect: true,
        })
    }

    fn press(&mut self, client: &mut Client, input: InputId, ticks: u32) {
        let target = Target::Controller(self.foe);
        if client.command(Request::Press { who: self.who, input, target }).is_ok() {
            self.down.push((input, ticks));
            self.idle_ticks = 0;
        }
    }

    fn act(&mut self, client: &mut Client, intent: Intent) {
        let rules = client.sim().rules().clone();
        let mut at = place(client.sim(), self.who);
        let mut moved = false;
        let length = (intent.walk[0] * intent.walk[0] + intent.walk[1] * intent.walk[1]).sqrt();
        let casting = client.sim().cast(self.who).ok().flatten().is_some();
        if length > 1e-6 && !casting {
            let speed =
                rules.find_attribute("MoveSpeed").and_then(|a| client.sim().get(self.who, a).ok()).unwrap_or(0.0);
            let step = speed / f64::from(super::RATE) / length.max(1.0);
            at = [at[0] + intent.walk[0] * step, at[1] + intent.walk[1] * step];
            moved = true;
        }
        let grants = client.sim().grants(self.who).unwrap_or_default();
        let input = intent.cast.and_then(|ability| grants.iter().find(|g| g.ability == ability)).and_then(|g| g.input);
        if let Some(input) = input.filter(|i| !self.down.iter().any(|(held, _)| held == i)) {
            let name = intent.cast.and_then(|a| rules.ability_name(a)).unwrap_or_default();
            self.press(client, input, hold_of(name));
        }
        if let Some(jump) = self.blink_destination(client.sim()) {
            (at, moved) = (jump, true);
        }
        if moved {
            let out = (at[0] * at[0] + at[1] * at[1]).sqrt();
            if out > RING {
                at = [at[0] * RING / out, at[1] * RING / out];
                self.orbit = -self.orbit;
            }
            let anchor = Anchor { facing: [intent.walk[0], 0.0, intent.walk[1]], ..Anchor::at([at[0], 0.0, at[1]]) };
            // The client rejects the move while its prediction window is full; the next tick tries again.
            let _ = client.command(Request::Move { who: self.who, anchor });
        }
    }

    /// Returns the destination of a blink that started in this tick. An engine would compute the destination to answer
    /// the teleport request. The blink moves the hero towards the centre, where there is most space.
    fn blink_destination(&mut self, sim: &Sim) -> Option<[f64; 2]> {
        let at = place(sim, self.who);
        let out = (at[0] * at[0] + at[1] * at[1]).sqrt().max(1e-6);
        is_blinking(sim, self.who).then(|| [at[0] - at[0] / out * BLINK, at[1] - at[1] / out * BLINK])
    }

    /// Returns the unit direction to the foe and the distance.
    fn towards(&self, sim: &Sim) -> Option<([f64; 2], f64)> {
        let dead = sim.rules().find_tag("State.Dead");
        if !sim.exists(self.foe) || dead.is_some_and(|t| sim.has_tag(self.foe, t).unwrap_or(false)) {
            return None;
        }
        let (here, there) = (place(sim, self.who), place(sim, self.foe));
        let offset = [there[0] - here[0], there[1] - here[1]];
        let distance = (offset[0] * offset[0] + offset[1] * offset[1]).sqrt();
        let unit = distance.max(1e-6);
        Some(([offset[0] / unit, offset[1] / unit], distance))
    }

    fn can(&self, sim: &Sim, name: &str) -> Option<AbilityId> {
        let ability = sim.rules().find_ability(name)?;
        // A short pause between two decisions.
        let ready = self.idle_ticks >= 3 && sim.check(self.who, ability, Target::Controller(self.foe)).is_ok();
        ready.then_some(ability)
    }
}

/// Returns whether a hero is alive and not stunned.
fn can_act(sim: &Sim, who: ControllerId) -> bool {
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
