use super::{Lookup, NameIndex};
use std::cell::Cell;

/// How often a name is looked at while as many names are added, found, missed, and removed from the front.
fn looks(count: u32) -> usize {
    let names: Vec<String> = (0..count).map(|at| format!("name{at}")).collect();
    let looks = Cell::new(0);
    let name_of = |at: u32| {
        looks.set(looks.get() + 1);
        names.get(at as usize).map(String::as_str)
    };
    let mut index = NameIndex::default();
    for at in 0..count {
        index.add(at, 0..at + 1, name_of);
    }
    for (at, name) in (0..count).zip(&names) {
        assert!(matches!(index.find(name, name_of), Lookup::Indexed(Some(found)) if found == at));
        assert!(matches!(index.find(&format!("no {name}"), name_of), Lookup::Indexed(None)));
    }
    for (at, name) in (0..count).zip(&names) {
        let hash = index.hash(name).unwrap_or_default();
        index.remove(at, hash, at + 1..count, name_of);
    }
    assert!(names.iter().all(|name| matches!(index.find(name, name_of), Lookup::Indexed(None))));
    looks.get()
}

#[test]
fn twice_the_names_take_twice_the_work() {
    let (few, many) = (looks(2_000), looks(4_000));
    assert!(few >= 4_000 && many * 10 <= few * 23, "{few} and {many}");
}
