#[path = "suite/economy/mod.rs"]
mod economy;
