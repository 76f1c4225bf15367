//! The variables that a classic file has room for.
use crate::formats;
use ncirrus_model::{Format, Model, VarId};

/// Whether a classic format has room for the variables of a model. Only the last of the fixed ones may be larger than its limit, if there
/// are no records, and only one record variable; in CDF-5 none.
pub fn fits_variables(model: &Model, format: Format) -> bool {
    let limit = formats::max_variable_len(format);
    let (records, fixed): (Vec<VarId>, Vec<VarId>) =
        model.variables().into_iter().partition(|var| model.growing(*var).first() == Some(&true));
    let is_large = |var: &VarId| byte_len(model, *var).is_none_or(|len| len > limit);
    let fits = |list: &[VarId], may_end_large: bool| {
        let large = list.iter().filter(|var| is_large(var)).count();
        let may_be = may_end_large && list.last().is_some_and(is_large) && format != Format::Data64;
        large <= usize::from(may_be)
    };
    fits(&fixed, records.is_empty()) && fits(&records, true)
}

/// Bytes of a variable, or of one of its records.
fn byte_len(model: &Model, var: VarId) -> Option<u64> {
    let variable = model.variable(var)?;
    let shape = model.shape(var);
    let skipped = usize::from(model.growing(var).first() == Some(&true));
    let element = model.packed_len(variable.ty)?;
    shape.iter().skip(skipped).try_fold(element, |len, axis| len.checked_mul(*axis))
}

#[cfg(test)]
mod tests {
    use super::fits_variables;
    use ncirrus_model::{Atomic, DimensionLen, Format, Model};

    #[test]
    fn only_the_last_fixed_variable_may_be_larger_than_four_gibibytes() {
        let model = |lens: &[u64]| {
            let mut model = Model::new();
            let root = model.root();
            for (number, len) in lens.iter().enumerate() {
                let name = format!("x{number}");
                let dim = model.add_dimension(root, &name, DimensionLen::Fixed(*len)).unwrap();
                model.add_variable(root, &format!("v{number}"), Atomic::Double.into(), &[dim]).unwrap();
            }
            model
        };
        let large = 1 << 30;
        assert!(fits_variables(&model(&[4, large]), Format::Offset64));
        assert!(!fits_variables(&model(&[large, 4]), Format::Offset64));
        assert!(fits_variables(&model(&[large, large]), Format::Data64));
    }
}
