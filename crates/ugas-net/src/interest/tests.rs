//! Rates, budgets and who comes first.
