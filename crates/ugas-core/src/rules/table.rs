//! The definitions of one kind: the name of each id, and the definition of the id if it has one.

use super::Interner;
use super::compiled::CompiledText;

/// Names and definitions by id. A name without a definition is only declared or comes from older rules.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    names: Interner,
    definitions: Vec<Option<T>>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { names: Interner::default(), definitions: Vec::new() }
    }
}

impl<T> Table<T> {
    #[inline]
    pub(crate) fn get(&self, id: u32) -> Option<&T> {
        self.definitions.get(id as usize)?.as_ref()
    }

    pub(crate) fn define(&mut self, id: u32, definition: T) {
        if let Some(place) = self.definitions.get_mut(id as usize) {
            *place = Some(definition);
        }
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.definitions.get_mut(id as usize)?.as_mut()
    }

    /// Iterates over the definitions of all ids. Some ids have no definition.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Option<T>> {
        self.definitions.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Returns the same names without definitions.
    pub(crate) fn to_names(&self) -> Table<T> {
        Table { names: self.names.clone(), definitions: self.definitions.iter().map(|_| None).collect() }
    }
}

/// The names of one kind, independent of the type of their definitions.
pub(crate) trait NameTable {
    fn names(&self) -> &Interner;
    /// Returns the id of a name. A new name gets a new id.
    fn intern(&mut self, name: &str) -> u32;
    /// Returns whether an id has a definition.
    fn has(&self, id: u32) -> bool;
    /// Calls a function with each definition as text.
    fn definitions(&self, _each: &mut dyn FnMut(usize, String)) {}
}

impl<T: CompiledText> NameTable for Table<T> {
    fn names(&self) -> &Interner {
        &self.names
    }

    fn intern(&mut self, name: &str) -> u32 {
        let id = self.names.intern(name);
        while self.definitions.len() <= id as usize {
            self.definitions.push(None);
        }
        id
    }

    fn has(&self, id: u32) -> bool {
        self.get(id).is_some()
    }

    fn definitions(&self, each: &mut dyn FnMut(usize, String)) {
        let defined = self.definitions.iter().enumerate().filter_map(|(id, def)| Some((id, def.as_ref()?)));
        defined.for_each(|(id, def)| each(id, def.compiled_text()));
    }
}

impl NameTable for Interner {
    fn names(&self) -> &Interner {
        self
    }

    fn intern(&mut self, name: &str) -> u32 {
        Interner::intern(self, name)
    }

    fn has(&self, id: u32) -> bool {
        (id as usize) < self.len()
    }
}
