//! Chapter 15.4: 2048. A board has the ability, each tile is a controller; moves and merges are effects, so they emit
//! facts, are explained and can be undone like all effects. The host spawns and removes controllers at the request of
//! the ability.

use std::sync::Arc;
use ugas::core::{AbilityCx, AbilityGrant, BoundDef, CodedAbility, GrantId, Next, Resume, Target};
use ugas::doc::Category;
use ugas::prelude::*;

const SIZE: i32 = 4;
const LEFT: [f64; 3] = [-1.0, 0.0, 0.0];
const RIGHT: [f64; 3] = [1.0, 0.0, 0.0];
const UP: [f64; 3] = [0.0, -1.0, 0.0];

/// The set as a designer writes it.
const CELL: &str = "
Kind: attribute_set
Name: PuzzleCellSet
Attributes:
  - {Name: CellValue, DefaultBaseValue: 0, Category: Statistic}
  - {Name: GridX, DefaultBaseValue: 0, Category: Meta}
  - {Name: GridY, DefaultBaseValue: 0, Category: Meta}
  - {Name: MergePriority, DefaultBaseValue: 0, Category: Meta}
";

/// A tile as the ability sees it.
#[derive(Clone, Copy)]
struct Tile {
    who: ControllerId,
    at: [i32; 2],
    value: f64,
}

/// GA_GridMove: slides and merges, waits for the animation, then requests removals and a spawn.
struct GridMove;

impl GridMove {
    /// The tiles, front to back in the direction of the move.
    fn tiles(cx: &AbilityCx<'_>, direction: [f64; 3]) -> Vec<Tile> {
        let name = |n: &str| cx.rules().find_attribute(n);
        let (Some(value), Some(x), Some(y)) = (name("CellValue"), name("GridX"), name("GridY")) else {
            return Vec::new();
        };
        let tile = |who| {
            let at = [cx.get_of(who, x)? as i32, cx.get_of(who, y)? as i32];
            Some(Tile { who, at, value: cx.get_of(who, value)? })
        };
        let mut all: Vec<Tile> = cx.within(f64::MAX).into_iter().filter_map(tile).collect();
        let distance_along = |t: &Tile| (0..2).map(|i| t.at[i] as f64 * direction[i]).sum::<f64>();
        all.sort_by(|a, b| distance_along(b).total_cmp(&distance_along(a)).then(a.at.cmp(&b.at)));
        all
    }

    fn slide(cx: &mut AbilityCx<'_>) -> Option<()> {
        let Target::Point(direction) = cx.target() else { return None };
        let rules = cx.rules();
        let [moved, merged, doomed] = [
            rules.find_effect("GE_CellMove")?,
            rules.find_effect("GE_CellMerge")?,
            rules.find_effect("GE_PendingDestroy")?,
        ];
        let [new_x, new_y] = [rules.find_key("NewX")?, rules.find_key("NewY")?];
        // The positions after the move, and whether a tile has merged already.
        let mut settled: Vec<(Tile, bool)> = Vec::new();
        for mut tile in GridMove::tiles(cx, direction) {
            let from = tile.at;
            let met = loop {
                let next = [tile.at[0] + direction[0] as i32, tile.at[1] + direction[1] as i32];
                if next.iter().any(|&n| !(0..SIZE).contains(&n)) {
                    break None;
                }
                match settled.iter().position(|(t, _)| t.at == next) {
                    Some(other) => break Some(other),
                    None => tile.at = next,
                }
            };
            if let Some(other) = met.filter(|&o| settled[o].0.value == tile.value && !settled[o].1) {
                settled[other].1 = true;
                cx.apply(Spec::new(merged, settled[other].0.who));
                cx.apply(Spec::new(doomed, tile.who));
                continue;
            }
            if tile.at != from {
                let spec = Spec::new(moved, tile.who).set(new_x, tile.at[0] as f64).set(new_y, tile.at[1] as f64);
                cx.apply(spec);
            }
            settled.push((tile, false));
        }
        Some(())
    }

    fn clean_up(cx: &mut AbilityCx<'_>) -> Option<()> {
        let rules = cx.rules();
        let [destroy, spawn, won] = ["Grid.Destroy", "Grid.Spawn", "Grid.Won"].map(|n| rules.find_tag(n));
        let (pending, roll, value) = (
            rules.find_tag("Status.PendingDestroy")?,
            rules.find_effect("GE_Roll")?,
            rules.find_attribute("CellValue")?,
        );
        let all = cx.within(f64::MAX);
        for &cell in &all {
            if cx.has_of(cell, pending) {
                cx.send(destroy?, cell, 0.0);
            }
        }
        if all.iter().any(|&cell| cx.get_of(cell, value) == Some(2048.0)) {
            cx.send(won?, cx.who(), 0.0);
        }
        cx.apply_to_owner(roll);
        cx.send(spawn?, cx.who(), 0.0);
        Some(())
    }
}

impl CodedAbility for GridMove {
    type State = ();
    fn resume(&self, _: &mut (), why: Resume<'_>, cx: &mut AbilityCx<'_>) -> Next {
        match why {
            Resume::Activated if GridMove::slide(cx).is_some() => Next::After(SimTime::seconds(0.2)),
            Resume::Elapsed if GridMove::clean_up(cx).is_some() => Next::End,
            _ => Next::Cancel,
        }
    }
}

fn rules() -> Arc<Rules> {
    let builder = Rules::builder()
        .add(AttributeSet::new("BoardSet").with(Attribute::new("Roll", 0.0)))
        .add(TagRegistry::new(["Grid.Destroy", "Grid.Spawn", "Grid.Won"]))
        .add(
            Effect::instant("GE_CellMove")
                .set("GridX", Magnitude::set_by_caller("NewX"))
                .set("GridY", Magnitude::set_by_caller("NewY")),
        )
        .add(Effect::instant("GE_CellMerge").multiply("CellValue", 1.0))
        .add(Effect::instant("GE_CellValue").set("CellValue", Magnitude::set_by_caller("Value")))
        .add(Effect::infinite("GE_PendingDestroy").grants("Status.PendingDestroy"))
        .add(Effect::instant("GE_Roll").execute("ExecCalc_Roll"))
        .calc_fn("ExecCalc_Roll", [], |cx| {
            let roll = cx.random();
            cx.set("Roll", roll);
        })
        .add(Ability::new("GA_GridMove"))
        .ability_code("GA_GridMove", GridMove);
    load_str("cell.yaml", CELL, builder).unwrap()
}

/// The host: a board, its tiles, and what only a host may do.
struct Game {
    sim: Sim,
    board: ControllerId,
    grant: GrantId,
    won: bool,
    spawned: u32,
    ended: Vec<bool>,
    log: Facts,
}

impl Game {
    fn new(seed: u64, rows: &[(i32, [f64; 4])]) -> Game {
        let rules = rules();
        let mut sim = Sim::new(rules.clone(), SimConfig { seed, ..SimConfig::default() });
        let spec = SpawnSpec::sets([rules.set("BoardSet").unwrap()]);
        let board = sim.spawn(SpawnSpec { anchor: Some(Anchor::at([0.0; 3])), ..spec }).unwrap();
        let grant = sim.grant(board, AbilityGrant::new(rules.ability("GA_GridMove").unwrap())).unwrap();
        let (won, spawned, ended, log) = (false, 0, Vec::new(), Facts::default());
        let mut game = Game { sim, board, grant, won, spawned, ended, log };
        for (y, row) in rows {
            for (x, value) in row.iter().enumerate().filter(|(_, v)| **v > 0.0) {
                game.put([x as i32, *y], *value);
            }
        }
        game.sim.take_facts(&mut game.log);
        game
    }

    fn put(&mut self, at: [i32; 2], value: f64) -> ControllerId {
        let rules = self.sim.rules().clone();
        let place = Some(Anchor::at([at[0] as f64, at[1] as f64, 0.0]));
        let spec = SpawnSpec { anchor: place, ..SpawnSpec::sets([rules.set("PuzzleCellSet").unwrap()]) };
        let who = self.sim.spawn(spec).unwrap();
        let key = |n: &str| rules.key(n).unwrap();
        let there = Spec::new(rules.effect("GE_CellMove").unwrap(), who);
        self.sim.apply(&there.set(key("NewX"), at[0] as f64).set(key("NewY"), at[1] as f64)).unwrap();
        let worth = Spec::new(rules.effect("GE_CellValue").unwrap(), who);
        self.sim.apply(&worth.set(key("Value"), value)).unwrap();
        who
    }

    fn get(&self, who: ControllerId, name: &str) -> f64 {
        self.sim.get(who, self.sim.rules().attribute(name).unwrap()).unwrap()
    }

    fn tiles(&self) -> Vec<(ControllerId, [i32; 2], f64)> {
        let all = self.sim.controllers().filter(|&who| who != self.board);
        all.map(|w| (w, [self.get(w, "GridX") as i32, self.get(w, "GridY") as i32], self.get(w, "CellValue"))).collect()
    }

    fn is_doomed(&self, who: ControllerId) -> bool {
        self.sim.has_tag(who, self.sim.rules().tag("Status.PendingDestroy").unwrap()).unwrap()
    }

    /// The values of a row, without tiles marked for removal.
    fn row(&self, y: i32) -> [f64; 4] {
        let mut row = [0.0; 4];
        for (_, at, value) in self.tiles().iter().filter(|(who, at, _)| at[1] == y && !self.is_doomed(*who)) {
            row[at[0] as usize] = *value;
        }
        row
    }

    /// Begins a move.
    fn swipe(&mut self, direction: [f64; 3]) -> Result<(), Refusal> {
        let ability = self.sim.rules().ability("GA_GridMove").unwrap();
        self.sim.activate(self.board, ability, Target::Point(direction))?;
        self.host();
        Ok(())
    }

    /// Advances the time and runs the requests of the ability.
    fn pass(&mut self, seconds: f64) {
        let then = SimTime(self.sim.now().0 + SimTime::seconds(seconds).0);
        self.sim.advance_to(then);
        self.host();
    }

    fn host(&mut self) {
        let mut facts = Facts::default();
        self.sim.take_facts(&mut facts);
        for fact in &facts {
            match fact.kind {
                FactKind::GameplayEvent { tag, .. } => match self.sim.rules().tag_name(tag) {
                    Some("Grid.Destroy") => self.sim.despawn(fact.who).unwrap(),
                    Some("Grid.Spawn") => self.spawn_random(),
                    Some("Grid.Won") => self.won = true,
                    _ => {}
                },
                FactKind::AbilityEnded { cancelled, .. } => self.ended.push(cancelled),
                _ => {}
            }
        }
        self.log = facts;
    }

    fn spawn_random(&mut self) {
        let taken: Vec<[i32; 2]> = self.tiles().iter().map(|t| t.1).collect();
        let all = (0..SIZE * SIZE).map(|n| [n % SIZE, n / SIZE]);
        let free: Vec<[i32; 2]> = all.filter(|at| !taken.contains(at)).collect();
        let nth = (self.get(self.board, "Roll") * free.len() as f64) as usize;
        self.put(free[nth], 2.0);
        self.spawned += 1;
    }

    /// Whether any move is left.
    fn is_lost(&self) -> bool {
        let tiles = self.tiles();
        let is_adjacent = |a: [i32; 2], b: [i32; 2]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs() == 1;
        let equal = |t: &(ControllerId, [i32; 2], f64)| tiles.iter().any(|o| is_adjacent(t.1, o.1) && t.2 == o.2);
        tiles.len() as i32 == SIZE * SIZE && !tiles.iter().any(equal)
    }
}

// covers: UGAS-15.4-01
#[test]
fn the_cell_set_has_the_specified_attributes() {
    let rules = rules();
    let set = rules.set_attributes(rules.set("PuzzleCellSet").unwrap()).unwrap();
    let found: Vec<_> =
        set.iter().map(|a| (rules.attribute_name(a.attribute).unwrap(), a.default, a.category)).collect();
    let meta = |name| (name, 0.0, Category::Meta);
    assert_eq!(found, [("CellValue", 0.0, Category::Statistic), meta("GridX"), meta("GridY"), meta("MergePriority")]);
    assert!(set.iter().all(|a| a.min == BoundDef::Open && a.max == BoundDef::Open));
}

// covers: UGAS-15.4-02
#[test]
fn tiles_slide_front_to_back() {
    let mut game = Game::new(1, &[(0, [2.0, 0.0, 0.0, 4.0])]);
    let before: Vec<_> = game.tiles();
    game.swipe(RIGHT).unwrap();
    assert_eq!(game.row(0), [0.0, 0.0, 2.0, 4.0]);
    // The same tiles, moved by the effect with the caller's values; tiles already in place are not moved.
    let moved = game.sim.rules().effect("GE_CellMove").unwrap();
    let moves = game.log.list.iter().filter(|f| f.effect == moved && matches!(f.kind, FactKind::EffectApplied { .. }));
    assert_eq!(moves.map(|f| f.who).collect::<Vec<_>>(), [before[0].0]);
    // Front to back: otherwise the one behind would stop at the place the other is about to leave.
    let mut game = Game::new(1, &[(0, [2.0, 4.0, 8.0, 0.0])]);
    game.swipe(RIGHT).unwrap();
    assert_eq!(game.row(0), [0.0, 2.0, 4.0, 8.0]);
    let mut game = Game::new(1, &[(1, [2.0, 0.0, 0.0, 0.0]), (3, [4.0, 0.0, 0.0, 0.0])]);
    game.swipe(UP).unwrap();
    assert_eq!((game.row(0), game.row(1)), ([2.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0]));
}

// covers: UGAS-15.4-03
#[test]
fn equal_tiles_merge_and_the_source_is_marked_for_removal() {
    let mut game = Game::new(1, &[(0, [2.0, 2.0, 0.0, 0.0])]);
    let (target, source) = (game.tiles()[0].0, game.tiles()[1].0);
    game.swipe(LEFT).unwrap();
    assert_eq!(game.get(target, "CellValue"), 4.0);
    assert!(game.is_doomed(source) && !game.is_doomed(target));
    let doomed = game.sim.rules().effect("GE_PendingDestroy").unwrap();
    let held = game.sim.effects(source).unwrap();
    assert_eq!(held.iter().map(|e| (e.effect, e.remaining)).collect::<Vec<_>>(), [(doomed, None)]);
    let merged = game.sim.rules().effect("GE_CellMerge").unwrap();
    assert_eq!(game.log.list.iter().filter(|f| f.effect == merged && f.who == target).count(), 2, "changed, applied");
}

// covers: UGAS-15.4-04
#[test]
fn a_tile_merges_at_most_once_in_a_move() {
    for (row, left) in [
        ([2.0, 2.0, 2.0, 2.0], [4.0, 4.0, 0.0, 0.0]),
        ([2.0, 2.0, 4.0, 0.0], [4.0, 4.0, 0.0, 0.0]),
        ([2.0, 2.0, 2.0, 0.0], [4.0, 2.0, 0.0, 0.0]),
    ] {
        let mut game = Game::new(1, &[(0, row)]);
        game.swipe(LEFT).unwrap();
        assert_eq!(game.row(0), left, "{row:?}");
    }
}

// covers: UGAS-15.4-05
#[test]
fn after_the_animation_merged_tiles_are_removed_and_one_spawns() {
    let play = |seed| {
        let mut game = Game::new(seed, &[(0, [2.0, 2.0, 0.0, 0.0])]);
        game.swipe(LEFT).unwrap();
        assert!(game.swipe(RIGHT).is_err(), "one move at a time");
        game.pass(0.19);
        assert_eq!((game.tiles().len(), game.ended.len()), (2, 0));
        game.pass(0.01);
        assert_eq!((game.tiles().len(), game.spawned, game.ended.as_slice()), (2, 1, &[false][..]));
        assert!(!game.tiles().iter().any(|t| game.is_doomed(t.0)) && !game.won && !game.is_lost());
        game
    };
    let (mut a, mut b) = (play(7), play(7));
    assert_eq!(a.tiles(), b.tiles(), "the same seed, the same tile");
    assert_eq!(a.sim.hash(), b.sim.hash());
    let places = |seed| play(seed).tiles().iter().map(|t| t.1).collect::<Vec<_>>();
    assert!((8..24).any(|seed| places(seed) != places(7)), "another seed, another tile");
    assert_eq!(a.sim.ability_state(a.board, a.grant).unwrap(), ugas::core::AbilityState::Granted);

    let mut game = Game::new(3, &[(0, [1024.0, 1024.0, 0.0, 0.0])]);
    game.swipe(LEFT).unwrap();
    game.pass(0.2);
    assert!(game.won);
    let full = [[2.0, 4.0, 2.0, 4.0], [4.0, 2.0, 4.0, 2.0]];
    let rows: Vec<_> = (0..4).map(|y| (y, full[y as usize % 2])).collect();
    assert!(Game::new(3, &rows).is_lost());
}
