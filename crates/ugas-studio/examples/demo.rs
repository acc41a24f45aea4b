//! The demo without the command line around it.

use ugas_studio::serve::Studio;
use ugas_studio::stage::Stage;
use ugas_studio::Desk;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let studio = Studio::listen(7070, "demo")?;
    println!("{}", studio.address()?);
    studio.run(Desk::new(Box::new(Stage::duel), 7)?)?;
    Ok(())
}
