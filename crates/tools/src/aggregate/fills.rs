//! Missing values that differ between files: the missing value of one file may be data in another.
use ncirrus::internals::DatasetInternals;
use ncirrus::{Atomic, Attributes, Dataset, Error, Result, Selection, Values};
use ncirrus_model::{Attribute, ExactNumber, Fill, Storage, TypeRef, VarId, Variable, default_fill};
use ncirrus_units::NumberConversion;

/// The least and the greatest number.
pub(super) type NumberRange = (ExactNumber, ExactNumber);

/// Number of elements that are checked together.
const WINDOW: u64 = 4 << 20;

/// The missing values of a variable, as it is read: its `_FillValue` (the type's own if it has none, but not for
/// bytes), and its `missing_value`.
pub(super) fn missing_numbers(ty: Atomic, attributes: &Attributes) -> Vec<ExactNumber> {
    let of = |name: &str| attributes.find(name).map(|attribute| ExactNumber::all(&attribute.values));
    let default = || if ty.byte_len() == Some(1) { Vec::new() } else { ExactNumber::all(&default_fill(ty)) };
    [of("_FillValue").unwrap_or_else(default), of("missing_value").unwrap_or_default()].concat()
}

/// Numbers of a variable, a part at a time, without its missing values.
pub(super) struct VariableNumbers<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) var: VarId,
    /// Its missing values.
    pub(super) missing: &'a [ExactNumber],
    /// How they are converted to numbers of the aggregation.
    pub(super) conversion: Option<&'a NumberConversion>,
}

impl VariableNumbers<'_> {
    /// The first number that is data here, and missing in the aggregation.
    ///
    /// # Errors
    /// If the variable cannot be read.
    pub(super) fn clash(&self, missing: &[ExactNumber]) -> Result<Option<ExactNumber>> {
        let lacking: Vec<ExactNumber> =
            missing.iter().copied().filter(|one| !self.missing.iter().any(|own| own.is_same(*one))).collect();
        // NaN is not data.
        if lacking.iter().all(|one| one.is_nan()) {
            return Ok(None);
        }
        let mut found = None;
        self.each(|number| {
            if lacking.contains(&number) {
                found.get_or_insert(number);
            }
            found.is_none()
        })?;
        Ok(found)
    }

    /// The least and the greatest number.
    ///
    /// # Errors
    /// If the variable cannot be read.
    pub(super) fn range(&self) -> Result<Option<NumberRange>> {
        let mut range = None::<NumberRange>;
        self.each(|number| {
            let (min, max) = range.unwrap_or((number, number));
            range = Some((min.min(number), max.greatest(number)));
            true
        })?;
        Ok(range)
    }

    /// Calls `look` with each number until it returns `false`.
    fn each(&self, mut look: impl FnMut(ExactNumber) -> bool) -> Result<()> {
        let model = self.dataset.model()?;
        let grain = match model.variable(self.var).map(|variable| &variable.storage) {
            Some(Storage::Chunked(chunks)) => chunks.clone(),
            _ => Vec::new(),
        };
        let mut rest = vec![Selection::all(&model.shape(self.var))];
        while let Some(part) = rest.pop() {
            let is_large = part.element_count().is_none_or(|count| count > WINDOW);
            if let Some((first, second)) = part.halves(&grain).filter(|_| is_large) {
                rest.extend([second, first]);
                continue;
            }
            let values = self.dataset.read_values(self.var, &part)?;
            for number in (0..values.len()).filter_map(|at| ExactNumber::of(&values, at)) {
                if number.is_nan() || self.missing.contains(&number) {
                    continue;
                }
                if !look(self.conversion.map_or(number, |conversion| conversion.apply(number))) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Gives a variable of an aggregation a missing value that is data in no file: NaN for floating-point numbers,
/// otherwise one outside the range of all data, preferably the type's own.
///
/// # Errors
/// `Invalid` if the type has no value left.
pub(super) fn give_free_fill(variable: &mut Variable, range: Option<NumberRange>) -> Result<()> {
    let TypeRef::Atomic(ty) = variable.ty else { return Ok(()) };
    let fill = free_fill(ty, range).ok_or_else(|| {
        let message =
            format!("missing values differ from file to file, and no value of type {} is left", ty.name());
        Error::invalid(message)
    })?;
    let attributes = variable.attributes.known_mut();
    if attributes.find("missing_value").is_some() {
        attributes.put(Attribute::atomic("missing_value", fill.clone()));
    }
    attributes.put(Attribute::atomic("_FillValue", fill));
    variable.fill = Fill::Attribute;
    Ok(())
}

fn free_fill(ty: Atomic, range: Option<NumberRange>) -> Option<Values> {
    match ty {
        Atomic::Float => return Some(Values::Float(vec![f32::NAN])),
        Atomic::Double => return Some(Values::Double(vec![f64::NAN])),
        _ => {}
    }
    let own = default_fill(ty);
    let Some((min, max)) = range else { return Some(own) };
    let beside = |number: ExactNumber, step: i128| {
        let whole = match number {
            ExactNumber::Real(real) if step > 0 => ExactNumber::Real(real.floor()),
            ExactNumber::Real(real) => ExactNumber::Real(real.ceil()),
            integer => integer,
        };
        whole.to_integer()?.checked_add(step)
    };
    let candidates = [own.integer(0), beside(max, 1), beside(min, -1)];
    candidates.into_iter().flatten().find_map(|number| {
        let number = ExactNumber::Integer(number);
        if min <= number && number <= max {
            return None;
        }
        ExactNumber::all_as(&[number], ty)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_value_is_beside_the_data() {
        let free = |ty, min, max| free_fill(ty, Some((ExactNumber::Real(min), ExactNumber::Real(max))));
        assert_eq!(free(Atomic::Short, -5.0, 9.0), Some(default_fill(Atomic::Short)));
        assert_eq!(free(Atomic::Short, -32767.0, 9.0), Some(Values::Short(vec![10])));
        assert_eq!(free(Atomic::Short, -32767.0, 32767.0), Some(Values::Short(vec![-32768])));
        assert_eq!(free(Atomic::Short, -32768.0, 32767.0), None);
        assert_eq!(free(Atomic::UByte, 0.0, 255.0), None);
        assert_eq!(free(Atomic::UByte, 3.0, 255.0), Some(Values::UByte(vec![2])));
        assert!(matches!(free(Atomic::Float, 0.0, 1.0), Some(Values::Float(nan)) if nan[0].is_nan()));
        assert_eq!(free_fill(Atomic::Int, None), Some(default_fill(Atomic::Int)));
        let default = default_fill(Atomic::Int64).integer(0).unwrap();
        let range = (ExactNumber::Integer(default), ExactNumber::Integer((1 << 53) + 1));
        assert_eq!(free_fill(Atomic::Int64, Some(range)), Some(Values::Int64(vec![(1 << 53) + 2])));
    }
}
