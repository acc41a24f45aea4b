//! A game with health, damage, a buff and a cooldown, defined in code without any file.
//!
//! `cargo run -p ugas --example simple`

use ugas::simple::Game;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut game = Game::new()
        .stat("MaxHealth", 100.0)
        .resource("Health", 100.0, "MaxHealth")
        .stat("Attack", 10.0)
        .hit("Slash", "Health", -25.0)
        .cooldown("Slash", 1.5)
        .buff("Rage", "Attack", 0.5, 8.0)
        .start()?;
    let (hero, orc) = (game.spawn()?, game.spawn()?);
    game.act(hero, "Rage", hero)?;
    println!("{}", game.explain(hero, "Attack")?);
    let mut swings = 0;
    while game.get(orc, "Health")? > 0.0 {
        match game.act(hero, "Slash", orc) {
            Ok(()) => swings += 1,
            Err(no) => println!("Slash: {no}"),
        }
        game.pass(0.5);
    }
    println!("the orc died after {swings} swings");
    assert_eq!(swings, 4);
    Ok(())
}
