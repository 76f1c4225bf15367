//! The laws of placers and of chunk indexes, in every dialect that is written.
use super::fixtures::{basic, little, wide};
use super::*;
use ncirrus_model::Storage;
use ncirrus_testkit::law;

/// Small chunks, including edge chunks.
fn chunked(mut model: Model) -> Model {
    for var in model.variables() {
        let rank = model.shape(var).len();
        if let Some(variable) = model.variable_mut(var).filter(|_| rank > 0) {
            variable.storage = Storage::Chunked(vec![2; rank]);
        }
    }
    model
}

#[test]
fn placers_keep_the_law() {
    let dialects = [
        Dialect::Attributes,
        Dialect::LowerCase,
        Dialect::UpperCase,
        Dialect::Draft2018,
        Dialect::Xarray,
        Dialect::Plain,
        Dialect::V3,
        Dialect::Nczarr3,
    ];
    for dialect in dialects {
        for mut model in [basic(), chunked(basic()), chunked(wide())] {
            little(&mut model);
            for consolidated in [true, false] {
                law::placer(&ZarrDriver, &ZarrWriter::new(dialect).consolidated(consolidated), "", &model);
            }
        }
    }
}
