//! A model in the form that a classic file can represent: one group, at most one unlimited dimension, types of the
//! variant. Anything else is an error that names the member.
use crate::FormatVersion;
use crate::geometry::{SlabSize, padded, slab};
use crate::order::{element_of, to_big_endian};
use ncirrus_layout::{Detail, Error, Result, StoredType};
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, DimId, DimensionLen, FileRoom, Fill, Model, TypeId,
    TypeRef, Values, VarId, Variable, check_name,
};
use std::collections::{HashMap, HashSet};

/// A model that fits the format.
#[derive(Debug)]
pub(crate) struct FittedModel {
    pub(crate) version: FormatVersion,
    /// Current number of records.
    pub(crate) records: u64,
    /// Names and lengths; 0 is the length of the record dimension.
    pub(crate) dims: Vec<(String, u64)>,
    pub(crate) attributes: Attributes,
    /// Variables in definition order.
    pub(crate) vars: Vec<VariableDefinition>,
    /// Where the parts of the file begin, if that was set.
    pub(crate) room: Option<FileRoom>,
    pub(crate) index: HashMap<VarId, usize>,
    /// Numbers of the dimensions.
    pub(crate) numbers: HashMap<DimId, u64>,
    /// The unlimited dimension.
    pub(crate) record: Option<DimId>,
    /// How many variables have records.
    pub(crate) record_vars: usize,
    /// Bytes of the header. Where attributes were replaced without a look at the whole model, there may be fewer.
    pub(crate) header_len: u64,
    /// Bytes of all variables, each of them padded, with one record.
    pub(crate) padded_len: u64,
}

/// A variable that fits the format.
#[derive(Debug)]
pub(crate) struct VariableDefinition {
    pub(crate) id: VarId,
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) ty: Atomic,
    /// Numbers of its dimensions.
    pub(crate) dims: Vec<u64>,
    pub(crate) attributes: Attributes,
    pub(crate) is_record: bool,
    /// Lengths of its axes, without the record axis.
    pub(crate) shape: Vec<u64>,
    /// Number of its elements, or those of one record.
    pub(crate) slab: SlabSize,
    pub(crate) stored: StoredType,
    pub(crate) fill: Values,
    /// Whether chunks that were never written are filled.
    pub(crate) is_filled: bool,
}

impl FittedModel {
    /// Checks a model. The length of the header is not known yet: [`crate::encode::fitted`] adds it.
    ///
    /// # Errors
    /// `Unsupported`, `Invalid` or `Limit` naming the first member that the variant cannot represent.
    pub(crate) fn new(version: FormatVersion, model: &Model) -> Result<Self> {
        refuse_groups_and_types(version, model)?;
        let root = model.group(model.root()).ok_or_else(|| Error::internal("a model without a root"))?;
        let (dims, numbers, record) = dimensions(version, model, &root.dims)?;
        let attributes = known(version, &root.attributes, "/")?;
        let scope = ModelScope { version, model, numbers: &numbers, record };
        let vars = root.vars.iter().map(|id| scope.variable(*id)).collect::<Result<Vec<_>>>()?;
        unique(vars.iter().map(|var| var.name.as_str()), "variables")?;
        let records = record.and_then(|dim| model.dimension(dim)).map_or(0, |dim| dim.len.current());
        if records > version.max_records() {
            let (name, max) = (version.name(), version.max_records());
            return Err(Error::limit(format!("{records} records, more than the {max} of {name}")));
        }
        let index = vars.iter().enumerate().map(|(at, var)| (var.id, at)).collect();
        // There is room only before variables.
        let room = model.room().map(|room| {
            if vars.is_empty() { FileRoom { max_len: room.max_len, ..FileRoom::default() } } else { room }
        });
        let record_vars = vars.iter().filter(|var| var.is_record).count();
        let lens = vars.iter().map(|var| var.padded_len().unwrap_or(u64::MAX));
        let padded_len = lens.fold(0, u64::saturating_add);
        let definition = Self {
            version,
            records,
            dims,
            attributes,
            vars,
            room,
            index,
            numbers,
            record,
            record_vars,
            header_len: 0,
            padded_len,
        };
        definition.check_sizes()?;
        Ok(definition)
    }

    /// The variable of that id.
    pub(crate) fn var(&self, id: VarId) -> Result<&VariableDefinition> {
        let found = self.index.get(&id).and_then(|at| self.vars.get(*at));
        found.ok_or_else(|| Error::not_found("the variable is not defined in the file"))
    }

    /// The variables that have records, or those that have none.
    pub(crate) fn part(&self, is_record: bool) -> impl Iterator<Item = &VariableDefinition> {
        self.vars.iter().filter(move |var| var.is_record == is_record)
    }

    /// Only the last variable may be too large for the variant, and only if no other's position depends on its size
    /// (Users Guide, "Large File Support").
    fn check_sizes(&self) -> Result<()> {
        let has_records = self.part(true).next().is_some();
        for is_record in [false, true] {
            let count = self.part(is_record).count();
            for (at, var) in self.part(is_record).enumerate() {
                let may_be_large =
                    self.version != FormatVersion::Data64 && at + 1 == count && (is_record || !has_records);
                let (len, max) = (var.slab.byte_len, self.version.max_size());
                if len > max && !may_be_large {
                    let what = if is_record { "a record of it has" } else { "it has" };
                    let kind = self.version.format();
                    let message = format!("{what} {len} bytes, more than the {max} of kind {kind}");
                    return Err(Error::limit(message).at_path(&var.path).by("classic"));
                }
            }
        }
        Ok(())
    }
}

impl VariableDefinition {
    /// Size of its slab including the padding after it.
    pub(crate) fn padded_len(&self) -> Result<u64> {
        padded(self.slab.byte_len).ok_or_else(|| too_large(&self.path))
    }

    /// The fill value as it is stored.
    ///
    /// # Errors
    /// If its type does not exist in classic files.
    pub(crate) fn fill_bytes(&self) -> Result<Vec<u8>> {
        to_big_endian(&self.fill)
    }
}

/// Checks the references of a model's variables.
pub(crate) struct ModelScope<'a> {
    pub(crate) version: FormatVersion,
    pub(crate) model: &'a Model,
    pub(crate) numbers: &'a HashMap<DimId, u64>,
    pub(crate) record: Option<DimId>,
}

impl ModelScope<'_> {
    /// A variable of the model.
    ///
    /// # Errors
    /// What the variant cannot represent.
    pub(crate) fn variable(&self, id: VarId) -> Result<VariableDefinition> {
        let path = self.model.variable_path(id);
        let variable = self.model.variable(id).ok_or_else(|| Error::internal("a variable without entry"))?;
        if let Some(fault) = &variable.fault {
            return Err(Error::from(fault.clone()).at_path(path));
        }
        let name = name_of(&variable.name, &path)?;
        let ty = atomic_of(self.version, variable.ty, "variable").map_err(|error| error.at_path(&path))?;
        let is_record = variable.dims.first().is_some_and(|dim| Some(*dim) == self.record);
        let shape = self.inner_shape(variable, is_record).map_err(|error| error.at_path(&path))?;
        let slab = slab(ty, &shape).ok_or_else(|| too_large(&path))?;
        let (stored, fill) = element_of(variable).ok_or_else(|| Error::internal("a type without bytes"))?;
        let mut attributes = known(self.version, &variable.attributes, &path)?;
        if let (Fill::Apart(own), None) = (&variable.fill, attributes.find("_FillValue")) {
            attributes.put(Attribute {
                name: "_FillValue".to_owned(),
                ty: variable.ty,
                values: own.clone(),
                is_json: false,
            });
        }
        let dims = variable.dims.iter().filter_map(|dim| self.numbers.get(dim).copied()).collect();
        let is_filled = variable.is_filled();
        Ok(VariableDefinition {
            id,
            name,
            path,
            ty,
            dims,
            attributes,
            is_record,
            shape,
            slab,
            stored,
            fill,
            is_filled,
        })
    }

    fn inner_shape(&self, variable: &Variable, is_record: bool) -> Result<Vec<u64>> {
        if variable.rank() > MAX_RANK {
            let rank = variable.rank();
            return Err(Error::limit(format!("{rank} dimensions, more than the {MAX_RANK} of netCDF-3")));
        }
        let inner = variable.dims.get(usize::from(is_record)..).unwrap_or_default();
        let len = |dim: &DimId| {
            if Some(*dim) == self.record {
                let name = self.model.dimension_path(*dim);
                let message =
                    format!("the unlimited dimension {name} is not its first, as netCDF-3 requires");
                return Err(beyond(message));
            }
            let known = self.numbers.contains_key(dim).then(|| self.model.dimension(*dim)).flatten();
            let dimension = known.ok_or_else(|| Error::invalid("it has a dimension that does not exist"))?;
            Ok(dimension.len.current())
        };
        inner.iter().map(len).collect()
    }
}

fn refuse_groups_and_types(version: FormatVersion, model: &Model) -> Result<()> {
    let groups = model.walk();
    if let Some(group) = groups.get(1) {
        let message = format!("a file of kind {} has no groups", version.format());
        return Err(beyond(message).at_path(model.group_path(*group)).by("classic"));
    }
    let ty = model.group(model.root()).and_then(|root| root.types.first());
    ty.map_or(Ok(()), |ty| {
        let message = format!("a file of kind {} has no user-defined types", version.format());
        // Readers define types of their own, such as that of complex numbers: the variable is what users know.
        let is_of =
            |var: &VarId| model.variable(*var).is_some_and(|variable| variable.ty == TypeRef::User(*ty));
        let error = match model.variables().into_iter().find(is_of) {
            Some(var) => beyond(format!("a variable of type {}; {message}", type_name(model, *ty)))
                .at_path(model.variable_path(var)),
            None => beyond(message).at_path(model.type_path(*ty)),
        };
        Err(error.by("classic"))
    })
}

/// The name of a type; that of complex numbers says so.
fn type_name(model: &Model, ty: TypeId) -> String {
    let name = model.user_type(ty).map(|ty| ty.name.clone()).unwrap_or_default();
    if name.starts_with("_Complex") { format!("{name} (complex numbers)") } else { name }
}

/// Names and lengths of the dimensions, their numbers, and the unlimited one.
type DimensionTable = (Vec<(String, u64)>, HashMap<DimId, u64>, Option<DimId>);

fn dimensions(version: FormatVersion, model: &Model, ids: &[DimId]) -> Result<DimensionTable> {
    let mut record = None;
    let mut dims = Vec::with_capacity(ids.len());
    let mut numbers = HashMap::new();
    for id in ids {
        let path = model.dimension_path(*id);
        let dimension = model.dimension(*id).ok_or_else(|| Error::internal("a dimension without entry"))?;
        let len = match dimension.len {
            DimensionLen::Fixed(len) => fixed_len(version, len).map_err(|error| error.at_path(&path))?,
            DimensionLen::Unlimited(_) => {
                if let Some(first) = record.replace(*id) {
                    let first = model.dimension_path(first);
                    let message = format!("a second unlimited dimension beside {first}; netCDF-3 has one");
                    return Err(beyond(message).at_path(path).by("classic"));
                }
                0
            }
        };
        numbers.insert(*id, dims.len() as u64);
        dims.push((name_of(&dimension.name, &path)?, len));
    }
    unique(dims.iter().map(|(name, _)| name.as_str()), "dimensions")?;
    Ok((dims, numbers, record))
}

pub(crate) fn fixed_len(version: FormatVersion, len: u64) -> Result<u64> {
    let max = version.max_size();
    match len {
        0 => Err(beyond("a fixed dimension of length 0, which marks the unlimited one in netCDF-3")),
        len if len > max => {
            let kind = version.format();
            Err(Error::limit(format!("a dimension of length {len}, more than the {max} of kind {kind}")))
        }
        len => Ok(len),
    }
}

/// The attributes of a group or variable, each checked.
pub(crate) fn known(version: FormatVersion, state: &AttributeState, path: &str) -> Result<Attributes> {
    let attributes = match state {
        AttributeState::Known(attributes) => attributes.clone(),
        AttributeState::Damaged(fault) => return Err(Error::from(fault.clone()).at_path(path)),
        AttributeState::Pending => return Err(Error::internal("attributes that were not read").at_path(path)),
    };
    if let Some((name, fault)) = attributes.faults.first() {
        let error = Error::from(fault.clone());
        return Err(error.reworded(|fact| format!("attribute {name:?}: {fact}")).at_path(path));
    }
    attributes.iter().try_for_each(|attribute| check_attribute(version, attribute, path))?;
    Ok(attributes)
}

/// Checks an attribute of the group or variable of that path.
///
/// # Errors
/// What the variant cannot represent.
pub(crate) fn check_attribute(version: FormatVersion, attribute: &Attribute, path: &str) -> Result<()> {
    let named = |error: Error| {
        let error = error.reworded(|fact| format!("attribute {:?}: {fact}", attribute.name));
        error.at_path(path).by("classic")
    };
    name_of(&attribute.name, path)?;
    let ty = atomic_of(version, attribute.ty, "value").map_err(named)?;
    if attribute.values.atomic() != Some(ty) {
        return Err(named(Error::invalid(format!("its values are not of its type {}", ty.name()))));
    }
    if attribute.values.len() as u64 > version.max_count() {
        return Err(named(Error::limit(format!("{} values are too many", attribute.values.len()))));
    }
    Ok(())
}

fn atomic_of(version: FormatVersion, ty: TypeRef, what: &str) -> Result<Atomic> {
    let TypeRef::Atomic(atomic) = ty else {
        return Err(beyond(format!("a {what} of a user-defined type; netCDF-3 has none")));
    };
    if version.holds(atomic) {
        return Ok(atomic);
    }
    let (kind, name) = (version.format(), atomic.name());
    let holder =
        if FormatVersion::Data64.holds(atomic) { "kind cdf5 has it" } else { "no kind of netCDF-3 has it" };
    Err(beyond(format!("a {what} of type {name}, which kind {kind} does not have; {holder}")).by("classic"))
}

/// The error for members that this format does not have.
fn beyond(message: impl Into<String>) -> Error {
    Error::unsupported(message).with_detail(Detail::BeyondClassic)
}

pub(crate) fn name_of(name: &str, path: &str) -> Result<String> {
    check_name(name).map_err(|error| Error::from(error).at_path(path).by("classic"))
}

fn unique<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::invalid(format!("two {what} are named {name:?}")).by("classic"));
        }
    }
    Ok(())
}

pub(crate) fn too_large(path: &str) -> Error {
    Error::limit("its size does not fit 64 bits").at_path(path).by("classic")
}

/// `NC_MAX_VAR_DIMS`.
const MAX_RANK: usize = 1024;
