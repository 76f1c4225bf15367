//! A random program: a dataset is created, changed and copied, in parallel with an oracle.
use super::compare;
use super::forms::{FORMS, Form};
use super::made;
use super::oracle::{Attr, Dim, Oracle, identical, join, put, split};
use ncirrus::{Atomic, Attribute, CodecSpec, Dataset, DimensionLen, Error, OpenOptions, Session, Storage};
use ncirrus_testkit::law::RandomSource;
use ncirrus_tools::{ChunkRule, CopyOptions, FilterRule, Filters, copy};
use std::path::{Path, PathBuf};

/// A program that runs.
pub(crate) struct Program<'a> {
    pub(crate) random: RandomSource,
    pub(crate) oracle: Oracle,
    pub(crate) form: Form,
    pub(crate) path: PathBuf,
    /// The steps so far, for finding the fault.
    pub(crate) log: Vec<String>,
    dataset: Option<Dataset>,
    folder: &'a Path,
    session: &'a Session,
    /// Counter for unique names.
    names: usize,
    /// Whether consolidated metadata were requested.
    pub(crate) consolidated: bool,
    /// Names that are free only after the removal of their former owners was synced (`docs/formats/zarr-writing.md`,
    /// "Order of a commit").
    freed: Vec<String>,
    /// Whether the dataset was created by this handle and never closed.
    is_new: bool,
}

type Done = Result<(), String>;

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn reported(error: Error) -> String {
    format!("{error:?}")
}

impl<'a> Program<'a> {
    pub(crate) fn new(seed: u64, folder: &'a Path, session: &'a Session) -> Self {
        let mut random = RandomSource(seed);
        let form = FORMS[made::below(&mut random, FORMS.len())];
        let (oracle, path) = (Oracle::default(), PathBuf::new());
        let log = Vec::new();
        Self {
            random,
            oracle,
            form,
            path,
            log,
            dataset: None,
            folder,
            session,
            names: 0,
            consolidated: true,
            freed: Vec::new(),
            is_new: true,
        }
    }

    /// Creates the dataset and changes it; at the end it is closed.
    pub(crate) fn run(&mut self, seed: u64) -> Done {
        self.path = self.folder.join(format!("{seed}-0{}", self.form.ending));
        let options = self.form.create(&mut self.random);
        self.consolidated = options.consolidated;
        self.log.push(format!("create {} {options:?}", self.form.name));
        self.dataset = Some(Dataset::create_with(&self.url(), &options, self.session).map_err(reported)?);
        for _ in 0..1 + self.below(3) {
            self.add_dimension()?;
        }
        for _ in 0..1 + self.below(3) {
            self.add_variable()?;
        }
        for step in 0..2 + self.below(10) {
            self.step(seed, step)?;
        }
        self.close()?;
        compare::whole(&self.open()?, &self.oracle)
    }

    fn step(&mut self, seed: u64, step: usize) -> Done {
        match self.below(16) {
            0..6 => self.write()?,
            6 => self.add_variable()?,
            7 => self.set_attribute()?,
            8 => self.remove_attribute()?,
            9 => self.rename_variable()?,
            10 => self.remove_variable()?,
            11 => self.add_dimension()?,
            12 => self.sync()?,
            13 => self.reopen()?,
            14 => self.rename_dimension()?,
            _ => self.copy(seed, step)?,
        }
        self.look()
    }

    fn below(&mut self, limit: usize) -> usize {
        made::below(&mut self.random, limit)
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn url(&self) -> String {
        self.path.to_str().unwrap().to_owned()
    }

    fn dataset(&self) -> &Dataset {
        self.dataset.as_ref().unwrap()
    }

    pub(crate) fn open(&self) -> Result<Dataset, String> {
        Dataset::open_with(&self.url(), &OpenOptions::default(), self.session).map_err(reported)
    }

    fn is_free(&self, path: &String) -> bool {
        self.oracle.is_free(path) && !self.freed.contains(path)
    }

    fn fresh(&mut self, start: &str) -> String {
        self.names += 1;
        let odd = ["", "", "", "_ü", ".b", "-c", " d", "+e"][self.below(8)];
        // The second name of a dimension must differ from the first one.
        format!("{start}{}{odd}", self.names)
    }

    /// The root, or a group of the dataset, which is created if necessary.
    fn home(&mut self) -> Result<String, String> {
        if self.form.is_classic_model() || !self.one_in(4) {
            return Ok("/".into());
        }
        if self.oracle.groups.is_empty() {
            let name = self.fresh("g");
            self.log.push(format!("group {name:?}"));
            self.dataset().root().add_group(&name).map_err(reported)?;
            self.oracle.groups.push(join("/", &name));
        }
        Ok(self.oracle.groups[0].clone())
    }

    fn add_dimension(&mut self) -> Done {
        let home = self.home()?;
        let name = self.fresh("d");
        let may_grow = self.form.grows
            && (!self.form.is_classic_model() || self.oracle.dims.iter().flatten().all(|dim| !dim.unlimited));
        let unlimited = may_grow && self.one_in(2);
        let len = if unlimited { 0 } else { 1 + self.below(6) as u64 };
        self.log.push(format!("dimension {home} {name:?} {len} unlimited={unlimited}"));
        let group = self.dataset().group(&home).map_err(reported)?;
        let dim_len = if unlimited { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(len) };
        group.add_dimension(&name, dim_len).map_err(reported)?;
        self.oracle.dims.push(Some(Dim { path: join(&home, &name), len, unlimited }));
        Ok(())
    }

    fn add_variable(&mut self) -> Done {
        let home = self.home()?;
        let dims = self.some_dims(&home);
        let first = dims.first().map(|at| self.oracle.dim(*at).path.clone());
        let coordinate = first.filter(|path| split(path).0 == home && dims.len() == 1);
        let name = match coordinate {
            Some(path) if self.is_free(&path) && self.one_in(2) => split(&path).1.to_owned(),
            _ => self.fresh("v"),
        };
        let types = self.form.types();
        let ty = types[self.below(types.len())];
        let is_filled = ty != Atomic::String && self.one_in(3);
        let fill = is_filled.then(|| made::spelled(&mut self.random, ty, 1));
        let (storage, filters) = self.storage(ty, &dims);
        self.log.push(format!(
            "variable {home} {name:?} {} {:?} fill {fill:?} {storage:?} {filters:?}",
            ty.name(),
            dims.iter().map(|at| &self.oracle.dim(*at).path).collect::<Vec<_>>()
        ));
        let names: Vec<String> =
            dims.iter().map(|at| split(&self.oracle.dim(*at).path).1.to_owned()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let group = self.dataset().group(&home).map_err(reported)?;
        let variable = group.add_variable(&name, ty, &names).map_err(reported)?;
        if let Some(fill) = &fill {
            variable.set_fill(fill.clone()).map_err(reported)?;
        }
        if !self.form.kind.is_classic() {
            variable.set_storage(storage, filters).map_err(reported)?;
        }
        self.oracle.add_var(join(&home, &name), ty, dims, fill);
        Ok(())
    }

    /// Up to three dimensions that a variable may have.
    fn some_dims(&mut self, home: &str) -> Vec<usize> {
        let visible = self.oracle.visible(home);
        let mut dims: Vec<usize> = Vec::new();
        for _ in 0..self.below(4) {
            let at = visible.get(self.below(visible.len().max(1))).copied();
            let is_new = |at: &usize| !dims.contains(at) || self.oracle.dim(*at).len > 1;
            dims.extend(at.filter(is_new));
        }
        if self.form.is_classic_model() {
            // Growing dimensions come first, and only once.
            dims.sort_by_key(|at| !self.oracle.dim(*at).unlimited);
            dims.dedup_by_key(|at| (self.oracle.dim(*at).unlimited, *at));
        }
        dims
    }

    fn storage(&mut self, ty: Atomic, dims: &[usize]) -> (Storage, Vec<CodecSpec>) {
        if dims.is_empty() || self.one_in(4) {
            return (Storage::Default, Vec::new());
        }
        let dims: Vec<Dim> = dims.iter().map(|at| self.oracle.dim(*at).clone()).collect();
        if self.form.is_hdf5() && dims.iter().all(|dim| !dim.unlimited) && self.one_in(4) {
            let compact = ty != Atomic::String && self.one_in(2);
            return (if compact { Storage::Compact } else { Storage::Contiguous }, Vec::new());
        }
        let max = |dim: &Dim| if dim.unlimited { 4 } else { dim.len };
        let chunk = dims.iter().map(|dim| 1 + self.random.below(max(dim))).collect();
        let filters = if ty == Atomic::String { Vec::new() } else { made::filters(&mut self.random) };
        (Storage::Chunked(chunk), filters)
    }

    fn some_var(&mut self) -> Option<usize> {
        let count = self.oracle.vars.len();
        (count > 0).then(|| self.below(count))
    }

    fn write(&mut self) -> Done {
        let Some(at) = self.some_var() else { return Ok(()) };
        let var = &self.oracle.vars[at];
        let (path, ty) = (var.path.clone(), var.ty);
        let dims: Vec<Dim> = var.dims.iter().map(|at| self.oracle.dim(*at).clone()).collect();
        let selection = made::selection(&mut self.random, &dims, true);
        let count = usize::try_from(selection.element_count().unwrap()).unwrap();
        let values = made::values(&mut self.random, ty, count);
        self.log.push(format!("write {path:?} {selection:?} {values:?}"));
        let variable = self.dataset().variable(&path).map_err(reported)?;
        variable.write_values(&selection, &values).map_err(reported)?;
        if count > 0 {
            self.oracle.write(at, &selection, &values);
        }
        Ok(())
    }

    fn set_attribute(&mut self) -> Done {
        let types = self.form.types();
        let ty = types[self.below(types.len())];
        let count = 1 + self.below(3);
        let name = ["title", "units", "a b", "numbers"][self.below(4)];
        let attribute = match ty {
            Atomic::Char => Attribute::text(name, &made::word(&mut self.random)),
            ty => Attribute::atomic(name, made::spelled(&mut self.random, ty, count)),
        };
        let var = if self.one_in(3) { None } else { self.some_var() };
        let path = var.map_or("/", |at| &self.oracle.vars[at].path).to_owned();
        self.log.push(format!("attribute {path:?} {attribute:?}"));
        match var {
            Some(at) => {
                let variable = self.dataset().variable(&path).map_err(reported)?;
                variable.set_attribute(attribute.clone()).map_err(reported)?;
                put(&mut self.oracle.vars[at].attributes, attribute);
            }
            None => {
                self.dataset().root().set_attribute(attribute.clone()).map_err(reported)?;
                put(&mut self.oracle.attributes, attribute);
            }
        }
        Ok(())
    }

    fn remove_attribute(&mut self) -> Done {
        let Some(at) = self.some_var() else { return Ok(()) };
        let var = &mut self.oracle.vars[at];
        let is_plain = |attr: &Attr| attr.attribute.name != "_FillValue";
        let Some(which) = var.attributes.iter().position(is_plain) else { return Ok(()) };
        let name = var.attributes.remove(which).attribute.name;
        let path = var.path.clone();
        self.log.push(format!("remove attribute {path:?} {name:?}"));
        self.dataset().variable(&path).map_err(reported)?.remove_attribute(&name).map_err(reported).map(drop)
    }

    fn rename_variable(&mut self) -> Done {
        let Some(at) = self.some_var() else { return Ok(()) };
        let path = self.oracle.vars[at].path.clone();
        let home = split(&path).0.to_owned();
        let dims = self.oracle.visible(&home);
        let dim = dims.get(self.below(dims.len().max(1))).map(|at| self.oracle.dim(*at).path.clone());
        let new = match dim.filter(|dim| split(dim).0 == home && self.is_free(dim)) {
            Some(dim) if self.one_in(3) => dim,
            _ => join(&home, &self.fresh("r")),
        };
        self.log.push(format!("rename {path:?} to {new:?}"));
        self.dataset().variable(&path).map_err(reported)?.rename(split(&new).1).map_err(reported)?;
        self.oracle.vars[at].path = new;
        self.freed.push(path);
        Ok(())
    }

    fn remove_variable(&mut self) -> Done {
        let Some(at) = self.some_var().filter(|_| self.oracle.vars.len() > 1) else { return Ok(()) };
        let path = self.oracle.vars.remove(at).path;
        self.log.push(format!("remove {path:?}"));
        let dataset = self.dataset();
        let id = dataset.variable(&path).map_err(reported)?.id();
        dataset.edit(|model| Ok(model.remove_variable(id).map(drop)?)).map_err(reported)?;
        self.freed.push(path);
        Ok(())
    }

    fn rename_dimension(&mut self) -> Done {
        let live: Vec<usize> =
            (0..self.oracle.dims.len()).filter(|at| self.oracle.dims[*at].is_some()).collect();
        let Some(at) = live.get(self.below(live.len().max(1))).copied() else { return Ok(()) };
        let old = self.oracle.dim(at).path.clone();
        let new = join(split(&old).0, &self.fresh("n"));
        self.log.push(format!("rename dimension {old:?} to {new:?}"));
        self.dataset()
            .edit(|model| {
                let id = model.dimension_at(&old).ok_or_else(|| Error::not_found("no such dimension"))?;
                Ok(model.rename_dimension(id, split(&new).1)?)
            })
            .map_err(reported)?;
        self.oracle.dims[at].as_mut().unwrap().path = new;
        Ok(())
    }

    fn sync(&mut self) -> Done {
        if self.is_new {
            return self.reopen();
        }
        self.log.push("sync".into());
        self.dataset().sync().map_err(reported)?;
        self.freed.clear();
        // A zip is a single file that is replaced at the end.
        if self.form.ending == ".zip" { Ok(()) } else { compare::whole(&self.open()?, &self.as_stored()) }
    }

    /// The dataset as another reader sees it.
    fn as_stored(&self) -> Oracle {
        let mut oracle = self.oracle.clone();
        if !self.form.is_netcdf {
            oracle.lose_homes();
            oracle.loosen();
        }
        oracle
    }

    fn close(&mut self) -> Done {
        let closed = self.dataset.take().map_or(Ok(()), Dataset::close);
        self.oracle = self.as_stored();
        self.is_new = false;
        self.freed.clear();
        closed.map_err(reported)
    }

    fn reopen(&mut self) -> Done {
        self.log.push("close, open, compare, open for change".into());
        self.close()?;
        compare::whole(&self.open()?, &self.oracle)?;
        self.update()
    }

    fn update(&mut self) -> Done {
        let dataset = Dataset::update_with(&self.url(), &OpenOptions::default(), self.session);
        self.dataset = Some(dataset.map_err(reported)?);
        Ok(())
    }

    /// Continues with a copy of another kind.
    fn copy(&mut self, seed: u64, step: usize) -> Done {
        let forms: Vec<Form> = FORMS.into_iter().filter(|form| form.holds(&self.as_stored())).collect();
        if forms.is_empty() {
            return Ok(());
        }
        self.close()?;
        let form = forms[self.below(forms.len())];
        let grown = self.oracle.dims.iter().flatten().all(|dim| !dim.unlimited || dim.len > 0);
        let filters = match self.below(4) {
            0 => Filters::Remove,
            1 => Filters::Replace(made::filters(&mut self.random)),
            _ => Filters::Keep,
        };
        let filter_rules = if self.one_in(4) && !form.kind.is_classic() {
            vec![FilterRule::parse(made::rule(&mut self.random)).map_err(reported)?]
        } else {
            Vec::new()
        };
        let options = CopyOptions::new()
            .create(form.create(&mut self.random))
            .chunks(self.chunk_rules(form))
            .filters(if form.kind.is_classic() { Filters::Keep } else { filters })
            .filter_rules(filter_rules)
            .drop_filters(true)
            .fix_unlimited(grown && self.one_in(4));
        self.log.push(format!(
            "copy to {} {:?} {:?} {:?} {:?} fixed={}",
            form.name,
            options.create,
            options.chunks,
            options.filters,
            options.filter_rules,
            options.fix_unlimited
        ));
        let source = self.open()?;
        self.path = self.folder.join(format!("{seed}-{}{}", step + 1, form.ending));
        self.form = form;
        self.consolidated = options.create.consolidated;
        copy(&source, &self.url(), &options, self.session).map_err(reported)?;
        if options.fix_unlimited || !form.grows {
            self.oracle.fix_dims();
        }
        self.oracle = self.as_stored();
        compare::whole(&self.open()?, &self.oracle)?;
        self.update()
    }

    fn chunk_rules(&mut self, form: Form) -> Vec<ChunkRule> {
        if form.kind.is_classic() || self.one_in(2) {
            return Vec::new();
        }
        let dims: Vec<String> =
            self.oracle.dims.iter().flatten().map(|dim| split(&dim.path).1.to_owned()).collect();
        let rule = dims.into_iter().map(|name| (name, Some(1 + self.random.below(4)))).collect();
        vec![ChunkRule::Dimensions(rule)]
    }

    /// Reads a part of a variable through the handle that writes.
    fn look(&mut self) -> Done {
        let Some(at) = self.some_var() else { return Ok(()) };
        let var = &self.oracle.vars[at];
        let dims: Vec<Dim> = var.dims.iter().map(|at| self.oracle.dim(*at).clone()).collect();
        let selection = made::selection(&mut self.random, &dims, false);
        let var = &self.oracle.vars[at];
        let variable = self.dataset().variable(&var.path).map_err(reported)?;
        let got = variable.values(&selection).map_err(|error| format!("looking: {error:?}"))?;
        let expected = self.oracle.read(at, &selection);
        if identical(&expected, &got) {
            return Ok(());
        }
        Err(format!("looking at {:?} {selection:?}: expected {expected:?}, got {got:?}", var.path))
    }
}
