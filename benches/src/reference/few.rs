//! A short list that is stored inline and moves to the heap when it has more than `N` items.

/// At most `N` items inline, any number on the heap.
pub(crate) struct Few<T, const N: usize> {
    inline: [T; N],
    count: usize,
    /// Holds all items once there were more than `N`.
    spilled: Vec<T>,
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// Returns an empty list; `filler` fills the places not in use.
    #[inline]
    pub(crate) fn new(filler: T) -> Few<T, N> {
        Few { inline: [filler; N], count: 0, spilled: Vec::new() }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[T] {
        if self.spilled.is_empty() { &self.inline[..self.count] } else { &self.spilled }
    }

    #[inline]
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        if self.spilled.is_empty() { &mut self.inline[..self.count] } else { &mut self.spilled }
    }

    /// Inserts behind the last item that precedes it. Searching and shifting in one go beats a call to move memory.
    #[inline]
    pub(crate) fn insert(&mut self, item: T, precedes: impl Fn(&T) -> bool) {
        if !self.spilled.is_empty() || self.count == N {
            return self.insert_spilled(item, precedes);
        }
        let mut place = self.count;
        while place > 0 && !precedes(&self.inline[place - 1]) {
            self.inline[place] = self.inline[place - 1];
            place -= 1;
        }
        self.inline[place] = item;
        self.count += 1;
    }

    #[cold]
    fn insert_spilled(&mut self, item: T, precedes: impl Fn(&T) -> bool) {
        if self.spilled.is_empty() {
            self.spilled.extend_from_slice(&self.inline[..self.count]);
            self.count = 0;
        }
        let place = self.spilled.iter().rposition(precedes).map_or(0, |before| before + 1);
        self.spilled.insert(place, item);
    }

    /// Keeps what passes, in order.
    #[inline]
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        if !self.spilled.is_empty() {
            return self.spilled.retain(keep);
        }
        let mut kept = 0;
        for index in 0..self.count {
            let item = self.inline[index];
            self.inline[kept] = item;
            kept += usize::from(keep(&item));
        }
        self.count = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn a_list_spills_to_the_heap_and_moves_back_inline() {
        let mut few = Few::<u32, 4>::new(0);
        for item in 0..10 {
            few.insert(item * 7 % 10, |other| *other < item * 7 % 10);
            assert!(few.as_slice().is_sorted());
        }
        few.retain(|item| item % 2 == 1);
        assert_eq!(few.as_slice(), [1, 3, 5, 7, 9]);
        few.retain(|_| false);
        assert!(few.as_slice().is_empty());
        few.insert(5, |_| false);
        few.as_mut_slice()[0] += 1;
        assert_eq!(few.as_slice(), [6]);
    }
}
