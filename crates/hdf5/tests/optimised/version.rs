//! `version` of `src/write/types/encode.rs`, with as much of datatypes as it needs, and its former form, which rustc 1.95
//! (LLVM 22) compiles wrongly from `-O2` on. Prints one row per class: its name, the right version, ours, the former's.
use std::hint::black_box;

pub enum Kind {
    Object,
    Region,
    Attribute,
}

pub struct Member {
    pub name: String,
    pub offset: u64,
    pub datatype: Datatype,
}

pub struct Datatype {
    pub byte_len: u64,
    pub class: Class,
}

pub enum Class {
    Integer(u8),
    BitField(u8),
    /// Whether it is one of a VAX.
    Float(bool),
    Time,
    Text(u8),
    Opaque,
    Compound(Vec<Member>),
    Reference(Kind),
    Enum {
        base: Box<Datatype>,
        members: u8,
    },
    Vlen(Box<Datatype>),
    VlenText(u8),
    Array {
        dims: Vec<u64>,
        base: Box<Datatype>,
    },
    Complex(Box<Datatype>),
}

pub fn version(class: &Class) -> u8 {
    newest(class, 1)
}

#[inline(never)]
fn newest(class: &Class, min: u8) -> u8 {
    match class {
        Class::Complex(_) => min.max(5),
        Class::Reference(Kind::Object | Kind::Region) => min,
        Class::Reference(_) => min.max(4),
        Class::Compound(members) => {
            members.iter().fold(min.max(3), |min, member| newest(&member.datatype.class, min))
        }
        Class::Array { base, .. } => newest(&base.class, min.max(3)),
        Class::Enum { .. } => min.max(3),
        Class::Float(true) => min.max(3),
        Class::Vlen(base) => newest(&base.class, min),
        Class::Integer(_) | Class::BitField(_) | Class::Float(_) | Class::Time => min,
        Class::Text(_) | Class::VlenText(_) | Class::Opaque => min,
    }
}

#[inline(never)]
pub fn former(class: &Class) -> u8 {
    match class {
        Class::Complex(_) => 5,
        Class::Reference(Kind::Object | Kind::Region) => 1,
        Class::Reference(_) => 4,
        Class::Compound(members) => {
            members.iter().map(|member| former(&member.datatype.class)).max().unwrap_or(3).max(3)
        }
        Class::Array { base, .. } => former(&base.class).max(3),
        Class::Enum { .. } => 3,
        Class::Float(true) => 3,
        Class::Vlen(base) => former(&base.class),
        Class::Integer(_) | Class::BitField(_) | Class::Float(_) | Class::Time => 1,
        Class::Text(_) | Class::VlenText(_) | Class::Opaque => 1,
    }
}

fn of(class: Class) -> Datatype {
    Datatype { byte_len: 4, class }
}

fn array(class: Class) -> Class {
    Class::Array { dims: vec![2], base: Box::new(of(class)) }
}

fn vlen(class: Class) -> Class {
    Class::Vlen(Box::new(of(class)))
}

fn compound(classes: Vec<Class>) -> Class {
    let member = |class| Member { name: "a".into(), offset: 0, datatype: of(class) };
    Class::Compound(classes.into_iter().map(member).collect())
}

fn main() {
    let list = || compound(vec![Class::Reference(Kind::Object), Class::Integer(4)]);
    let rows = [
        ("integer", 1, Class::Integer(4)),
        ("vlen", 1, vlen(Class::Float(false))),
        ("compound", 3, compound(vec![Class::Integer(4)])),
        ("references", 3, list()),
        ("vlen-of-compound", 3, vlen(list())),
        ("compound-of-compound", 3, compound(vec![list(), Class::Reference(Kind::Region)])),
        ("array", 3, array(Class::Text(1))),
        ("array-of-vlen", 3, array(vlen(Class::VlenText(0)))),
        ("compound-of-vax", 3, compound(vec![Class::Opaque, Class::Float(true), Class::Time])),
        ("compound-of-new", 4, compound(vec![Class::Reference(Kind::Attribute), Class::BitField(1)])),
        ("array-of-complex", 5, array(Class::Complex(Box::new(of(Class::Float(false)))))),
        ("enum", 3, Class::Enum { base: Box::new(of(Class::Integer(2))), members: 0 }),
    ];
    for (name, right, class) in &rows {
        println!("{name} {right} {} {}", version(black_box(class)), former(black_box(class)));
    }
}
