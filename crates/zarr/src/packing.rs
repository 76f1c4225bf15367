//! Packed numbers: the attributes `scale_factor` and `add_offset` of CF, and the codecs `scale_offset` and `cast_value` of
//! Zarr v3, wherever both give the same numbers.
use ncirrus_model::{
    Atomic, Attribute, Attributes, CodecSpec, ExtendedType, TypeRef, Values, Variable, default_fill,
};
use serde_json::{Value, json};

#[cfg(test)]
mod tests;

/// Integers that represent floats, by CF and by codecs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Packing {
    /// The stored type.
    pub(crate) stored: Atomic,
    /// Whether the floats have 4 bytes rather than 8.
    pub(crate) is_single: bool,
    /// CF: `stored * factor + offset`.
    pub(crate) factor: f64,
    /// Codecs: `stored / scale + offset`.
    pub(crate) scale: f64,
    pub(crate) offset: f64,
    /// The stored number that represents NaN.
    pub(crate) missing: Option<i128>,
}

impl Packing {
    /// The number that CF gives a stored one: computed as doubles, then rounded.
    fn by_attributes(&self, stored: i128) -> f64 {
        let number = as_double(stored) * self.factor + self.offset;
        if self.is_single { round(number) } else { number }
    }

    /// The number that the codecs give a stored one: each step is rounded to the type of the floats.
    pub(crate) fn by_codecs(&self, stored: i128) -> f64 {
        if self.is_single {
            round(round(round(as_double(stored)) / self.scale) + self.offset)
        } else {
            as_double(stored) / self.scale + self.offset
        }
    }

    /// The stored number of a float, by the codecs; `None` if the type does not have it.
    pub(crate) fn packed(&self, number: f64) -> Option<i128> {
        if number.is_nan() {
            return self.missing;
        }
        let each = |number: f64| if self.is_single { round(number) } else { number };
        let scaled = each(each(number - self.offset) * self.scale).round_ties_even();
        #[expect(clippy::cast_possible_truncation, reason = "the number is whole and small enough")]
        let stored = (scaled.abs() < 1e37).then_some(scaled as i128)?;
        let (min, max) = self.stored.integer_range()?;
        (min..=max).contains(&stored).then_some(stored)
    }

    /// Checks that attributes and codecs give the same number for every stored one, bit for bit, and that the codecs store the
    /// number in the same way.
    ///
    /// # Errors
    /// Why they do not, with a stored number for which they differ.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (min, max) = self.stored.integer_range().ok_or_else(|| self.is_no_integer())?;
        let compared = match self.stored.byte_len() {
            Some(1 | 2) => (min..=max).try_for_each(|stored| self.check_one(stored)),
            Some(4) => {
                self.check_power_of_two(max - min)?;
                [min, min + 1, -1, 0, 1, max - 1, max]
                    .into_iter()
                    .filter(|stored| (min..=max).contains(stored))
                    .try_for_each(|stored| self.check_one(stored))
            }
            _ => Err(format!("the type {} has more digits than floats", self.stored.name())),
        };
        compared?;
        match default_fill(self.stored).integer(0) {
            Some(fill) if self.missing.is_none() && self.stored.byte_len() != Some(1) => {
                Err(format!("the stored number {fill} is missing by CF, and no scalar_map says so"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the stored number of a fill value gives this fill value again.
    ///
    /// # Errors
    /// That it does not.
    pub(crate) fn check_fill(&self, fill: f64, stored: i128) -> Result<(), String> {
        let is_same = self.by_codecs(stored).to_bits() == fill.to_bits();
        if fill.is_nan() || (is_same && Some(stored) != self.missing) {
            return Ok(());
        }
        Err(format!("the fill value {fill:?} has no stored number"))
    }

    fn is_no_integer(&self) -> String {
        format!("the type {} is not an integer", self.stored.name())
    }

    fn check_one(&self, stored: i128) -> Result<(), String> {
        if Some(stored) == self.missing {
            return Ok(());
        }
        let (one, other) = (self.by_attributes(stored), self.by_codecs(stored));
        if one.to_bits() != other.to_bits() {
            return Err(format!(
                "the stored number {stored} is {one:?} by the attributes, {other:?} by the codecs"
            ));
        }
        if self.packed(one) != Some(stored) {
            return Err(format!("the codecs store {one:?}, which {stored} represents, as another number"));
        }
        Ok(())
    }

    /// Of four bytes not every number is tried: all are right if the product is exact and the sum is rounded once.
    fn check_power_of_two(&self, range: i128) -> Result<(), String> {
        if self.is_single {
            return Err(format!("the type {} has more digits than float", self.stored.name()));
        }
        let is_power = self.factor.is_normal() && self.factor.to_bits().trailing_zeros() >= 52;
        if !is_power || self.scale * self.factor != 1.0 {
            return Err(format!(
                "scale_factor {:?} of the type {} is not a power of two",
                self.factor,
                self.stored.name()
            ));
        }
        let largest = as_double(range) * self.factor.abs() + self.offset.abs();
        if largest * f64::EPSILON * self.scale.abs() >= 0.25 {
            return Err(format!(
                "add_offset {:?} is too large for scale_factor {:?}",
                self.offset, self.factor
            ));
        }
        Ok(())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "stored numbers have four bytes, or are rounded as the codec does"
)]
fn as_double(stored: i128) -> f64 {
    stored as f64
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
fn round(number: f64) -> f64 {
    f64::from(number as f32)
}

/// Names of attributes that apply to stored numbers, or say that there are several missing ones.
pub(crate) const OF_STORED: [&str; 6] =
    ["valid_min", "valid_max", "valid_range", "flag_values", "flag_masks", "_Unsigned"];

/// How a packed variable is stored by codecs of Zarr v3 (`scale_offset`, `cast_value`) instead of by its attributes; `None` if it
/// has no `scale_factor` and no `add_offset`.
///
/// # Errors
/// Why codecs cannot give the same numbers.
pub fn by_codecs(variable: &Variable) -> Result<Option<ExtendedType>, String> {
    let Some(attributes) = variable.attributes.known() else { return Ok(None) };
    let number = |name: &str| attributes.find(name).map(|attribute| &attribute.values);
    let (factor, offset) = (number("scale_factor"), number("add_offset"));
    if factor.is_none() && offset.is_none() {
        return Ok(None);
    }
    let TypeRef::Atomic(stored) = variable.ty else {
        return Err("its type is not a number".to_owned());
    };
    if variable.dims.is_empty() || variable.extended.is_some() || stored.integer_range().is_none() {
        return Err("only arrays of integers are packed".to_owned());
    }
    if let Some(name) = OF_STORED.iter().find(|name| attributes.find(name).is_some()) {
        return Err(format!("the attribute {name} applies to stored numbers"));
    }
    let is_single =
        [factor, offset].into_iter().flatten().all(|values| values.atomic() == Some(Atomic::Float));
    let value = |values: Option<&Values>, implied: f64| match values {
        None => Ok(implied),
        Some(values)
            if matches!(values.atomic(), Some(Atomic::Float | Atomic::Double)) && values.len() == 1 =>
        {
            values.number(0).ok_or_else(|| "scale_factor and add_offset are not numbers".to_owned())
        }
        Some(_) => Err("scale_factor and add_offset are not single floats".to_owned()),
    };
    let (factor, offset) = (value(factor, 1.0)?, value(offset, 0.0)?);
    if !factor.is_normal() || !offset.is_finite() {
        return Err(format!(
            "scale_factor {factor:?} and add_offset {offset:?} are not finite numbers other than 0"
        ));
    }
    let scale = if is_single { round(1.0 / factor) } else { 1.0 / factor };
    let missing = missing(variable, stored, attributes)?;
    let packing = Packing { stored, is_single, factor, scale, offset, missing };
    packing.check()?;
    let fill = variable.fill_value().and_then(|fill| fill.integer(0)).unwrap_or(0);
    Ok(Some(packing.extended(&packing.codecs(), &packing.fill(fill))))
}

/// The stored number that is missing: the fill value, of more than one byte also that of the type.
fn missing(variable: &Variable, stored: Atomic, attributes: &Attributes) -> Result<Option<i128>, String> {
    let fill = match attributes.find("_FillValue") {
        Some(attribute) => attribute.values.integer(0),
        None if stored.byte_len() == Some(1) => None,
        None => variable.own_fill().cloned().unwrap_or_else(|| default_fill(stored)).integer(0),
    };
    match attributes.find("missing_value").map(|attribute| &attribute.values) {
        Some(values) if values.len() != 1 || values.integer(0) != fill => {
            Err("missing_value differs from _FillValue: several stored numbers are missing".to_owned())
        }
        _ => Ok(fill),
    }
}

impl Packing {
    /// The codecs that this writer chooses.
    fn codecs(&self) -> Value {
        let name = v3_name(self.stored);
        let mut cast = json!({"data_type": name});
        if let Some(missing) = self.missing.and_then(|missing| i64::try_from(missing).ok()) {
            cast["scalar_map"] = json!({"encode": [["NaN", missing]], "decode": [[missing, "NaN"]]});
        }
        json!([
            {"name": "scale_offset", "configuration": {"offset": self.offset, "scale": self.scale}},
            {"name": "cast_value", "configuration": cast},
        ])
    }

    /// The fill value of the array of floats.
    fn fill(&self, stored: i128) -> Value {
        if Some(stored) == self.missing { json!("NaN") } else { json!(self.by_codecs(stored)) }
    }

    fn extended(&self, codecs: &Value, fill: &Value) -> ExtendedType {
        ExtendedType::Packed {
            is_single: self.is_single,
            factor: self.factor.to_bits(),
            offset: self.offset.to_bits(),
            codecs: codecs.to_string(),
            fill: fill.to_string(),
        }
    }

    /// The packing that codecs of Zarr v3 mean, if they are `cast_value` to an integer, with or without `scale_offset` before; with
    /// the stored number of the fill value, and what is said of the elements.
    pub(crate) fn of_codecs(
        is_single: bool,
        codecs: &[CodecSpec],
        fill: f64,
    ) -> Option<(Self, i128, ExtendedType)> {
        let known = |spec: &CodecSpec, wanted: &str| match spec {
            CodecSpec::V3 { name, configuration } if name == wanted => Some(configuration.clone()),
            _ => None,
        };
        let (scale, cast) = match codecs {
            [cast] => (None, known(cast, "cast_value")?),
            [scale, cast] => (Some(known(scale, "scale_offset")?), known(cast, "cast_value")?),
            _ => return None,
        };
        let number = |name: &str, implied: f64| match scale.as_ref().and_then(|members| members.get(name)) {
            None => Some(implied),
            Some(value) => value.as_f64().map(|value| if is_single { round(value) } else { value }),
        };
        let (scale, offset) = (number("scale", 1.0)?, number("offset", 0.0)?);
        let stored = integer(cast.get("data_type")?)?;
        let missing = match cast.get("scalar_map") {
            None | Some(Value::Null) => None,
            Some(map) => Some(nan_pair(map)?),
        };
        let (min, max) = stored.integer_range()?;
        if missing.is_some_and(|missing| !(min..=max).contains(&missing)) {
            return None;
        }
        let factor = if is_single { round(1.0 / scale) } else { 1.0 / scale };
        if !factor.is_normal() || !offset.is_finite() {
            return None;
        }
        let packing = Self { stored, is_single, factor, scale, offset, missing };
        let stored_fill = packing.packed(fill)?;
        let spelt = |spec: &CodecSpec| match spec {
            CodecSpec::V3 { name, configuration } => json!({"name": name, "configuration": configuration}),
            _ => Value::Null,
        };
        let fill = if fill.is_nan() { json!("NaN") } else { json!(fill) };
        let codecs: Value = codecs.iter().map(spelt).collect();
        Some((packing, stored_fill, packing.extended(&codecs, &fill)))
    }

    /// The attributes of the packed variable.
    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        #[expect(clippy::cast_possible_truncation, reason = "it was rounded to a float")]
        let float = |number: f64| match self.is_single {
            true => Values::Float(vec![number as f32]),
            false => Values::Double(vec![number]),
        };
        let mut list = vec![Attribute::atomic("scale_factor", float(self.factor))];
        if self.offset != 0.0 {
            list.push(Attribute::atomic("add_offset", float(self.offset)));
        }
        let missing = self.missing.and_then(|missing| integer_value(self.stored, missing));
        list.extend(missing.map(|value| Attribute::atomic("_FillValue", value)));
        list
    }
}

/// The only pair of a scalar map, in both directions: NaN and an integer.
fn nan_pair(map: &Value) -> Option<i128> {
    let pair = |direction: &str| match map.get(direction)?.as_array()?.as_slice() {
        [pair] => Some((pair.get(0)?.clone(), pair.get(1)?.clone())),
        _ => None,
    };
    let ((from, stored), (back, to)) = (pair("encode")?, pair("decode")?);
    let is_nan = |value: &Value| value.as_str() == Some("NaN");
    (is_nan(&from) && is_nan(&to) && stored == back).then(|| stored.as_i64().map(i128::from)).flatten()
}

/// An integer type of Zarr v3.
fn integer(name: &Value) -> Option<Atomic> {
    let name = name.as_str().or_else(|| name.get("name")?.as_str())?;
    let all = [
        Atomic::Byte,
        Atomic::Short,
        Atomic::Int,
        Atomic::Int64,
        Atomic::UByte,
        Atomic::UShort,
        Atomic::UInt,
        Atomic::UInt64,
    ];
    all.into_iter().find(|atomic| v3_name(*atomic) == name)
}

/// The name of an integer type in Zarr v3; that of other types is empty.
fn v3_name(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "int8",
        Atomic::Short => "int16",
        Atomic::Int => "int32",
        Atomic::Int64 => "int64",
        Atomic::UByte => "uint8",
        Atomic::UShort => "uint16",
        Atomic::UInt => "uint32",
        Atomic::UInt64 => "uint64",
        _ => "",
    }
}

/// One value of an integer type.
pub(crate) fn integer_value(atomic: Atomic, value: i128) -> Option<Values> {
    macro_rules! one {
        ($($variant:ident),*) => {
            match atomic {
                $(Atomic::$variant => Some(Values::$variant(vec![value.try_into().ok()?])),)*
                _ => None,
            }
        };
    }
    one!(Byte, Short, Int, Int64, UByte, UShort, UInt, UInt64)
}

/// Whether a packed variable still has the attributes that its codecs stand for.
pub(crate) fn is_as_described(factor: u64, offset: u64, attributes: &Attributes) -> bool {
    let number = |name: &str, implied: f64| {
        attributes.find(name).map_or(Some(implied), |attribute| attribute.values.number(0)).map(f64::to_bits)
    };
    number("scale_factor", 1.0) == Some(factor) && number("add_offset", 0.0) == Some(offset)
}

/// Attributes that the codecs replace.
pub(crate) fn is_replaced(name: &str) -> bool {
    matches!(name, "scale_factor" | "add_offset" | "_FillValue" | "missing_value")
}
