//! OPeNDAP: `ncirrus-bench dap WHO CASE SERVER RUNS`; WHO is `ncirrus` or `limit`, SERVER the address that
//! `ncirrus-bench dap-serve FOLDER MILLISECONDS` prints, CASE one of `open2` and `open4` (all definitions of 1,000
//! variables, by DAP2 and DAP4), `series` (one point of 128 steps), `scattered` (100 boxes of one variable), `read2` and
//! `read4` (512 MiB of float32).
//!
//! The server computes its values; nothing is read from FOLDER. The response `counts` lists the requests since it was last
//! requested.
use crate::data::{POINT, SHAPE, STEP, field};
use crate::{Failure, timed};
use ncirrus::{Atomic, Attribute, Dataset, DimensionLen, OpenOptions, Selection, Session, Values, VarId};
use ncirrus_model::{AxisSelection, Model};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedDataset};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const VARIABLES: usize = 1000;
/// Variables of the dataset that is listed.
const LISTED: usize = 150;
/// Number of connections of the limit, as of the library.
const CONNECTIONS: usize = 4;

/// Serves the datasets `many`, `data` and `listed` until standard input ends.
pub(crate) fn serve(latency: Duration) -> Result<String, Failure> {
    let values = Arc::new(field());
    let data = served(&[("v".to_owned(), SHAPE.to_vec())], {
        let values = Arc::clone(&values);
        move |selection| box_of(&values, &SHAPE, selection)
    })?;
    let many: Vec<_> = (0..VARIABLES).map(|at| (format!("v{at}"), vec![1000])).collect();
    let listed: Vec<_> = (0..LISTED).map(|at| (format!("v{at}"), vec![100, 250])).collect();
    let part = move |selection: &Selection| box_of(&values, &[100, 250], selection);
    let datasets = [
        (
            "many".to_owned(),
            served(&many, |selection| vec![0.5; place(selection.element_count().unwrap_or(0))])?,
        ),
        ("data".to_owned(), data),
        ("listed".to_owned(), served(&listed, part)?),
    ];
    let server = DapServer::start(datasets, DapBehaviour { latency, ..DapBehaviour::default() });
    println!("{}", server.url(""));
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(String::new())
}

fn served(
    variables: &[(String, Vec<u64>)],
    read: impl Fn(&Selection) -> Vec<f32> + Send + Sync + 'static,
) -> Result<ServedDataset, Failure> {
    let mut model = Model::new();
    let root = model.root();
    let mut dims = Vec::new();
    for (axis, len) in variables.first().map(|(_, shape)| shape).into_iter().flatten().enumerate() {
        dims.push(model.add_dimension(root, &format!("d{axis}"), DimensionLen::Fixed(*len))?);
    }
    for (number, (name, _)) in variables.iter().enumerate() {
        let id = model.add_variable(root, name, Atomic::Float.into(), &dims)?;
        let Some(list) = model.variable_mut(id).map(|variable| variable.attributes.known_mut()) else {
            continue;
        };
        for attribute in ["units", "long_name", "standard_name", "comment", "source"] {
            list.put(Attribute::text(attribute, &format!("{attribute} of {number}")));
        }
    }
    let read = move |_: VarId, selection: &Selection| Ok(Values::Float(read(selection)));
    Ok(ServedDataset { model: Arc::new(model), read: Box::new(read) })
}

/// A position in memory; what cannot be one is past the end.
fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The selected elements of an array in memory.
fn box_of(values: &[f32], shape: &[u64], selection: &Selection) -> Vec<f32> {
    let mut places = vec![0_usize];
    let mut stride: usize = place(shape.iter().product());
    let last = shape.len() - 1;
    for (axis, (picked, len)) in selection.axes().iter().zip(shape).enumerate() {
        stride /= place(*len);
        let AxisSelection::Slice { start, count, stride: step } = picked else { return Vec::new() };
        if axis == last && *step == 1 {
            let run = place(*count);
            let rows = places.iter().map(|first| first + place(*start));
            return rows.flat_map(|first| &values[first..first + run]).copied().collect();
        }
        let indices = || (0..*count).map(|at| place(start + at * step) * stride);
        places = places.iter().flat_map(|place| indices().map(move |offset| place + offset)).collect();
    }
    places.into_iter().map(|place| values[place]).collect()
}

pub(crate) fn run(who: &str, case: &str, server: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    match who {
        "ncirrus" => ours(case, server, runs),
        "limit" => limit(case, server, runs),
        other => Err(format!("unknown program {other:?}").into()),
    }
}

fn open(address: &str) -> Result<Dataset, Failure> {
    let session = Session::builder().chunk_cache(0).build()?;
    Ok(Dataset::open_with(address, &OpenOptions::default(), &session)?)
}

fn ours(case: &str, server: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let (name, mode) = match case {
        "open2" => ("many", "dap2"),
        "open4" => ("many", "dap4"),
        "read4" => ("data", "dap4"),
        _ => ("data", "dap2"),
    };
    let address = format!("{server}{name}#{mode}");
    match case {
        "open2" | "open4" => timed(runs, || {
            let variables = open(&address)?.model()?.variables().len();
            if variables >= VARIABLES { Ok(()) } else { Err(format!("{variables} variables").into()) }
        }),
        "series" => timed(runs, || {
            let point = Selection::slab(&[0, POINT[0], POINT[1]], &[SHAPE[0], 1, 1]);
            open(&address)?.variable("v")?.values(&point)?;
            Ok(())
        }),
        "scattered" => timed(runs, || {
            let dataset = open(&address)?;
            let id = dataset.variable("v")?.id();
            let part = |at: u64| (id, Selection::slab(&[at, 9 * at, 7 * at], &[1, 10, 10]));
            dataset.read_many(&(0..100).map(part).collect::<Vec<_>>())?;
            Ok(())
        }),
        "read2" | "read4" => {
            let mut out = vec![0f32; STEP * 128];
            timed(runs, || {
                let bytes = bytemuck::cast_slice_mut(&mut out);
                open(&address)?.variable("v")?.read_bytes_into(&Selection::all(&SHAPE), bytes)?;
                Ok(())
            })
        }
        other => Err(format!("unknown case {other:?}").into()),
    }
}

/// The same requests from a bare client on as many connections: what the server and the machine allow.
fn limit(case: &str, server: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    if !matches!(case, "read2" | "read4") {
        return Err("there is no limit for this".into());
    }
    let host = server.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut out = vec![0f32; STEP * 128];
    timed(runs, || {
        let slots = Mutex::new(out.chunks_mut(4 * STEP).enumerate());
        let failed = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| {
                    loop {
                        let next = slots.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((number, slot)) = next else { return };
                        if let Err(failure) = part(&host, case == "read2", number, slot) {
                            failed.lock().unwrap_or_else(PoisonError::into_inner).replace(failure);
                        }
                    }
                });
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    })
}

/// Four steps by one request.
fn part(host: &str, is_dap2: bool, number: usize, slot: &mut [f32]) -> Result<(), Failure> {
    let (first, last) = (number * 4, number * 4 + 3);
    let ranges = format!("%5B{first}:{last}%5D%5B0:1023%5D%5B0:1023%5D");
    let target =
        if is_dap2 { format!("data.dods?v{ranges}") } else { format!("data.dap?dap4.ce=/v{ranges}") };
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET /{target} HTTP/1.1\r\nhost: {host}\r\n\r\n")?;
    let mut body = Vec::with_capacity(slot.len() * 4 + 4096);
    stream.read_to_end(&mut body)?;
    if is_dap2 {
        let start = body.windows(7).position(|mark| mark == b"\nData:\n").ok_or("no data")? + 15;
        let words = body.get(start..).ok_or("no values")?.as_chunks::<4>().0;
        slot.iter_mut().zip(words).for_each(|(value, word)| *value = f32::from_be_bytes(*word));
        return Ok(());
    }
    let mut at = body.windows(4).position(|end| end == b"\r\n\r\n").ok_or("no body")? + 4;
    let (mut filled, mut is_data) = (0, false);
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(slot);
    while let Some(head) = body.get(at..at + 4) {
        let len = usize::from(head[1]) << 16 | usize::from(head[2]) << 8 | usize::from(head[3]);
        let payload = body.get(at + 4..at + 4 + len).ok_or("a chunk is cut")?;
        if is_data {
            let count = payload.len().min(bytes.len() - filled);
            bytes[filled..filled + count].copy_from_slice(&payload[..count]);
            filled += count;
        }
        is_data = true;
        at += 4 + len;
    }
    if filled == bytes.len() { Ok(()) } else { Err("too few values".into()) }
}
