//! Printing that depends on texts in a dataset: formats, units, names, text itself.
use ncirrus_cdl::{
    AnnotationStyle, DataSource, IndexAnnotation, IndexOrder, PrintOptions, ReadError, TimeStyle, ncml, print,
};
use ncirrus_model::{
    Atomic, Attribute, Attributes, DimensionLen, Model, NodeId, Selection, TypeRef, Values, VarId,
};
use std::io::sink;

const NUMBERS: [f64; 8] = [0.0, 1.5, -3.0, 1e10, -1e15, 1e300, f64::NAN, f64::NEG_INFINITY];

/// Lines: `C_format`, units, calendar, a name, and a text, which may have several lines.
pub fn cdl(data: &[u8]) {
    let mut lines = data.splitn(5, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (format, units, calendar, name, text) = (line(), line(), line(), line(), line());
    let attributes =
        [("C_format", format), ("units", units), ("calendar", calendar), ("bounds", name), ("text", text)];
    let attributes = attributes.map(|(name, text)| Attribute::atomic(name, Values::Char(text.to_vec())));
    let model = model(&attributes, &String::from_utf8_lossy(name));
    let mut source = Source { model: model.clone(), text: text.to_vec() };
    for times in [None, Some(TimeStyle::Blank), Some(TimeStyle::T)] {
        let annotation =
            times.map(|_| IndexAnnotation { style: AnnotationStyle::Full, order: IndexOrder::Fortran });
        let options = PrintOptions::new().times(times).annotation(annotation).classic(times.is_none());
        _ = print(&mut sink(), &model, &mut source, &options);
    }
    let options = PrintOptions::new().classic(true);
    _ = ncml(&mut sink(), &model, "x", &options);
}

fn model(attributes: &[Attribute], name: &str) -> Model {
    let mut model = Model::new();
    let root = model.root();
    let Ok(x) = model.add_dimension(root, "x", DimensionLen::Fixed(NUMBERS.len() as u64)) else {
        return model;
    };
    let types = [("d", Atomic::Double), ("f", Atomic::Float), ("i", Atomic::Int), ("b", Atomic::Byte)];
    for (name, ty) in
        types.into_iter().chain([("u", Atomic::UInt64), ("c", Atomic::Char), (name, Atomic::String)])
    {
        let Ok(var) =
            model.insert_variable(root, ncirrus_model::Variable::new(name, TypeRef::Atomic(ty), vec![x]))
        else {
            continue;
        };
        let mut all: Attributes = attributes.iter().cloned().collect();
        if let Some(range) = numbers(ty, NUMBERS.len()) {
            _ = all.set(Attribute::atomic("actual_range", range));
        }
        if let Some(known) = model.attributes_mut(NodeId::Variable(var)) {
            *known.known_mut() = all;
        }
    }
    model
}

/// The numbers, as far as the type can represent them.
fn numbers(ty: Atomic, count: usize) -> Option<Values> {
    let numbers = NUMBERS.iter().copied().cycle().take(count);
    Some(match ty {
        Atomic::Double => Values::Double(numbers.collect()),
        Atomic::Float => Values::Float(numbers.map(|number| number as f32).collect()),
        Atomic::Int => Values::Int(numbers.map(|number| number as i32).collect()),
        Atomic::Byte => Values::Byte(numbers.map(|number| number as i8).collect()),
        Atomic::UInt64 => Values::UInt64(numbers.map(|number| number as u64).collect()),
        _ => return None,
    })
}

struct Source {
    model: Model,
    text: Vec<u8>,
}

impl DataSource for Source {
    fn read(&mut self, variable: VarId, selection: &Selection) -> Result<Values, ReadError> {
        let count = selection.element_count().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        let ty = self.model.variable(variable).map(|variable| variable.ty);
        let Some(TypeRef::Atomic(ty)) = ty else { return Err("no such variable".into()) };
        Ok(match (ty, numbers(ty, count)) {
            (_, Some(numbers)) => numbers,
            (Atomic::Char, None) => {
                Values::Char(self.text.iter().copied().chain(std::iter::repeat(0)).take(count).collect())
            }
            _ => {
                let mut strings = ncirrus_model::Strings::new();
                (0..count).for_each(|index| strings.push((index % 3 > 0).then_some(&self.text)));
                Values::String(strings)
            }
        })
    }
}
