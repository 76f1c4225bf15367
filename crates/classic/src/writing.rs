//! New and existing files, as placers that write them.
use crate::ClassicWriter;
use crate::arrangement::{FileArrangement, FileBounds, VariablePosition};
use crate::definition::{FittedModel, too_large};
use crate::encode::{encode, fitted};
use crate::file::{ClassicFile, load};
use crate::geometry::{padded, record_size};
use crate::placer::{ClassicPlacer, CommittedState};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Placer, Result, Step, View, Writing};
use ncirrus_model::Model;

impl Writing for ClassicWriter {
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>> {
        let nothing = fitted(self.version, &Model::new())?;
        let (places, committed) = (FileArrangement::default(), CommittedState::default());
        Ok(Box::new(ClassicPlacer::new(root, self, nothing, places, committed)?))
    }

    fn update(&self, view: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>> {
        let file = load(view, root)?;
        let placed = |error: Error| error.at_object(root).by("classic");
        let definition = fitted(file.header.version, model).map_err(placed)?;
        let arrangement = found(&file, &definition).map_err(placed)?;
        let committed = CommittedState {
            header: encode(&definition, Some(&arrangement), definition.records).map_err(placed)?,
            header_len: file.header.byte_len,
            records: definition.records,
            file_len: file.size,
        };
        Ok(Box::new(ClassicPlacer::new(root, self, definition, arrangement, committed)?))
    }

    fn is_single_object(&self) -> bool {
        true
    }
}

/// The arrangement of a file, after checking that it matches `definition`.
fn found(file: &ClassicFile, definition: &FittedModel) -> Result<FileArrangement> {
    check_same(file, definition)?;
    let record_lens: Vec<u64> = definition.part(true).map(|var| var.slab.byte_len).collect();
    let record_size =
        record_size(&record_lens).ok_or_else(|| Error::limit("the size of a record is too large"))?;
    let (header_len, first) = (file.header.byte_len, file.header.vars.iter().map(|var| var.begin).min());
    let data_begin = first.unwrap_or(header_len);
    if data_begin < header_len {
        return Err(Error::malformed(format!("data begin at byte {data_begin}, within the header")));
    }
    let mut positions = std::collections::HashMap::new();
    let mut ends = Vec::new();
    let mut record_begin = None::<u64>;
    for (var, header) in definition.vars.iter().zip(&file.header.vars) {
        let (begin, len) = (header.begin, var.slab.byte_len);
        if var.is_record {
            record_begin = Some(record_begin.map_or(begin, |min| min.min(begin)));
        } else {
            ends.push(begin.checked_add(len).ok_or_else(|| too_large(&var.path))?);
        }
        positions.insert(
            var.id,
            VariablePosition { begin, len, record_size: var.is_record.then_some(record_size) },
        );
    }
    let last = ends.into_iter().max().unwrap_or(data_begin);
    if record_begin.is_some_and(|begin| begin < last && definition.records > 0) {
        return Err(Error::malformed("records are stored before or between the fixed variables"));
    }
    let fixed_end = padded(last).ok_or_else(|| Error::limit("the file is longer than 2^64 bytes"))?;
    let record_begin = record_begin.unwrap_or(fixed_end);
    // A last fixed variable without padding may be followed by records at once.
    let fixed_end = if record_begin >= last { fixed_end.min(record_begin) } else { fixed_end };
    Ok(FileArrangement::found(positions, FileBounds { data_begin, fixed_end, record_begin, record_size }))
}

/// Checks that the file is the one from which the model was made.
fn check_same(file: &ClassicFile, definition: &FittedModel) -> Result<()> {
    let header = &file.header;
    if let Some(name) = header.foreign_names.first() {
        let message =
            format!("the name {name:?} is not UTF-8; files with such names can be read but not changed");
        return Err(Error::unsupported(message));
    }
    let same_dims = header.dims.len() == definition.dims.len()
        && header.dims.iter().zip(&definition.dims).all(|(a, b)| a.name == b.0 && a.len == b.1);
    let same_vars = header.vars.len() == definition.vars.len()
        && header
            .vars
            .iter()
            .zip(&definition.vars)
            .all(|(a, b)| a.name == b.name && a.ty == b.ty && a.dims == b.dims);
    let same_records = header.records.is_none_or(|records| records == definition.records);
    if same_dims && same_vars && same_records { Ok(()) } else { Err(changed()) }
}

fn changed() -> Error {
    Error::new(ErrorKind::Changed, "the file changed since it was opened")
}
