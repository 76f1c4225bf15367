//! Datasets of a server of OPeNDAP: Debian's `ncdump` prints the same on both libraries, whose functions answer the same.
use super::calls::compiled;
use super::{Library, printed};
use ncirrus::{Dataset, DimensionLen, Selection, Values, VarId};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedDataset};
use std::path::{Path, PathBuf};

fn served(path: &Path) -> ServedDataset {
    let dataset = Dataset::open(path.to_str().unwrap()).unwrap();
    let model = dataset.model().unwrap();
    let read = move |id: VarId, selection: &Selection| {
        dataset.read_many(&[(id, selection.clone())]).map(|mut values| values.remove(0))
    };
    ServedDataset { model, read: Box::new(read) }
}

fn server() -> (DapServer, Vec<&'static str>) {
    let mut files =
        vec![("sst.nc", PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc")))];
    if let Some(folder) = corpus("dap") {
        let more = ["src_groups.nc", "src_types3b.nc", "src_types4.nc"];
        files.extend(more.map(|name| (name, folder.join(name))));
    }
    let server = DapServer::start(
        files.iter().map(|(name, path)| ((*name).to_owned(), served(path))),
        DapBehaviour::default(),
    );
    (server, files.into_iter().map(|(name, _)| name).collect())
}

#[test]
fn datasets_of_a_server_are_shown_as_by_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let (server, names) = server();
    let in_mode = |(name, mode): (&str, &str)| format!("{}#{mode}", server.url(name));
    // Of DAP4, Debian's has a fill value beside that of sst.nc.
    let by_dap4 = names.iter().filter(|name| **name != "sst.nc").map(|name| (*name, "dap4"));
    for address in names.iter().map(|name| (*name, "dap2")).chain(by_dap4).map(in_mode) {
        let shown = |library| printed(library, folder.path(), "ncdump", &[&address]);
        let expected = shown(Library::Debian);
        assert!(expected.contains("data:"), "{address}: {expected}");
        assert_eq!(shown(Library::Own), expected, "{address}");
    }
}

#[test]
fn variables_that_were_not_asked_for_leave_no_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let (server, _) = server();
    for asked in ["?lat", "?lat,sst[0:1:0][0:1:1][0:1:2]"] {
        let address = format!("{}{asked}#dap2", server.url("sst.nc"));
        let shown = |library| printed(library, folder.path(), "ncdump", &[&address]);
        let expected = shown(Library::Debian);
        assert!(expected.contains("lat:units") && !expected.contains("lon:units"), "{expected}");
        assert_eq!(shown(Library::Own), expected, "{address}");
    }
}

#[test]
fn values_of_unsigned_types_are_converted_from_these() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "opendap_unsigned");
    let path = folder.path().join("unsigned.nc4");
    let dataset = Dataset::create(path.to_str().unwrap()).unwrap();
    let members = [
        ("b", Values::UByte(vec![0, 200, 255, 127])),
        ("p", Values::UShort(vec![65535, 1, 32768, 40000])),
        ("u", Values::UInt(vec![4_294_967_295, 7, 2_147_483_648, 1])),
    ];
    for (name, values) in &members {
        let ty = values.atomic().unwrap().into();
        let defined = dataset.edit(|model| {
            let root = model.root();
            let dim = model.add_dimension(root, &format!("of_{name}"), DimensionLen::Fixed(4))?;
            Ok(model.add_variable(root, name, ty, &[dim])?)
        });
        let var = dataset.variable_by_id(defined.unwrap());
        var.write_values(&Selection::slab(&[0], &[4]), values).unwrap();
    }
    dataset.close().unwrap();
    let server = DapServer::start([("unsigned.nc".to_owned(), served(&path))], DapBehaviour::default());
    let address = format!("{}#dap2", server.url("unsigned.nc"));
    let shown = |library| printed(library, folder.path(), &program, &[&address]);
    // Debian's does not tell what does not fit.
    let numbers = |text: String| text.replace(" -60", " 0");
    assert_eq!(numbers(shown(Library::Own)), shown(Library::Debian));
}

#[test]
fn answers_that_hold_no_values_are_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "opendap_values");
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc"));
    let said = |behaviour: DapBehaviour| {
        let server = DapServer::start([("sst.nc".to_owned(), served(path))], behaviour);
        printed(Library::Own, folder.path(), &program, &[&format!("{}#dap2", server.url("sst.nc"))])
    };
    let cut = DapBehaviour { cut_data_at: Some(200), no_length: true, ..DapBehaviour::default() };
    assert_eq!(said(cut), "open 0\nvalues -73\n");
    let error = DapBehaviour { error_at: Some(0), ..DapBehaviour::default() };
    assert_eq!(said(error), "open 0\nvalues -70\n");
    assert_eq!(said(DapBehaviour::default()), "open 0\nvalues 0\n");
}

#[test]
fn functions_answer_for_datasets_of_a_server_as_those_of_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "opendap");
    let (server, _) = server();
    for mode in ["dap2", "dap4"] {
        let address = format!("{}#{mode}", server.url("sst.nc"));
        let shown = |library| printed(library, folder.path(), &program, &[&address]);
        assert_eq!(shown(Library::Own), shown(Library::Debian), "{address}");
    }
}

#[test]
fn servers_without_a_dataset_are_told_as_by_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "opening");
    let (server, _) = server();
    // No server listens where one did.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (absent, away) = (server.url("absent.nc"), format!("http://{free}/sst.nc"));
    let mut addresses = Vec::new();
    for place in [absent, away] {
        addresses.extend(["#dap2", "#dap4", ""].map(|mode| format!("{place}{mode}")));
    }
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let shown = |library| printed(library, folder.path(), &program, &addresses);
    assert_eq!(shown(Library::Own), shown(Library::Debian), "{addresses:?}");
}
