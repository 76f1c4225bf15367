//! Files of every program, and what other programs read in them.
use super::edits::{Edit, apply};
use ncirrus_engine::{Dataset, Session};
use ncirrus_hdf5::{Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, ObjectId, OpenOptions, Result, Writing};
use ncirrus_model::{Model, Selection};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store};
use ncirrus_testkit::corpus::peers_python;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

pub(crate) struct Bench {
    pub(crate) session: Session,
    pub(crate) python: std::path::PathBuf,
    pub(crate) folder: tempfile::TempDir,
}

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5_updates/peers.py")
}

impl Bench {
    pub(crate) fn new() -> Option<Self> {
        let session = Session::builder().threads(2).durable(false).build().unwrap();
        Some(Self { session, python: peers_python()?, folder: tempfile::tempdir().unwrap() })
    }

    pub(crate) fn python(&self, arguments: &[&str]) -> (bool, String) {
        let done = Command::new(&self.python).arg(script()).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        (done.status.success(), text + &String::from_utf8_lossy(&done.stderr))
    }

    pub(crate) fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// The files of all programs.
    pub(crate) fn made(&self) -> Vec<(String, MemoryStore)> {
        let (fine, text) = self.python(&["make", self.folder()]);
        assert!(fine, "{text}");
        let named = text.lines().map(|name| {
            let bytes = std::fs::read(self.folder.path().join(format!("{name}.nc"))).unwrap();
            let memory = MemoryStore::new("memory://updates");
            LocalStore::put(&memory, &root(&memory), &bytes, &PutCondition::None).unwrap();
            (name.to_owned(), memory)
        });
        let mut all: Vec<_> = named.collect();
        let ours = self.ours(&all[0].1);
        all.push(("ours".to_owned(), ours));
        all
    }

    /// The same contents as one of them, written here.
    pub(crate) fn ours(&self, of: &MemoryStore) -> MemoryStore {
        let memory = MemoryStore::new("memory://updates");
        let from = self.open(of.shared()).unwrap();
        let done: Result<()> = self.session.block_on(async {
            let writing: Arc<dyn Writing> = Arc::new(Hdf5Writer::default());
            let writer = self.session.create(memory.shared(), root(&memory), writing).await?;
            let nodes = from.model().nodes();
            let attributes = from.attributes(&nodes).await;
            let mut model = Model::clone(&from.model());
            for (node, attributes) in nodes.into_iter().zip(attributes) {
                *model.attributes_mut(node).unwrap().known_mut() = attributes?;
            }
            writer
                .edit(|to| {
                    *to = model;
                    Ok(())
                })
                .await?;
            for var in from.model().variables() {
                if from.model().variable_path(var) != "/empty" {
                    let all = Selection::all(&from.model().shape(var));
                    writer.write(var, &all, &from.read(var, &all).await?).await?;
                }
            }
            writer.close().await
        });
        done.unwrap();
        memory
    }

    pub(crate) fn open(&self, store: Arc<dyn Store>) -> Result<Dataset> {
        let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
        let root = ObjectId::new(store.id().clone(), "data".to_owned());
        self.session.block_on(self.session.open(store, root, &drivers, &OpenOptions::default()))
    }

    pub(crate) fn update(&self, store: Arc<dyn Store>, edits: &[Edit], syncs: bool) -> Result<()> {
        let dataset = self.open(store)?;
        self.session.block_on(async {
            let writer = self.session.update(&dataset).await?;
            for edit in edits {
                apply(&writer, *edit, syncs).await?;
            }
            writer.close().await
        })
    }

    pub(crate) fn save(&self, memory: &MemoryStore, name: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes_of(memory)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

pub(crate) fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

pub(crate) fn bytes_of(memory: &MemoryStore) -> Vec<u8> {
    memory.read(&root(memory), &ncirrus_layout::Want::All).unwrap().unwrap().bytes.to_vec()
}
