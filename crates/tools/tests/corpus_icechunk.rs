//! The Icechunk corpus: every state of every repository has the groups, arrays and values of its truth; damaged ones end
//! with an error; chunks outside are read where the user allows it. Also copies, the history, and refused changes.
use crate::support::{json, values};
use ncirrus::store::ContainerRule;
use ncirrus::{AttributeState, Dataset, ErrorKind, NodeId, OpenOptions, Session, Values, Variable};
use ncirrus_testkit::corpus::{corpus, peers_python};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the repositories of the corpus expect the files that they refer to on a web server.
const SERVER: &str = "http://127.0.0.1:18765/";

/// Data types whose values are shown differently: as other types, or not at all.
const OTHERWISE: [&str; 8] = [
    "complex64",
    "complex128",
    "float16",
    "fixed_length_utf32",
    "null_terminated_bytes",
    "raw_bytes",
    "variable_length_bytes",
    "struct",
];

fn session_of(rules: &[(String, ContainerRule)]) -> Session {
    Session::builder().threads(2).durable(false).containers(rules.iter().cloned()).build().unwrap()
}

fn open(address: &str, session: &Session) -> ncirrus::Result<Dataset> {
    Dataset::open_with(address, &OpenOptions::default(), session)
}

fn cases(root: &Path) -> Vec<(PathBuf, Value)> {
    let mut folders = vec![root.to_path_buf(), root.join("damaged")];
    let mut cases = Vec::new();
    while let Some(folder) = folders.pop() {
        // The folder that a script makes has no damaged ones.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.path().join("case.json");
            if file.is_file() {
                cases.push((entry.path(), json(&file)));
            }
        }
    }
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    cases
}

#[test]
fn every_state_of_every_repository_has_the_values_of_its_truth() {
    let Some(root) = corpus("icechunk") else { return };
    let server = files_with_their_etags(&root);
    let rules = [(SERVER.to_owned(), ContainerRule::At(server))];
    let session = session_of(&rules);
    let (mut faults, mut compared, mut otherwise) = (Vec::new(), 0, BTreeSet::new());
    for (folder, case) in cases(&root) {
        let id = case["id"].as_str().unwrap();
        let repo = folder.join(case["repo"].as_str().unwrap());
        for state in case["refs"].as_array().unwrap() {
            let fragment = state["fragment"].as_str().unwrap();
            let address = format!("{}{fragment}", repo.display());
            let found = match case["expect"].as_str().unwrap() {
                "ok" => {
                    let truth = json(&folder.join(state["truth"].as_str().unwrap()));
                    differences(&address, &truth, &session, &mut compared, &mut otherwise)
                }
                _ => not_refused(&address, &session).into_iter().collect(),
            };
            faults.extend(found.into_iter().map(|fault| format!("{id}{fragment}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
    assert!(compared >= 150, "only {compared} arrays were compared");
    let unknown: Vec<&String> = otherwise
        .iter()
        .filter(|ty| !OTHERWISE.contains(&ty.as_str()) && !ty.starts_with("numpy."))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// Why a damaged repository can be opened and read completely, if it can.
fn not_refused(address: &str, session: &Session) -> Option<String> {
    let dataset = match open(address, session) {
        Ok(dataset) => dataset,
        Err(error) if error.kind() == ErrorKind::Internal => return Some(error.to_string()),
        Err(_) => return None,
    };
    for variable in dataset.variables() {
        match values(&variable) {
            Err(error) if error.kind() == ErrorKind::Internal => return Some(error.to_string()),
            Err(_) => return None,
            Ok(_) => {}
        }
    }
    Some("nothing was refused".to_owned())
}

fn differences(
    address: &str,
    truth: &Value,
    session: &Session,
    compared: &mut usize,
    otherwise: &mut BTreeSet<String>,
) -> Vec<String> {
    let dataset = match open(address, session) {
        Ok(dataset) => dataset,
        Err(error) => return vec![format!("{error:?}")],
    };
    let arrays = truth["arrays"].as_object().unwrap();
    let model = dataset.model().unwrap();
    let found: BTreeMap<String, Variable> =
        dataset.variables().into_iter().map(|var| (var.path(), var)).collect();
    let groups: BTreeSet<String> = model.walk().into_iter().map(|id| model.group_path(id)).collect();
    let is_root_array = arrays.len() == 1 && arrays.contains_key("/");
    let mut faults = Vec::new();
    for path in truth["groups"].as_object().unwrap().keys() {
        if !groups.contains(path) {
            faults.push(format!("no group {path}"));
        }
    }
    if found.len() != arrays.len() {
        faults.push(format!("{:?} instead of {:?}", found.keys(), arrays.keys().collect::<Vec<_>>()));
    }
    for (path, expected) in arrays {
        let variable = if is_root_array { found.values().next() } else { found.get(path) };
        let Some(variable) = variable else {
            faults.push(format!("no variable {path}"));
            continue;
        };
        match compare(variable, expected) {
            Ok(true) => *compared += 1,
            Ok(false) => _ = otherwise.insert(type_name(expected)),
            Err(fault) => faults.push(format!("{path}: {fault}")),
        }
    }
    faults
}

fn type_name(expected: &Value) -> String {
    let ty = &expected["data_type"];
    ty.as_str().or(ty["name"].as_str()).unwrap().to_owned()
}

/// Whether the values are those of the truth; `false` if they are shown in another form.
fn compare(variable: &Variable, expected: &Value) -> Result<bool, String> {
    let ty = type_name(expected);
    let values = match values(variable) {
        Ok(values) => values,
        Err(error) if OTHERWISE.contains(&ty.as_str()) || error.kind() == ErrorKind::Unsupported => {
            return Ok(false);
        }
        Err(error) => return Err(format!("{error:?}")),
    };
    let shape: Vec<u64> = expected["shape"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    if variable.shape() != shape {
        return Err(format!("shape {:?} instead of {shape:?}", variable.shape()));
    }
    let mut hash = Sha256::new();
    match &values {
        Values::String(strings) => {
            for text in strings.iter() {
                let text = text.unwrap_or_default();
                hash.update(u32::try_from(text.len()).unwrap().to_le_bytes());
                hash.update(text);
            }
        }
        fixed => match fixed.as_bytes() {
            Some(bytes) => hash.update(bytes),
            None => return Ok(false),
        },
    }
    let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    match found == expected["sha256"].as_str().unwrap() {
        true => Ok(true),
        false if OTHERWISE.contains(&ty.as_str()) => Ok(false),
        false => Err(format!("other values of {ty}: {:?}", expected["values"].to_string().get(..200))),
    }
}

/// Serves the files of the corpus with the ETags and the time that its repositories expect (`serve.py`).
fn files_with_their_etags(root: &Path) -> String {
    let etag = |bytes: &[u8]| {
        let digits: String = Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("\"{digits}\"")
    };
    ncirrus_testkit::files_over_http::serve_tagged(root, etag, "Thu, 01 Jan 2026 00:00:00 GMT")
}

#[test]
fn chunks_in_files_outside_are_read_only_if_that_is_allowed() {
    let Some(root) = corpus("icechunk") else { return };
    let address = root.join("damaged/file-outside/repo").display().to_string();
    let read = |rules: &[(String, ContainerRule)]| {
        let dataset = open(&address, &session_of(rules)).unwrap();
        dataset.variables().iter().map(values).collect::<ncirrus::Result<Vec<_>>>()
    };
    let error = read(&[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.message().contains("file:///etc/"), "{error}");
    let allowed = read(&[("file:///etc/".to_owned(), ContainerRule::Allow)]);
    assert!(allowed.is_ok() || allowed.is_err_and(|error| error.kind() != ErrorKind::Denied));
}

#[test]
fn repositories_on_web_servers_are_read() {
    let Some(root) = corpus("icechunk") else { return };
    let server = ncirrus_testkit::files_over_http::serve(&root, None);
    let session = session_of(&[]);
    for (place, truth) in [
        ("single-v2/repo", "single-v2/truth0.json"),
        ("history-v1/repo#branch=dev", "history-v1/truth4.json"),
        ("history/repo#mode=icechunk&tag=v1.0", "history/truth1.json"),
    ] {
        let (mut compared, mut otherwise) = (0, BTreeSet::new());
        let address = format!("{server}/{place}");
        let truth = json(&root.join(truth));
        let found = differences(&address, &truth, &session, &mut compared, &mut otherwise);
        assert!(found.is_empty() && compared > 0, "{place}: {found:?}");
        assert!(open(&address, &session).unwrap().history(false).unwrap().is_some());
    }
}

#[test]
fn references_to_the_chunks_of_a_repository_are_written() {
    let Some(root) = corpus("icechunk") else { return };
    let folder = tempfile::tempdir().unwrap();
    let session = session_of(&[]);
    let source = root.join("history/repo#tag=v1.0").display().to_string();
    let target = folder.path().join("all.json").display().to_string();
    let options = ncirrus_tools::ReferenceOptions::default().inline_threshold(0);
    ncirrus_tools::write_references(std::slice::from_ref(&source), &target, &options, &session).unwrap();
    let (from, to) = (open(&source, &session).unwrap(), open(&target, &session).unwrap());
    for variable in to.variables() {
        let other = from.variable(&variable.path()).unwrap();
        assert_eq!(values(&variable).unwrap(), values(&other).unwrap(), "{}", variable.path());
    }
    assert!(!to.variables().is_empty());
}

#[test]
fn a_repository_is_copied_and_not_changed() {
    let Some(root) = corpus("icechunk") else { return };
    let folder = tempfile::tempdir().unwrap();
    let session = session_of(&[]);
    let source = root.join("by-xarray/repo").display().to_string();
    let from = open(&source, &session).unwrap();
    for target in ["copy.zarr", "copy.nc"] {
        let target = folder.path().join(target).display().to_string();
        ncirrus_tools::copy(&from, &target, &ncirrus_tools::CopyOptions::default(), &session).unwrap();
        let to = open(&target, &session).unwrap();
        for variable in from.variables() {
            let other = to.variable(&variable.path()).unwrap();
            assert_eq!(values(&variable).unwrap(), values(&other).unwrap(), "{}", variable.path());
        }
    }
    let huge = open(&root.join("damaged/huge-shape-v2/repo").display().to_string(), &session).unwrap();
    let target = folder.path().join("huge.zarr").display().to_string();
    let error =
        ncirrus_tools::copy(&huge, &target, &ncirrus_tools::CopyOptions::default(), &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let error = Dataset::update_with(&source, &OpenOptions::default(), &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("session of the icechunk package"), "{error}");
}

#[test]
fn the_history_names_snapshots_branches_and_tags() {
    let Some(root) = corpus("icechunk") else { return };
    let session = session_of(&[]);
    for case in ["history", "history-v1"] {
        let dataset =
            open(&format!("{}#tag=v1.0", root.join(case).join("repo").display()), &session).unwrap();
        let history = dataset.history(true).unwrap().unwrap();
        let names =
            |list: &[ncirrus::RefEntry]| list.iter().map(|entry| entry.name.clone()).collect::<BTreeSet<_>>();
        assert_eq!(names(&history.branches), BTreeSet::from(["dev".to_owned(), "main".to_owned()]), "{case}");
        assert_eq!(names(&history.tags), BTreeSet::from(["dev tag".to_owned(), "v1.0".to_owned()]), "{case}");
        let tagged = history.tags.iter().find(|tag| tag.name == "v1.0").unwrap();
        assert_eq!(history.shown, tagged.snapshot);
        assert!(
            history
                .snapshots
                .iter()
                .all(|entry| entry.parent.is_some() == (entry.message != "Repository initialized"))
        );
        assert!(
            history
                .snapshots
                .iter()
                .any(|entry| entry.changes.as_ref().is_some_and(|found| found.chunks > 0))
        );
        let facts = dataset.facts().pairs();
        assert!(
            facts.contains(&("snapshot", history.shown.clone())) && facts.contains(&("tag", "v1.0".into()))
        );
        // A time chooses the last snapshot of a branch until then.
        let shown = history.snapshots.iter().find(|entry| entry.id == history.shown).unwrap();
        let at = format!("{}#at={}", root.join(case).join("repo").display(), shown.time);
        assert_eq!(open(&at, &session).unwrap().history(false).unwrap().unwrap().shown, history.shown);
        for (fragment, words) in [
            ("#tag=withdrawn", "was deleted"),
            ("#branch=none", "no branch \"none\""),
            ("#at=2001-01-01", "no snapshot of 2001-01-01"),
            ("#snapshot=00000000000000000000", "no snapshot 00000000000000000000"),
            ("#branch=dev&tag=v1.0", "more than one"),
        ] {
            let error =
                open(&format!("{}{fragment}", root.join(case).join("repo").display()), &session).unwrap_err();
            assert!(error.message().contains(words), "{case}{fragment}: {error}");
        }
    }
    let plain = open(&root.join("single-v2/repo#mode=icechunk").display().to_string(), &session).unwrap();
    assert_eq!(plain.kind().to_string(), "netCDF-4");
    let node = NodeId::Group(plain.model().unwrap().root());
    assert!(matches!(plain.model().unwrap().attributes(node), Some(AttributeState::Known(_))));
}

/// A Python with icechunk: the one that `NCIRRUS_ICECHUNK_PYTHON` names, otherwise that of the peers.
fn icechunk_python() -> Option<PathBuf> {
    std::env::var_os("NCIRRUS_ICECHUNK_PYTHON").map(PathBuf::from).or_else(peers_python)
}

#[test]
fn a_repository_in_a_zip_file_is_read() {
    let (Some(root), Some(python)) = (corpus("icechunk"), peers_python()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let session = session_of(&[]);
    for (case, state, truth) in [
        ("single-v2", "", "truth0.json"),
        ("history-v1", "#branch=dev", "truth4.json"),
        ("history", "#tag=v1.0", "truth1.json"),
    ] {
        let repository = root.join(case).join("repo");
        let file = folder.path().join(format!("{case}.zip"));
        let names = std::fs::read_dir(&repository).unwrap().map(|entry| entry.unwrap().file_name());
        let mut zip = std::process::Command::new(&python);
        zip.args(["-m", "zipfile", "-c"]).arg(&file).args(names).current_dir(&repository);
        assert!(zip.status().unwrap().success());
        let (mut compared, mut otherwise) = (0, BTreeSet::new());
        let address = format!("{}{state}", file.display());
        let truth = json(&root.join(case).join(truth));
        let found = differences(&address, &truth, &session, &mut compared, &mut otherwise);
        assert!(found.is_empty() && compared > 0, "{address}: {found:?}");
        assert!(open(&address, &session).unwrap().history(false).unwrap().is_some());
    }
    let listed =
        ncirrus_tools::places::list(&folder.path().display().to_string(), &Default::default(), &session);
    let kinds: Vec<&str> = listed.unwrap().map(|place| place.unwrap().kind.as_str()).collect();
    assert_eq!(kinds, ["Icechunk in zip"; 3]);
}

/// The repositories of `virtual`, which icechunk makes where they are used.
#[test]
fn chunks_in_local_files_are_read() {
    let (Some(root), Some(python)) = (corpus("icechunk"), icechunk_python()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new(python)
        .arg(root.join("make_virtual.py"))
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (mut faults, mut compared, mut otherwise) = (Vec::new(), 0, BTreeSet::new());
    let made = cases(folder.path());
    assert_eq!(made.len(), 9);
    for (case, about) in made {
        let repo = case.join("repo").display().to_string();
        let prefix = format!("file://{}/data/", case.display());
        let denied = open(&repo, &session_of(&[])).unwrap();
        let first: ncirrus::Result<Vec<_>> = denied.variables().iter().map(values).collect();
        assert_eq!(first.unwrap_err().kind(), ErrorKind::Denied, "{repo}");
        let session = session_of(&[(prefix, ContainerRule::Allow)]);
        if about["expect"] == "ok" {
            let truth = json(&case.join("truth0.json"));
            faults.extend(differences(&repo, &truth, &session, &mut compared, &mut otherwise));
        } else {
            let dataset = open(&repo, &session).unwrap();
            let read: ncirrus::Result<Vec<_>> = dataset.variables().iter().map(values).collect();
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Changed, "{repo}");
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared > 20, "{compared}");
}
