//! Chunks of strings, which only a dataset encodes: one with this chunk alone is made in memory.
use super::twin::{ScratchStore, TwinArray};
use bytes::Bytes;
use ncirrus::{
    Atomic, CreateOptions, Dataset, Dialect, DimensionLen, Kind, Region, Result, Selection, Storage,
    StringForm, Variable,
};

/// The chunk with the elements of that box; `None` if all are the fill value.
pub(super) fn chunk(
    kind: Kind,
    array: &TwinArray,
    source: &Variable,
    region: &Region,
) -> Result<Option<Bytes>> {
    let session = source.dataset().session();
    let values = source.values(&Selection::from(region.clone()))?;
    let store = ScratchStore::new(session);
    let options = CreateOptions::new()
        .kind(kind)
        .dialect(Dialect::Plain)
        .strings(StringForm::Variable)
        .consolidated(false)
        .durable(false);
    let dataset = Dataset::create_with(&store.address("one"), &options, session)?;
    dataset.edit(|model| {
        let mut dims = Vec::new();
        for (axis, len) in array.shape.iter().enumerate() {
            dims.push(model.add_dimension(model.root(), &format!("d{axis}"), DimensionLen::Fixed(*len))?);
        }
        let id = model.add_variable(model.root(), "v", Atomic::String.into(), &dims)?;
        // A chunk of fill values would not be stored: this value does not occur in data.
        let unused = ncirrus::Strings::from_iter([Some("\u{1}\u{2}\u{1}")]);
        model.set_fill(id, ncirrus::Values::String(unused))?;
        if let Some(variable) = model.variable_mut(id).filter(|_| !dims.is_empty()) {
            variable.storage = Storage::Chunked(array.chunk.clone());
        }
        Ok(())
    })?;
    dataset.variable("v")?.write_values(&Selection::from(region.clone()), &values)?;
    dataset.close()?;
    let objects = store.objects("one/v/")?;
    let is_document = |key: &str| key == "zarr.json" || key.starts_with(".z");
    Ok(objects.into_iter().find(|(key, _)| !is_document(key)).map(|(_, bytes)| bytes))
}
