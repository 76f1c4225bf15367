//! The header of a dump, as far as this crate decides it: names, dimensions, types, attributes. Floating-point values
//! are left to the crate that formats them.
use ncirrus_model::{Atomic, GroupId, Model, TypeRef, Values, Variable};
use std::fmt::Write as _;

/// The header of a model.
pub(super) fn print(model: &Model) -> String {
    let mut text = String::new();
    group(model, model.root(), &mut text);
    text
}

fn group(model: &Model, id: GroupId, text: &mut String) {
    let group_of = model.group(id).expect("walked");
    for dim in &group_of.dims {
        let dimension = model.dimension(*dim).expect("listed");
        let len = dimension.len.current();
        let line = if dimension.len.is_unlimited() {
            format!("{} = UNLIMITED ; // ({len} currently)", escaped(&dimension.name))
        } else {
            format!("{} = {len} ;", escaped(&dimension.name))
        };
        _ = writeln!(text, "{line}");
    }
    for var in &group_of.vars {
        let variable = model.variable(*var).expect("listed");
        _ = writeln!(text, "{}", declaration(model, id, variable));
        let attributes = variable.attributes.known().expect("read");
        let holder = escaped(&variable.name);
        for attribute in attributes.iter() {
            let prefix = if matches!(attribute.values, Values::String(_)) { "string " } else { "" };
            _ = writeln!(
                text,
                "{prefix}{holder}:{} = {} ;",
                escaped(&attribute.name),
                values(&attribute.values)
            );
        }
    }
    for attribute in group_of.attributes.known().expect("read").iter() {
        let prefix = if matches!(attribute.values, Values::String(_)) { "string " } else { "" };
        _ = writeln!(text, "{prefix}:{} = {} ;", escaped(&attribute.name), values(&attribute.values));
    }
    for sub in &group_of.groups {
        let name = escaped(&model.group(*sub).expect("listed").name);
        _ = writeln!(text, "group: {name} {{");
        group(model, *sub, text);
        _ = writeln!(text, "}} // group {name}");
    }
}

fn declaration(model: &Model, group: GroupId, variable: &Variable) -> String {
    let ty = match variable.ty {
        TypeRef::Atomic(atomic) => atomic.name().to_owned(),
        TypeRef::User(id) => model.user_type(id).expect("defined").name.clone(),
    };
    let dims: Vec<String> = variable
        .dims
        .iter()
        .map(|dim| {
            let name = &model.dimension(*dim).expect("used").name;
            let is_visible = model.visible_dimension(group, name) == Some(*dim);
            if is_visible { escaped(name) } else { model.dimension_path(*dim) }
        })
        .collect();
    let dims = if dims.is_empty() { String::new() } else { format!("({})", dims.join(", ")) };
    format!("{ty} {}{dims} ;", escaped(&variable.name))
}

fn values(values: &Values) -> String {
    let integers = |suffix: &str| {
        let all: Vec<String> = (0..values.len())
            .filter_map(|at| values.integer(at))
            .map(|value| format!("{value}{suffix}"))
            .collect();
        all.join(", ")
    };
    match values {
        Values::Char(bytes) => quoted(String::from_utf8_lossy(bytes).trim_end_matches('\0')),
        Values::String(strings) => {
            let all: Vec<String> = strings
                .iter()
                .map(|text| text.map_or("NIL".to_owned(), |text| quoted(&String::from_utf8_lossy(text))))
                .collect();
            all.join(", ")
        }
        Values::Float(_) | Values::Double(_) => "<float>".to_owned(),
        _ => match values.atomic() {
            Some(Atomic::Byte) => integers("b"),
            Some(Atomic::Short) => integers("s"),
            Some(Atomic::UByte) => integers("UB"),
            Some(Atomic::UShort) => integers("US"),
            Some(Atomic::UInt) => integers("U"),
            Some(Atomic::Int64) => integers("LL"),
            Some(Atomic::UInt64) => integers("ULL"),
            _ => integers(""),
        },
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '\'' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

fn escaped(name: &str) -> String {
    let mut text = String::new();
    for (at, character) in name.chars().enumerate() {
        let is_special = " !\"#$&'()*,:;<=>?[]\\^`{|}~".contains(character);
        if is_special || (at == 0 && character.is_ascii_digit()) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// The same lines of a dump: data, blank lines, section titles and indents dropped, floating-point values hidden.
pub(super) fn normal(dump: &str) -> String {
    let mut text = String::new();
    let mut is_data = false;
    for line in dump.lines().skip(1) {
        let line = line.trim();
        let is_group = line.starts_with("group: ") || line.starts_with("} // group");
        is_data = (is_data && !is_group) || line == "data:";
        let is_title =
            ["dimensions:", "variables:", "types:", "// global attributes:", "// group attributes:", "}", ""]
                .contains(&line);
        if !is_data && !is_title {
            _ = writeln!(text, "{}", without_floats(line));
        }
    }
    text
}

fn without_floats(line: &str) -> String {
    let Some((name, value)) = line.split_once(" = ") else { return line.to_owned() };
    let is_text = value.starts_with('"') || !name.contains(':');
    let is_float = value.contains('.') || value.contains("NaN") || value.contains("Infinity");
    if is_float && !is_text { format!("{name} = <float> ;") } else { line.to_owned() }
}
