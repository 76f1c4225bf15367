//! Printing a dataset as CDL.
use crate::opened::stored_definitions;
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    Attribute, CodecSpec, Dataset, Detail, Endianness, Error, ErrorKind, Member, Model, NodeId, Result,
    Selection, Values,
};
use ncirrus_cdl::{DataSource, PrintOptions, PrintSummary};
use ncirrus_codec::{ChunkInfo, CodecRegistry, DecodedElement};
use ncirrus_model::{AttributeState, CodecSpace, Fault, FaultKind, Storage, TypeRef, VarId, Variable};
use ncirrus_netcdf_view::{RootFacts, formats, names::FORMAT};
use std::io::Write;
use std::sync::Arc;

/// Prints a dataset as `ncdump` would; what cannot be read is listed in the summary.
///
/// # Errors
/// If the output fails, a name in the options is unknown, or data cannot be read.
pub fn dump(dataset: &Dataset, out: &mut dyn Write, options: &PrintOptions) -> Result<PrintSummary> {
    let model = dataset.model()?;
    let model = if dataset.kind().is_hdf5() { listed(&model, &stored_definitions(dataset)) } else { model };
    let mut source = PrintedDataset { dataset, model: Arc::clone(&model), all_filters: options.all_filters };
    ncirrus_cdl::print(out, &model, &mut source, options).map_err(|error| cdl_error(error, dataset))
}

/// Prints the header of a dataset as NcML. What has no form in NcML is returned with its path and the reason.
///
/// # Errors
/// As [`dump`].
pub fn dump_ncml(
    dataset: &Dataset,
    out: &mut dyn Write,
    options: &PrintOptions,
) -> Result<Vec<(String, String)>> {
    let model = dataset.model()?;
    let model = if dataset.kind().is_hdf5() { listed(&model, &stored_definitions(dataset)) } else { model };
    ncirrus_cdl::ncml(out, &model, dataset.url(), options).map_err(|error| cdl_error(error, dataset))
}

/// The model without what the reference implementation silently omits: variables and attributes of types that netCDF
/// does not have (docs/spec/hdf5-netcdf4.md D.4). An aggregated variable that cannot be read is a scalar to the
/// reference.
fn listed(model: &Model, stored: &Model) -> Arc<Model> {
    let is_foreign = |fault: &Fault| fault.kind == FaultKind::Unsupported;
    let mut listed = model.clone();
    for id in model.variables() {
        if stored.variable(id).and_then(|variable| variable.fault.as_ref()).is_some_and(is_foreign) {
            let _ = listed.remove_variable(id);
        }
    }
    for node in listed.nodes() {
        if let Some(AttributeState::Known(attributes)) = listed.attributes_mut(node) {
            attributes.faults.retain(|(_, fault)| !is_foreign(fault));
        }
    }
    Arc::new(listed)
}

/// Whether the dataset follows the classic model, in any format.
pub fn is_classic_model(dataset: &Dataset) -> bool {
    dataset.kind().format.has_classic_model()
}

/// The kind, with the mode that `nc_open` reports for it, as `ncdump -K` prints it.
pub fn extended_kind(dataset: &Dataset) -> String {
    formats::kind_with_mode(dataset.kind())
}

/// Whether the dataset is stored in a classic format.
pub fn is_classic(dataset: &Dataset) -> bool {
    dataset.kind().is_classic()
}

fn cdl_error(error: ncirrus_cdl::CdlError, dataset: &Dataset) -> Error {
    let missing = match error {
        ncirrus_cdl::CdlError::NoSuchVariable(_) => Some(Member::Variable),
        ncirrus_cdl::CdlError::NoSuchGroup(_) => Some(Member::Group),
        _ => None,
    };
    let kind = match error {
        ncirrus_cdl::CdlError::Io(_) => ErrorKind::Io { retryable: false },
        ncirrus_cdl::CdlError::NoSuchVariable(_) | ncirrus_cdl::CdlError::NoSuchGroup(_) => {
            ErrorKind::NotFound
        }
        _ => ErrorKind::Unsupported,
    };
    let reported = Error::new(kind, error.to_string()).at_object(dataset.url());
    match missing {
        Some(member) => reported.with_detail(Detail::NoMember(member)),
        None => reported.because(error),
    }
}

/// What the printer needs from a dataset.
struct PrintedDataset<'a> {
    dataset: &'a Dataset,
    model: Arc<Model>,
    /// Filters with attributes of their own are listed with the others.
    all_filters: bool,
}

impl DataSource for PrintedDataset<'_> {
    fn read(
        &mut self,
        var: VarId,
        selection: &Selection,
    ) -> std::result::Result<Values, ncirrus_cdl::ReadError> {
        Ok(self.dataset.read_values(var, selection)?)
    }

    fn expect(&mut self, variables: &[VarId]) {
        let whole = |var: &VarId| (*var, Selection::all(&self.model.shape(*var)));
        self.dataset.announce_reads(&variables.iter().map(whole).collect::<Vec<_>>());
    }

    /// A quarter of the session's memory.
    fn block_len(&self) -> u64 {
        self.dataset.session().memory() as u64 / 4
    }

    /// What a server computes is requested in parts of 16 MiB, four at once.
    fn usual_block_len(&self) -> u64 {
        if self.dataset.kind().stored.is_computed() { self.block_len().min(64 << 20) } else { 1 << 20 }
    }

    fn special(&mut self, node: NodeId) -> Vec<Attribute> {
        match node {
            NodeId::Variable(_) if is_classic(self.dataset) => Vec::new(),
            NodeId::Variable(var) => {
                let variable = self.model.variable(var);
                let registry = self.dataset.session().registry();
                let special = |variable| special_of_variable(variable, self.all_filters, registry);
                variable.map(special).unwrap_or_default()
            }
            NodeId::Group(group) if group == self.model.root() => self.special_of_root(),
            NodeId::Group(_) => Vec::new(),
        }
    }
}

impl PrintedDataset<'_> {
    /// `docs/spec/nczarr.md` 12.5: provenance, superblock version, and the format.
    fn special_of_root(&self) -> Vec<Attribute> {
        let mut special = Vec::new();
        if !is_classic(self.dataset) {
            let facts = self.dataset.facts();
            special.extend(RootFacts::of(&facts).attributes());
        }
        special.push(Attribute::text(FORMAT, self.dataset.kind().format.as_str()));
        special
    }
}

/// How a variable is stored, as attributes in the order of docs/spec/nczarr.md 12.5.
pub(crate) fn special_of_variable(
    variable: &Variable,
    all_filters: bool,
    registry: &CodecRegistry,
) -> Vec<Attribute> {
    let mut special = Vec::new();
    let storage = match &variable.storage {
        Storage::Chunked(_) | Storage::Default => "chunked",
        Storage::Contiguous => "contiguous",
        Storage::Compact => "compact",
        Storage::Virtual => "virtual",
    };
    special.push(Attribute::text("_Storage", storage));
    if let (Storage::Chunked(chunks), true) = (&variable.storage, variable.rank() > 0) {
        special.push(Attribute::atomic("_ChunkSizes", chunk_sizes(chunks)));
    }
    if let Some(shards) = variable.shards.as_ref().filter(|shards| !shards.shape.is_empty()) {
        special.push(Attribute::atomic("_Shards", chunk_sizes(&shards.shape)));
        if shards.index_first {
            special.push(Attribute::text("_ShardIndex", "start"));
        }
    }
    special.extend(filter_attributes(variable, all_filters, registry));
    if let TypeRef::Atomic(atomic) = variable.ty
        && atomic.byte_len().is_some_and(|len| len > 1)
    {
        match variable.endianness {
            Endianness::Little => special.push(Attribute::text("_Endianness", "little")),
            Endianness::Big => special.push(Attribute::text("_Endianness", "big")),
            Endianness::Native => {}
        }
    }
    if !variable.is_filled() {
        special.push(Attribute::text("_NoFill", "true"));
    }
    special
}

/// Chunk lengths as int, or as a wider type when one does not fit.
fn chunk_sizes(chunks: &[u64]) -> Values {
    let ints: Option<Vec<i32>> = chunks.iter().map(|len| i32::try_from(*len).ok()).collect();
    ints.map_or_else(|| Values::UInt64(chunks.to_vec()), Values::Int)
}

fn filter_attributes(variable: &Variable, all_filters: bool, registry: &CodecRegistry) -> Vec<Attribute> {
    let (mut fletcher, mut shuffle, mut deflate, mut others) = (false, false, None, Vec::new());
    let byte_len = match variable.ty {
        TypeRef::Atomic(atomic) => atomic.byte_len(),
        TypeRef::User(_) => None,
    };
    let shape = match &variable.storage {
        Storage::Chunked(chunks) => chunks.clone(),
        _ => Vec::new(),
    };
    let chunk = ChunkInfo { shape, element: DecodedElement::sized(byte_len) };
    for spec in &variable.filters {
        let Ok(CodecSpec::Hdf5 { id, parameters, .. }) = registry.translate(spec, CodecSpace::Hdf5, &chunk)
        else {
            continue;
        };
        match id {
            _ if all_filters => others.push(
                parameters.iter().fold(id.to_string(), |text, parameter| format!("{text},{parameter}")),
            ),
            1 => deflate = Some(parameters.first().copied().unwrap_or(0)),
            2 => shuffle = true,
            3 => fletcher = true,
            4 if parameters.len() == 4 => others.push(szip_text(&parameters)),
            _ => others.push(
                parameters.iter().fold(id.to_string(), |text, parameter| format!("{text},{parameter}")),
            ),
        }
    }
    let mut special = Vec::new();
    if fletcher {
        special.push(Attribute::text("_Fletcher32", "true"));
    }
    if shuffle {
        special.push(Attribute::text("_Shuffle", "true"));
    }
    if let Some(level) = deflate.and_then(|level| i32::try_from(level).ok()) {
        special.push(Attribute::atomic("_DeflateLevel", Values::Int(vec![level])));
    }
    if !others.is_empty() {
        special.push(Attribute::text("_Filter", &others.join("|")));
    }
    let codecs: Vec<String> = variable.filters.iter().filter_map(CodecSpec::text).collect();
    if !codecs.is_empty() {
        special.push(Attribute::text("_Codecs", &format!("[{}]", codecs.join(","))));
    }
    special
}

/// Szip as the reference shows it: the coding method of the option mask, and the pixels per block.
fn szip_text(parameters: &[u32]) -> String {
    const METHODS: u32 = 4 | 32;
    let at = |index: usize| parameters.get(index).copied().unwrap_or(0);
    format!("4,{},{}", at(0) & METHODS, at(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_model::Atomic;

    #[test]
    fn what_has_no_type_in_netcdf_is_not_listed_but_damage_is() {
        let mut model = Model::new();
        let root = model.root();
        for (name, kind) in [("foreign", FaultKind::Unsupported), ("damaged", FaultKind::Malformed)] {
            let mut variable = Variable::new(name, Atomic::Byte.into(), Vec::new());
            variable.fault = Some(Fault::new(kind, "why"));
            model.insert_variable(root, variable).unwrap();
            let attributes = model.group_mut(root).unwrap().attributes.known_mut();
            attributes.faults.push((name.to_owned(), Fault::new(kind, "why")));
        }
        let mut stored = model.clone();
        let sound = Variable::new("aggregated", Atomic::Byte.into(), Vec::new());
        let fault = Some(Fault::new(FaultKind::Unsupported, "why"));
        model.insert_variable(root, Variable { fault, ..sound.clone() }).unwrap();
        stored.insert_variable(root, sound).unwrap();
        let listed = listed(&model, &stored);
        assert!(listed.variable_at("aggregated").is_some());
        assert!(listed.variable_at("foreign").is_none() && listed.variable_at("damaged").is_some());
        let attributes = listed.group(root).unwrap().attributes.known().unwrap();
        assert_eq!(attributes.faults.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["damaged"]);
    }

    #[test]
    fn szip_shows_its_method_and_block() {
        assert_eq!(szip_text(&[169, 8, 32, 32]), "4,32,8");
        assert_eq!(szip_text(&[141, 16, 32, 32]), "4,4,16");
    }

    #[test]
    fn a_chunk_length_above_31_bits_is_not_cut() {
        assert_eq!(chunk_sizes(&[1 << 40]), Values::UInt64(vec![1 << 40]));
        assert_eq!(chunk_sizes(&[7]), Values::Int(vec![7]));
    }

    #[test]
    fn a_scalar_shows_no_chunk_sizes() {
        let mut variable = Variable::new("s", Atomic::Int.into(), Vec::new());
        variable.storage = Storage::Chunked(Vec::new());
        let special = special_of_variable(&variable, false, &CodecRegistry::builtin());
        assert!(special.iter().all(|attribute| attribute.name != "_ChunkSizes"));
    }
}
