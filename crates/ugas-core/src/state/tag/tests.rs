use super::*;

fn table(names: &[&str]) -> TagTable {
    let mut t = TagTable::default();
    for n in names {
        t.intern(n);
    }
    t.rank();
    t
}

/// The tags of a single controller.
struct SingleController {
    table: TagTable,
    tags: Tags,
    signature: u32,
    flips: Vec<TagFlip>,
}

impl SingleController {
    fn new(names: &[&str]) -> SingleController {
        SingleController { table: table(names), tags: Tags::default(), signature: 0, flips: Vec::new() }
    }

    fn add(&mut self, tag: TagId) {
        self.tags.add(&self.table, tag, &mut self.signature, &mut self.flips);
    }

    fn remove(&mut self, tag: TagId) -> bool {
        self.tags.remove(&self.table, tag, &mut self.signature, &mut self.flips)
    }
}

#[test]
fn a_count_never_goes_below_zero() {
    let mut one = SingleController::new(&["State.Alive"]);
    let alive = one.table.find("State.Alive").unwrap();
    assert!(!one.remove(alive));
    assert_eq!((one.tags.count(&one.table, alive), one.flips.len()), (0, 0));
}

// covers: UGAS-7.2-08 UGAS-7.2-09
#[test]
fn empty_and_distinct_count_follow_the_grants() {
    let mut one = SingleController::new(&["A.B", "A.C"]);
    let (b, c) = (one.table.find("A.B").unwrap(), one.table.find("A.C").unwrap());
    assert_eq!(one.tags.len(), 0);
    for tag in [b, b, c] {
        one.add(tag);
    }
    assert_eq!(one.tags.len(), 2);
    for tag in [b, b, c] {
        one.remove(tag);
    }
    assert_eq!(one.tags.len(), 0);
}

// covers: UGAS-7.3-06
#[test]
fn the_cost_of_a_query_does_not_depend_on_the_number_of_tags() {
    let names: Vec<String> = (0..10_000).map(|i| format!("T.U{}.V{i}", i % 50)).collect();
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut one = SingleController::new(&refs);
    let all: Vec<TagId> = refs.iter().map(|n| one.table.find(n).unwrap()).collect();
    // Up to twelve tags are in a list of fixed length.
    for (i, &tag) in all.iter().step_by(2).enumerate() {
        assert_eq!(one.tags.many.is_none(), i <= FEW);
        one.add(tag);
    }
    assert_eq!(one.tags.len(), 5_000);
    // With more tags, a query reads one word: every answer stays the same if the explicit list and all other words are
    // corrupted.
    let many = one.tags.many.as_mut().unwrap();
    many.list.clear();
    let shown = many.shown.clone();
    for (i, &tag) in all.iter().enumerate() {
        let at = one.table.span(tag).0 as usize / 64;
        let many = one.tags.many.as_mut().unwrap();
        many.shown.fill(!shown[at]);
        many.shown[at] = shown[at];
        assert_eq!(one.tags.has(&one.table, tag), i % 2 == 0);
    }
}

#[test]
fn counts_and_ranks_that_do_not_fit_inline_are_boxed_and_unboxed() {
    let names: Vec<String> = (0..66_000).map(|i| format!("T{i}")).collect();
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut one = SingleController::new(&refs);
    let (first, last) = (one.table.find("T0").unwrap(), one.table.find("T65999").unwrap());
    for times in 1..=300 {
        one.add(first);
        assert_eq!(one.tags.count(&one.table, first), times);
    }
    (0..299).for_each(|_| assert!(one.remove(first)));
    one.add(last);
    assert!(one.tags.many.is_some());
    let has = |one: &SingleController, tag| one.tags.has(&one.table, tag);
    assert!(has(&one, first) && has(&one, last) && !has(&one, TagId(65_535)) && !has(&one, TagId(70_000)));
    assert!(one.remove(last));
    assert!(one.tags.many.is_none() && has(&one, first) && !has(&one, last));
}

#[test]
fn innate_tags_stay_marked_inline_and_boxed() {
    let names: Vec<String> = (0..40).map(|i| format!("T{i}")).collect();
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut one = SingleController::new(&refs);
    for mine in [30, 10, 20] {
        one.add(TagId(mine));
        one.tags.set_innate(&one.table, TagId(mine), true);
    }
    let innate = |one: &SingleController| one.tags.innate(&one.table).map(|t| t.0).collect::<Vec<_>>();
    (0..40).for_each(|i| one.add(TagId(i)));
    assert_eq!(innate(&one), [10, 20, 30]);
    let list = one.tags.to_list(&one.table);
    assert_eq!(Tags::from_list(&one.table, &list).unwrap(), one.tags);
    (0..40).for_each(|i| assert!(one.remove(TagId(i))));
    assert_eq!((innate(&one), one.tags.len()), (vec![10, 20, 30], 3));
    one.add(TagId(15));
    one.remove(TagId(10));
    assert_eq!(innate(&one), [20, 30]);
    let list = one.tags.to_list(&one.table);
    assert_eq!(Tags::from_list(&one.table, &list).unwrap(), one.tags);
    let bad = [vec![(TagId(40), 1, false)], vec![(TagId(1), 0, false)], vec![(TagId(2), 1, true); 2]];
    assert!(bad.iter().all(|list| Tags::from_list(&one.table, list).is_none()));
}

// covers: UGAS-7.4-01
#[test]
fn ancestors_always_equal_the_sum_of_grants_below() {
    let names: Vec<String> = (0..400).map(|i| format!("T{}.U{}.V{}.W{}", i % 3, i % 7, i % 11, i)).collect();
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut one = SingleController::new(&refs);
    let all: Vec<TagId> = one.table.ids().collect();
    let mut grants: Vec<TagId> = Vec::new();
    let mut seed = 1u64;
    for step in 0..6_000 {
        seed = crate::rng::mix(seed);
        // The number of tags grows from a few to many and shrinks again.
        let going_down = step / 500 % 2 == 1 || grants.len() > 60 && seed.is_multiple_of(2);
        if (going_down || seed.is_multiple_of(3)) && !grants.is_empty() {
            let tag = grants.swap_remove((seed >> 8) as usize % grants.len());
            assert!(one.remove(tag));
        } else {
            let tag = all[(seed >> 8) as usize % all.len()];
            grants.push(tag);
            one.add(tag);
        }
        one.flips.clear();
        if step % 25 == 0 {
            assert_eq!(Tags::from_list(&one.table, &one.tags.to_list(&one.table)).unwrap(), one.tags);
            assert_eq!(one.signature, one.tags.signature(&one.table));
            for &tag in &all {
                let below = grants.iter().filter(|&&g| one.table.is_under(g, tag)).count() as u64;
                assert_eq!(one.tags.count_all(&one.table, tag), below);
                assert_eq!(one.tags.has(&one.table, tag), below > 0);
                assert!(below == 0 || one.signature & one.table.signature(tag) != 0);
            }
        }
    }
}
