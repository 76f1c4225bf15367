//! Reads a dataset from JSON: the form in which the fixtures store trees with all their values.
//!
//! Numbers are the bytes of their little-endian memory in hexadecimal digits, so that every bit is preserved.
use ncirrus_cdl::{DataSource, ReadError};
use ncirrus_model::{
    Atomic, Attribute, Dimension, DimensionLen, EnumMember, Fault, FaultKind, Field, GroupId, Model,
    Selection, Strings, TypeId, TypeRef, UserKind, UserType, Values, VarId, Variable,
};
use serde_json::Value as Json;
use std::collections::HashMap;

/// A tree, the values of its variables, and whether it comes from a classic file.
pub(crate) struct Fixture {
    pub(crate) model: Model,
    pub(crate) values: Memory,
    pub(crate) classic: bool,
}

/// Values of whole variables, from which boxes are cut.
pub(crate) struct Memory {
    values: HashMap<VarId, (Vec<u64>, Values)>,
}

impl DataSource for Memory {
    fn read(&mut self, variable: VarId, selection: &Selection) -> Result<Values, ReadError> {
        let (shape, values) = self.values.get(&variable).ok_or("no such variable")?;
        selection.check(shape)?;
        let mut part = values.empty_like();
        let region = selection.as_region().ok_or("not a box")?;
        // The requested boxes are contiguous: they begin at `start` and have as many elements as their shape says.
        let flat = region.start.iter().zip(shape).fold(0, |at, (index, len)| at * len + index);
        let start = usize::try_from(flat)?;
        let count = usize::try_from(region.element_count().ok_or("too many")?)?;
        part.extend_from(values, start..start + count);
        Ok(part)
    }
}

/// Reads a fixture.
pub(crate) fn load(text: &str) -> Fixture {
    let json: Json = serde_json::from_str(text).expect("a fixture is JSON");
    let mut loader = Loader {
        model: Model::new(),
        values: Memory { values: HashMap::new() },
        kinds: HashMap::new(),
        types: HashMap::new(),
        dims: HashMap::new(),
    };
    for kind in list(&json, "usertypes") {
        loader.kinds.insert(number(kind, "id"), kind.clone());
    }
    let classic = number(&json, "format") != 3;
    let root = loader.model.root();
    loader.group(root, &json);
    Fixture { model: loader.model, values: loader.values, classic }
}

struct Loader {
    model: Model,
    values: Memory,
    kinds: HashMap<u64, Json>,
    types: HashMap<u64, TypeId>,
    dims: HashMap<u64, ncirrus_model::DimId>,
}

impl Loader {
    fn group(&mut self, id: GroupId, json: &Json) {
        for ty in list(json, "types") {
            let number = ty.as_u64().unwrap();
            let kind = self.kinds[&number].clone();
            let ty = UserType { name: string(&kind, "name"), kind: self.kind(&kind) };
            let ty = self.model.insert_type(id, ty).unwrap();
            self.types.insert(number, ty);
        }
        for dim in list(json, "dims") {
            let len = number(dim, "len");
            let is_unlimited = dim["unlimited"].as_bool().unwrap();
            let len = if is_unlimited { DimensionLen::Unlimited(len) } else { DimensionLen::Fixed(len) };
            let dimension = Dimension { name: string(dim, "name"), len };
            self.dims.insert(number(dim, "id"), self.model.insert_dimension(id, dimension).unwrap());
        }
        let attributes = list(json, "atts").iter().map(|att| self.attribute(att)).collect();
        *self.model.group_mut(id).unwrap().attributes.known_mut() = attributes;
        for var in list(json, "vars") {
            self.variable(id, var);
        }
        for group in list(json, "groups") {
            let child = self.model.insert_group(id, string(group, "name")).unwrap();
            self.group(child, group);
        }
    }

    fn variable(&mut self, group: GroupId, json: &Json) {
        let dims = list(json, "dims").iter().map(|dim| self.dims[&dim.as_u64().unwrap()]).collect();
        let mut variable = Variable::new(string(json, "name"), self.ty(number(json, "type")), dims);
        *variable.attributes.known_mut() = list(json, "atts").iter().map(|att| self.attribute(att)).collect();
        if let Some(reason) = json["fault"].as_str() {
            variable.fault = Some(Fault::new(FaultKind::Unsupported, reason));
        }
        let id = self.model.insert_variable(group, variable).unwrap();
        let values = values(&json["values"]);
        self.values.values.insert(id, (self.model.shape(id), values));
    }

    fn attribute(&self, json: &Json) -> Attribute {
        let ty = self.ty(number(json, "type"));
        Attribute { name: string(json, "name"), ty, values: values(&json["values"]), is_json: false }
    }

    fn ty(&self, number: u64) -> TypeRef {
        match Atomic::ALL.into_iter().find(|atomic| u64::from(atomic.number()) == number) {
            Some(atomic) => TypeRef::Atomic(atomic),
            None => TypeRef::User(self.types[&number]),
        }
    }

    fn kind(&self, json: &Json) -> UserKind {
        match json["cls"].as_str().unwrap() {
            "opaque" => UserKind::Opaque(number(json, "size")),
            "vlen" => UserKind::Vlen(self.ty(number(json, "base"))),
            "enum" => {
                let TypeRef::Atomic(base) = self.ty(number(json, "base")) else { panic!("enum base") };
                let member = |pair: &Json| EnumMember {
                    name: pair[0].as_str().unwrap().to_owned(),
                    value: pair[1].as_i64().map(i128::from).or(pair[1].as_u64().map(i128::from)).unwrap(),
                };
                UserKind::Enum { base, members: list(json, "members").iter().map(member).collect() }
            }
            _ => {
                let field = |field: &Json| Field {
                    name: string(field, "name"),
                    ty: self.ty(number(field, "type")),
                    dims: list(field, "dims").iter().map(|len| len.as_u64().unwrap()).collect(),
                };
                UserKind::Compound(list(json, "fields").iter().map(field).collect())
            }
        }
    }
}

fn values(json: &Json) -> Values {
    let size = |name: &str| usize::try_from(number(json, name)).unwrap();
    match json["t"].as_str().unwrap() {
        "string" => {
            let mut strings = Strings::new();
            for text in list(json, "v") {
                strings.push(text.as_str().map(bytes).as_deref());
            }
            Values::String(strings)
        }
        "opaque" => Values::Opaque { size: size("size"), bytes: bytes(json["hex"].as_str().unwrap()) },
        "vlen" => {
            let ends = list(json, "ends").iter().map(|end| usize::try_from(end.as_u64().unwrap()).unwrap());
            Values::Vlen { ends: ends.collect(), elements: Box::new(values(&json["elements"])) }
        }
        "compound" => {
            Values::Compound { len: size("len"), fields: list(json, "fields").iter().map(values).collect() }
        }
        atomic => {
            let atomic = Atomic::from_name(atomic).unwrap();
            Values::from_native_bytes(atomic, &bytes(json["hex"].as_str().unwrap())).unwrap()
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |c: u8| u8::try_from(char::from(c).to_digit(16).unwrap()).unwrap();
    hex.as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

fn list<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    json[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn number(json: &Json, name: &str) -> u64 {
    json[name].as_u64().unwrap()
}

fn string(json: &Json, name: &str) -> String {
    json[name].as_str().unwrap().to_owned()
}
