//! Recognising and opening a dataset.
use crate::catalog::DapCatalog;
use crate::place::{DapPlace, DapProtocol, DapView, protocol_of};
use crate::query::ArrivedAnswer;
use crate::shown::dap2::{Dap2Facts, SequenceColumn, sequence_columns};
use crate::shown::{self};
use crate::{
    AnswerKind, Dap2Constraint, DapAnswer, Das, Dds, Dmr, DodsAnswer, WireName, XdrPeculiarities, classify,
    refuse_error,
};
use bytes::Bytes;
use ncirrus_layout::{
    AddressHints, Catalog, Confidence, Driver, Error, ErrorKind, LockExt, ObjectId, OpenOptions, Result,
    Stall, Step, View, Want, both, settle,
};
use ncirrus_model::Values;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Reads datasets of OPeNDAP servers, and their responses in files. It remembers what a dataset shows of its host.
#[derive(Debug, Clone, Default)]
pub struct DapDriver {
    /// The hosts whose queries were encoded, and whether they want raw brackets.
    hosts: Arc<Mutex<HashMap<String, Arc<AtomicBool>>>>,
}

/// Bytes from which the kind of a response is detected.
const FIRST_READ: u64 = 512;

impl Driver for DapDriver {
    fn name(&self) -> &'static str {
        "dap"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        let Some(blob) = view.read(root, Want::Parse(0..FIRST_READ))? else { return Ok(Confidence::No) };
        Ok(match classify(&blob.bytes) {
            AnswerKind::Dds | AnswerKind::Das | AnswerKind::Chunks => Confidence::Yes,
            AnswerKind::Xml => Confidence::Maybe,
            _ => Confidence::No,
        })
    }

    fn open(&self, view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        let protocol = match requested(&options.address).or_else(|| protocol_of(root.name())) {
            Some(protocol) => protocol,
            None => stated_protocol(view, root)?,
        };
        let hints = hints_of(options);
        let mut place = DapPlace::new(root, protocol, is_file(root), &hints)?;
        place.wants_raw = self.host(root.store.as_str());
        let (shown, arrived) = match opened(view, &place) {
            Err(Stall::Fail(error)) if place.adapts(&error) => opened(view, &place)?,
            opened => opened?,
        };
        let catalog = DapCatalog::new(Arc::new(place), shown);
        arrived.iter().for_each(|answer| catalog.arrive(answer, view.limits()));
        Ok(Arc::new(catalog))
    }
}

impl DapDriver {
    /// Whether a host wants raw brackets.
    fn host(&self, host: &str) -> Arc<AtomicBool> {
        let mut hosts = self.hosts.guard();
        if let Some(known) = hosts.get(host) {
            return Arc::clone(known);
        }
        // They are forgotten rather than many.
        if hosts.len() >= MAX_HOSTS {
            hosts.clear();
        }
        Arc::clone(hosts.entry(host.to_owned()).or_default())
    }
}

/// Hosts that are remembered.
const MAX_HOSTS: usize = 4096;

fn opened(view: &dyn View, place: &DapPlace) -> Step<(shown::ShownDataset, Vec<ArrivedAnswer>)> {
    match place.protocol {
        DapProtocol::Dap2 => open_dap2(view, place),
        DapProtocol::Dap4 => Ok((open_dap4(view, place)?, Vec::new())),
    }
}

/// What an address says, with the view that the options ask for if it names none.
fn hints_of(options: &OpenOptions) -> Cow<'_, AddressHints> {
    let hints = &options.address;
    if !options.view.is_netcdf_c() || hints.entries.iter().any(|(key, _)| key.eq_ignore_ascii_case("view")) {
        return Cow::Borrowed(hints);
    }
    let mut hints = hints.clone();
    hints.entries.push(("view".to_owned(), "netcdf-c".to_owned()));
    Cow::Owned(hints)
}

/// The protocol that an address asks for.
fn requested(hints: &AddressHints) -> Option<DapProtocol> {
    match () {
        () if hints.has_mode("dap4") => Some(DapProtocol::Dap4),
        () if hints.has_mode("dap2") => Some(DapProtocol::Dap2),
        () => None,
    }
}

/// The protocol of the response that is at an address.
fn stated_protocol(view: &dyn View, root: &ObjectId) -> Step<DapProtocol> {
    let blob = view.read(root, Want::Parse(0..FIRST_READ))?;
    let kind = blob.map(|blob| classify(&blob.bytes));
    Ok(match kind {
        Some(AnswerKind::Chunks | AnswerKind::Xml) => DapProtocol::Dap4,
        _ => DapProtocol::Dap2,
    })
}

/// Whether responses are objects of their own, which no server computes.
fn is_file(root: &ObjectId) -> bool {
    let store = root.store.as_str();
    !(store.starts_with("http://") || store.starts_with("https://"))
}

/// A response that has to be there.
fn response(view: &dyn View, object: &ObjectId) -> Step<Bytes> {
    let blob = view.read(object, Want::All)?;
    let absent = || Error::not_found("no such object").at_object(object);
    Ok(blob.ok_or_else(absent)?.bytes)
}

/// An outcome that may be a failure, but no need.
fn settled<T>(step: Step<T>) -> Step<Result<T>> {
    settle(step).map_err(Stall::Need)
}

fn open_dap2(view: &dyn View, place: &DapPlace) -> Step<(shown::ShownDataset, Vec<ArrivedAnswer>)> {
    let limits = view.limits();
    let whole = place.constraint.query(place.encoding());
    let selections = place.constraint.selections_only().query(place.encoding());
    let (dds, das) = (place.response(".dds", &whole), place.response(".das", &selections));
    // The attributes are those of all variables, also of those that were not requested.
    let unprojected = if place.constraint.has_projections() {
        settled(response(view, &place.response(".dds", &selections))).map(Result::ok)
    } else {
        Ok(None)
    };
    let documents = both(settled(response(view, &dds)), settled(response(view, &das)));
    let ((dds_bytes, das_bytes), unprojected) = both(documents, unprojected)?;
    let dds_found = match dds_bytes {
        Ok(bytes) => parse_dds(&bytes, view).map_err(|error| error.at_object(&dds))?,
        // Files may hold the data alone.
        Err(error) if place.files && error.kind() == ErrorKind::NotFound => {
            let object = place.response(".dods", "");
            match settled(response(view, &object))? {
                Ok(bytes) => DodsAnswer::parse(&bytes, limits).map_err(|error| error.at_object(&object))?.dds,
                Err(_) => return Err(error.into()),
            }
        }
        Err(error) => return Err(error.into()),
    };
    let das_found = das_bytes.and_then(|bytes| {
        refuse_error(&bytes, "a DAS")?;
        Das::parse(&bytes, limits)
    });
    let (mut facts, arrived) = facts_of(view, place, (&dds_found, das_found.as_ref().ok()))?;
    // Without them nothing is known to be left out.
    facts.unprojected = unprojected.and_then(|bytes| parse_dds(&bytes, view).ok());
    let (das_found, warning) = match das_found {
        Ok(das) => (das, None),
        Err(error) if place.files && error.kind() == ErrorKind::NotFound => (Das::default(), None),
        Err(error) => (Das::default(), Some(format!("the attributes cannot be read: {error}"))),
    };
    let mut shown = shown::dap2::show(&dds_found, &das_found, place, &facts, limits)?;
    shown.warnings.extend(warning);
    Ok((shown, arrived))
}

fn parse_dds(bytes: &[u8], view: &dyn View) -> Result<Dds> {
    refuse_error(bytes, "a DDS")?;
    Dds::parse(bytes, view.limits())
}

/// What only the data contain: the rows of sequences, and lengths of strings. What came for that is kept, but of files, which are
/// near.
fn facts_of(
    view: &dyn View,
    place: &DapPlace,
    (dds, das): (&Dds, Option<&Das>),
) -> Step<(Dap2Facts, Vec<ArrivedAnswer>)> {
    let (mut facts, mut arrived) = (Dap2Facts::default(), Vec::new());
    let columns = sequence_columns(dds);
    let count = |column: &SequenceColumn<'_>| settled(rows_of(view, place, column));
    let counted = ncirrus_layout::join(&columns, count)?;
    for (column, counted) in columns.iter().zip(counted) {
        if let Ok((_, answer)) = &counted
            && !place.files
        {
            let paths = vec![owned(&column.path)];
            arrived.push(ArrivedAnswer { paths, body: answer.clone(), counts_rows: true });
        }
        facts.rows.insert(column.index.clone(), counted.map(|(rows, _)| rows));
    }
    if place.view == DapView::NetcdfC && place.string_length.is_none() {
        let (declared, requested) = string_lengths(place, dds, das);
        facts.longest = declared;
        // Strings that cannot be read say so when they are read.
        if let Ok((longest, answer)) = settled(longest_of(view, place, &requested))? {
            facts.longest.extend(longest);
            let paths = requested.iter().map(|(_, path)| owned(path)).collect();
            // Elements of a part have other numbers than those of the whole, which came.
            let is_whole = |(_, path): &StringPath<'_>| place.constraint.ranges_of(path).is_none();
            let is_kept = !place.files && !place.constraint.has_functions() && requested.iter().all(is_whole);
            let answer = answer.filter(|_| is_kept);
            arrived.extend(answer.map(|body| ArrivedAnswer { paths, body, counts_rows: false }));
        }
    }
    Ok((facts, arrived))
}

fn owned(path: &[&WireName]) -> Vec<WireName> {
    path.iter().copied().cloned().collect()
}

/// Lengths of strings that are declared, and the strings whose lengths have to be asked for.
fn string_lengths<'a>(
    place: &DapPlace,
    dds: &'a Dds,
    das: Option<&Das>,
) -> (StringLengths, Vec<StringPath<'a>>) {
    let (mut declared, mut requested) = (HashMap::new(), Vec::new());
    for (index, path) in shown::dap2::string_paths(dds) {
        let name = path.iter().map(|name| name.netcdf_c()).collect::<Vec<_>>().join(".");
        if place.string_lengths.contains_key(&name) {
            continue;
        }
        match das.and_then(|das| shown::dap2::declared_length(das, &path)) {
            Some(len) => _ = declared.insert(index, len),
            None => requested.push((index, path)),
        }
    }
    (declared, requested)
}

/// Bytes of the longest string of variables, by their places in the DDS.
type StringLengths = HashMap<Vec<usize>, u64>;

/// The place of a variable or member in the DDS, and its path.
type StringPath<'a> = (Vec<usize>, Vec<&'a WireName>);

/// Bytes of the longest string of each of these variables, and the answer that contains them, if one was needed: characters
/// have a dimension, and no string is cut.
fn longest_of(
    view: &dyn View,
    place: &DapPlace,
    paths: &[StringPath<'_>],
) -> Step<(StringLengths, Option<Bytes>)> {
    if paths.is_empty() {
        return Ok((HashMap::new(), None));
    }
    let mut constraint: Dap2Constraint = place.constraint.selections_only();
    paths.iter().for_each(|(_, path)| constraint.project(path, &[]));
    let object = place.response(".dods", &constraint.query(place.encoding()));
    let bytes = response(view, &object)?;
    let lengths = || {
        let answer = DodsAnswer::parse(&bytes, view.limits())?;
        let values = answer.values(XdrPeculiarities::default(), view.limits())?;
        let length = |(index, path): &StringPath<'_>| {
            let (place, _) = answer.dds.find(path)?;
            match values.at(&place)? {
                Values::String(strings) => Some((index.clone(), strings.max_len() as u64)),
                _ => None,
            }
        };
        Ok(paths.iter().filter_map(length).collect())
    };
    let lengths = lengths().map_err(|error: Error| error.at_object(&object))?;
    Ok((lengths, Some(bytes)))
}

/// The rows of a sequence, and the answer that contains them.
fn rows_of(view: &dyn View, place: &DapPlace, column: &SequenceColumn<'_>) -> Step<(u64, Bytes)> {
    let mut constraint: Dap2Constraint = place.constraint.selections_only();
    constraint.project(&column.path, &[]);
    let object = place.response(".dods", &constraint.query(place.encoding()));
    let bytes = response(view, &object)?;
    let count = || {
        let answer = DodsAnswer::parse(&bytes, view.limits())?;
        let values = answer.values(XdrPeculiarities::default(), view.limits())?;
        let absent = || Error::malformed("the answer has another structure than was asked for");
        let path = column.path.get(..column.path.len().saturating_sub(1)).unwrap_or_default();
        let (index, _) = answer.dds.find(path).ok_or_else(absent)?;
        match values.at(&index) {
            Some(Values::Vlen { ends, .. }) => Ok(ends.last().copied().unwrap_or(0) as u64),
            _ => Err(absent()),
        }
    };
    let rows = count().map_err(|error| error.at_object(&object))?;
    Ok((rows, bytes))
}

fn open_dap4(view: &dyn View, place: &DapPlace) -> Step<shown::ShownDataset> {
    let limits = view.limits();
    let query = place.expression.metadata_query(place.encoding());
    let dmr = if place.files {
        document_of_file(view, place)?
    } else {
        let first = place.response(".dmr.xml", &query);
        match settled(response(view, &first))? {
            Ok(bytes) => Dmr::parse(&bytes, limits).map_err(|error| error.at_object(&first))?,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let object = place.response(".dmr", &query);
                match settled(response(view, &object))? {
                    Ok(bytes) => Dmr::parse(&bytes, limits).map_err(|error| error.at_object(&object))?,
                    Err(_) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
    };
    Ok(shown::dap4::show(&dmr, place, limits)?)
}

/// The structure beside the data, or else that of the data.
fn document_of_file(view: &dyn View, place: &DapPlace) -> Step<Dmr> {
    let limits = view.limits();
    let (dmr, dap) = (place.response(".dmr", ""), place.response(".dap", ""));
    match settled(response(view, &dmr))? {
        Ok(bytes) => Ok(Dmr::parse(&bytes, limits).map_err(|error| error.at_object(&dmr))?),
        Err(error) if error.kind() == ErrorKind::NotFound => match settled(response(view, &dap))? {
            Ok(bytes) => Ok(DapAnswer::parse(&bytes, limits).map_err(|error| error.at_object(&dap))?.dmr),
            Err(_) => Err(error.into()),
        },
        Err(error) => Err(error.into()),
    }
}
