//! Display names and debug categories of controllers.

use std::collections::BTreeMap;
use ugas_core::{ControllerId, Sim};

/// Names and debug categories of controllers.
///
/// ```
/// use ugas_core::ControllerId;
/// let mut names = ugas_studio::Names::default();
/// names.set(ControllerId(1), "Pyra");
/// assert_eq!(names.name(ControllerId(1)), "Pyra");
/// assert_eq!(names.name(ControllerId(2)), "#2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    names: BTreeMap<ControllerId, String>,
    categories: BTreeMap<ControllerId, String>,
}

impl Names {
    /// Sets the name of a controller.
    pub fn set(&mut self, who: ControllerId, name: impl Into<String>) {
        self.names.insert(who, name.into());
    }

    /// Sets the category of a controller, usually the `DebugCategory` of its document.
    pub fn set_category(&mut self, who: ControllerId, category: impl Into<String>) {
        self.categories.insert(who, category.into());
    }

    /// Returns the name of a controller, or its id as `#7` if it has no name.
    pub fn name(&self, who: ControllerId) -> String {
        self.names.get(&who).cloned().unwrap_or_else(|| format!("#{}", who.0))
    }

    /// Returns the controller that has this name, if it exists in `sim`. The name `#7` means the controller with the id
    /// 7.
    pub fn who(&self, sim: &Sim, name: &str) -> Option<ControllerId> {
        self.id(name).filter(|&who| sim.exists(who))
    }

    /// Returns the controller that has this name, without checking that it exists in a sim.
    pub(crate) fn id(&self, name: &str) -> Option<ControllerId> {
        let known = self.names.iter().find(|(_, n)| *n == name).map(|(who, _)| *who);
        known.or_else(|| name.strip_prefix('#')?.parse().ok().map(ControllerId))
    }

    /// Returns the category of a controller.
    pub fn category(&self, who: ControllerId) -> Option<&str> {
        self.categories.get(&who).map(String::as_str)
    }

    /// Returns all categories, sorted.
    pub fn categories(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.categories.values().map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.names.values().any(|n| n == name)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

impl From<BTreeMap<ControllerId, String>> for Names {
    fn from(names: BTreeMap<ControllerId, String>) -> Names {
        Names { names, categories: BTreeMap::new() }
    }
}
