//! Files that become an aggregation: what each of them contributes, and how it differs from the first.
use super::fills::{NumberRange, VariableNumbers, missing_numbers};
use super::shape::{FirstFile, FirstVariable, VariableRole, known, unpacked};
use super::units::conversion;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Atomic, Attributes, Dataset, Error, OpenOptions, Result, Selection, Session, TypeRef, Values};
use ncirrus_aggregate::write::FragmentArray;
use ncirrus_model::{Attribute, DimId, ExactNumber, Field, Model, NodeId, UserKind, VarId};
use ncirrus_netcdf_view::formats;
use ncirrus_store::Url;
use ncirrus_units::NumberConversion;
use std::collections::{BTreeMap, BTreeSet};

/// What is known about a file.
#[derive(Default)]
pub(super) struct FilePart {
    pub(super) url: String,
    /// Format as S3netCDF4 names it.
    pub(super) format: &'static str,
    /// Lengths of the axes.
    pub(super) lens: Vec<u64>,
    /// Coordinates of the axes, in the first file's units.
    pub(super) coordinates: Vec<Option<Vec<ExactNumber>>>,
    /// Values of the collected variables, in the first file's units.
    pub(super) collected: Vec<Values>,
    /// The attribute `Conventions`.
    pub(super) conventions: String,
    /// Attributes, by path and name, that differ from the first file's.
    pub(super) differing: BTreeSet<(String, String)>,
    /// Indices of the variables whose packing differs from the first file's.
    pub(super) repacked: BTreeSet<usize>,
    /// Indices of the variables with a data value that is missing in the first file, and the value.
    pub(super) clashes: BTreeMap<usize, ExactNumber>,
    /// Why it does not match the first file.
    pub(super) problems: Vec<String>,
    /// Paths of the variables that the first file does not have.
    pub(super) strange: Vec<String>,
    /// For a part of the existing aggregation: its fragments here, by the indices of their variables. Otherwise the
    /// part is a file, and itself one fragment.
    pub(super) fragments: Option<BTreeMap<usize, FragmentArray>>,
}

/// Attributes that may differ between files: values are converted to the master's.
const CONVERTED: [&str; 5] = ["_FillValue", "missing_value", "units", "calendar", "actual_range"];
const PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];
/// Attributes that define the meaning of values.
const MEANING: [&str; 8] = [
    "standard_name",
    "cell_methods",
    "grid_mapping",
    "positive",
    "formula_terms",
    "flag_values",
    "flag_masks",
    "flag_meanings",
];

/// The address of a dataset; of one that a server computes, with its protocol, so that it is not searched for again.
fn with_protocol(url: &str, dataset: &Dataset) -> String {
    let stored = dataset.kind().stored;
    let is_reported = url.contains('#') || !Url::parse(url).is_ok_and(|url| !url.is_computed());
    if stored.is_computed() && !is_reported { format!("{url}#{stored}") } else { url.to_owned() }
}

impl FilePart {
    /// Whether it is a place without a fragment.
    pub(super) fn is_hollow(&self) -> bool {
        let is_hollow = |array: &FragmentArray| array.cells.iter().all(Option::is_none);
        self.fragments.as_ref().is_some_and(|fragments| fragments.values().all(is_hollow))
    }

    /// Reads everything needed from a file. Errors are recorded in its problems.
    pub(super) fn read(url: &str, template: &FirstFile, session: &Session) -> Self {
        let mut part = Self { url: url.to_owned(), ..Self::default() };
        let opened = Dataset::open_with(url, &OpenOptions::default(), session);
        let looked = opened.and_then(|dataset| {
            part.url = with_protocol(url, &dataset);
            part.look(&dataset, template)
        });
        if let Err(error) = looked {
            part.problems.push(error.to_string());
        }
        part
    }

    fn look(&mut self, dataset: &Dataset, template: &FirstFile) -> Result<()> {
        let model = dataset.model()?;
        self.format = formats::name(dataset.kind().format);
        let root = known(&model, NodeId::Group(model.root()));
        self.conventions = root.find("Conventions").and_then(Attribute::as_text).unwrap_or_default();
        self.compare_groups(&model, template);
        let is_compared = |member: &&FirstVariable| {
            matches!(member.role, VariableRole::Common(Some(_)) | VariableRole::Kept(Some(_)))
        };
        let read = template.members.iter().filter(is_compared).chain(template.collected());
        let read = read.filter_map(|member| model.variable_at(&member.path));
        let read: Vec<_> = read.map(|var| (var, Selection::all(&model.shape(var)))).collect();
        // Announced before the first is read, so that their requests are made together.
        dataset.announce_reads(&read);
        let mut found = Vec::new();
        for (number, member) in template.members.iter().enumerate() {
            match model.variable_at(&member.path) {
                Some(var) => {
                    found.push(var);
                    self.compare(number, member, template, (dataset, &model, var))?;
                }
                None => self.problems.push(format!("there is no variable {}", member.path)),
            }
        }
        let strange = model.variables().into_iter().filter(|var| !found.contains(var));
        self.strange = strange.map(|var| model.variable_path(var)).collect();
        if self.problems.is_empty() {
            self.measure(dataset, &model, template)?;
        }
        Ok(())
    }

    /// Lengths and coordinates of the axes, and the values that the master collects.
    fn measure(&mut self, dataset: &Dataset, model: &Model, template: &FirstFile) -> Result<()> {
        for member in template.collected() {
            let values = self.collect(dataset, model, template, member)?;
            self.collected.push(values);
        }
        for (at, axis) in template.axes.iter().enumerate() {
            self.lens.push(if template.is_new { 1 } else { self.axis_len(model, template, at) });
            let place = template.collected().position(|member| Some(member.var) == axis.coordinate);
            let values = place.and_then(|place| self.collected.get(place));
            let numbers = values.map(ExactNumber::all);
            self.coordinates.push(numbers.filter(|numbers| !numbers.is_empty()));
        }
        if self.lens.contains(&0) {
            self.problems.push("its length along the axis is 0".to_owned());
        }
        Ok(())
    }

    /// The length of an axis: of the corresponding dimension of the first file's variables.
    fn axis_len(&self, model: &Model, template: &FirstFile, axis: usize) -> u64 {
        let len = |member: &FirstVariable| {
            let dims = template.model.variable(member.var).map(|variable| variable.dims.as_slice())?;
            let place = dims.iter().position(|dim| template.axis_of(*dim) == Some(axis))?;
            model.shape(model.variable_at(&member.path)?).get(place).copied()
        };
        template.members.iter().find_map(len).unwrap_or(0)
    }

    /// Values of a variable that the master collects, in the first file's units.
    fn collect(
        &self,
        dataset: &Dataset,
        model: &Model,
        template: &FirstFile,
        member: &FirstVariable,
    ) -> Result<Values> {
        let Some(var) = model.variable_at(&member.path) else { return Ok(Values::Byte(Vec::new())) };
        let values = dataset.read_values(var, &Selection::all(&model.shape(var)));
        let values = values.map_err(|error| error.at_path(&*member.path))?;
        let bring = || {
            let (from, to) = (units_of(model, var), units_of(&template.model, member.var));
            let conversion = conversion(&from, &to)?;
            let (own, first) = (known(model, NodeId::Variable(var)), template.attributes(member.var));
            let ty =
                template.model.variable(member.var).and_then(|first| template.model.base_atomic(first.ty));
            brought(values, (&own, &first), conversion, ty)
        };
        bring().map_err(|error: Error| error.at_path(&*member.path))
    }

    fn compare_groups(&mut self, model: &Model, template: &FirstFile) {
        for group in template.model.walk() {
            let path = template.model.group_path(group);
            let Some(other) = model.group_at(&path) else { continue };
            let (one, other) =
                (known(&template.model, NodeId::Group(group)), known(model, NodeId::Group(other)));
            self.compare_attributes(&path, &one, &other);
        }
    }

    fn compare(
        &mut self,
        number: usize,
        member: &FirstVariable,
        template: &FirstFile,
        (dataset, model, var): (&Dataset, &Model, VarId),
    ) -> Result<()> {
        let (one, other) = (template.attributes(member.var), known(model, NodeId::Variable(var)));
        let path = &member.path;
        // Values are compared only if nothing was found before: reading them is costly, and the file is rejected
        // anyway.
        let problems = self.problems.len();
        self.compare_dimensions(member, template, (model, var));
        let types = (
            template.model.variable(member.var).map(|variable| variable.ty),
            model.variable(var).map(|variable| variable.ty),
        );
        let name =
            |ty: Option<TypeRef>, model: &Model| ty.map(|ty| crate::type_name(model, ty)).unwrap_or_default();
        if let (Some(first), Some(second)) = types
            && !same_type((&template.model, first, &one), (model, second, &other))
            // Collected numbers are converted to the type of the first file.
            && !(member.role == VariableRole::Collected && is_number(first) && is_number(second))
        {
            let (second, first) = (name(types.1, model), name(types.0, &template.model));
            self.problems.push(if first == second {
                format!("{path} is of a different type {first}")
            } else {
                format!("{path} is of type {second}, not {first}")
            });
        }
        if PACKING.iter().any(|name| value(&one, name) != value(&other, name)) || types.0 != types.1 {
            self.repacked.insert(number);
        }
        if let Err(error) = conversion(&units_of(model, var), &units_of(&template.model, member.var)) {
            self.problems.push(format!("{path}: {}", error.message()));
        }
        if member.role == VariableRole::Aggregated && self.problems.len() == problems {
            self.find_clash(number, member, template, (dataset, model, var))?;
        }
        for name in MEANING.iter().filter(|name| value(&one, name) != value(&other, name)) {
            self.problems.push(format!("{path}:{name} differs"));
        }
        self.compare_attributes(path, &one, &other);
        if let VariableRole::Common(Some(values)) | VariableRole::Kept(Some(values)) = &member.role
            && self.problems.len() == problems
        {
            let shape = model.shape(var);
            let read =
                dataset.read_values(var, &Selection::all(&shape)).map_err(|error| error.at_path(&**path))?;
            if !same_values(values, &read) {
                self.problems.push(format!("{path} does not have the axis and has different values"));
            }
        }
        Ok(())
    }

    /// Looks for data that the first file treats as missing. Files with different packing are unpacked by their own
    /// attributes.
    fn find_clash(
        &mut self,
        number: usize,
        member: &FirstVariable,
        template: &FirstFile,
        (dataset, model, var): (&Dataset, &Model, VarId),
    ) -> Result<()> {
        let ty = model.variable(var).map(|variable| variable.ty);
        let Some(TypeRef::Atomic(ty)) = ty.filter(|ty| is_number(*ty) && !self.repacked.contains(&number))
        else {
            return Ok(());
        };
        let (first, own) = (template.attributes(member.var), known(model, NodeId::Variable(var)));
        let (theirs, missing) = (missing_numbers(ty, &first), missing_numbers(ty, &own));
        // Packed numbers are compared as they are stored: units and packing would have to be changed together.
        let is_packed = PACKING.iter().any(|name| own.find(name).is_some());
        let conversion = conversion(&units_of(model, var), &units_of(&template.model, member.var))?;
        let conversion = conversion.as_ref().filter(|_| !is_packed);
        let clash = VariableNumbers { dataset, var, missing: &missing, conversion }.clash(&theirs);
        if let Some(value) = clash.map_err(|error| error.at_path(&*member.path))? {
            self.clashes.insert(number, value);
        }
        Ok(())
    }

    /// The least and the greatest of the data of a variable, in the first file's units.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn range(
        &self,
        member: &FirstVariable,
        template: &FirstFile,
        session: &Session,
    ) -> Result<Option<NumberRange>> {
        let dataset = Dataset::open_with(&self.url, &OpenOptions::default(), session)?;
        let model = dataset.model()?;
        let Some(var) = model.variable_at(&member.path) else { return Ok(None) };
        let Some(TypeRef::Atomic(ty)) = model.variable(var).map(|variable| variable.ty) else {
            return Ok(None);
        };
        let own = known(&model, NodeId::Variable(var));
        let is_packed = PACKING.iter().any(|name| own.find(name).is_some());
        let conversion = conversion(&units_of(&model, var), &units_of(&template.model, member.var))?;
        let (missing, conversion) = (missing_numbers(ty, &own), conversion.as_ref().filter(|_| !is_packed));
        VariableNumbers { dataset: &dataset, var, missing: &missing, conversion }.range()
    }

    fn compare_dimensions(
        &mut self,
        member: &FirstVariable,
        template: &FirstFile,
        (model, var): (&Model, VarId),
    ) {
        let path = &member.path;
        let (one, other) = (dims(&template.model, member.var), dims(model, var));
        let names = |model: &Model, dims: &[DimId]| {
            let name = |dim: &DimId| model.dimension(*dim).map(|dim| dim.name.clone());
            dims.iter().filter_map(name).collect::<Vec<_>>().join(", ")
        };
        let (first, second) = (names(&template.model, &one), names(model, &other));
        if first != second {
            return self.problems.push(format!("{path} has dimensions ({second}), not ({first})"));
        }
        let shapes = template.model.shape(member.var).into_iter().zip(model.shape(var));
        for ((dim, (first, second)), name) in one.iter().zip(shapes).zip(first.split(", ")) {
            if first != second && template.axis_of(*dim).is_none() {
                self.problems.push(format!("{path} has length {second} along {name}, not {first}"));
            }
        }
    }

    /// Attributes that differ between files are left out of the master.
    fn compare_attributes(&mut self, path: &str, one: &Attributes, other: &Attributes) {
        for attribute in one.iter().chain(other.iter()) {
            let name = attribute.name.as_str();
            let is_brought = CONVERTED.contains(&name) || PACKING.contains(&name);
            let is_merged = path == "/" && name == "Conventions";
            if !is_brought && !is_merged && value(one, name) != value(other, name) {
                self.differing.insert((path.to_owned(), name.to_owned()));
            }
        }
    }
}

fn dims(model: &Model, var: VarId) -> Vec<DimId> {
    model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default()
}

/// The values of an attribute; characters and strings count as the same.
fn value(attributes: &Attributes, name: &str) -> Option<Values> {
    let attribute = attributes.find(name)?;
    Some(match attribute.as_text() {
        Some(text) => Values::Char(text.into_bytes()),
        None => attribute.values.clone(),
    })
}

fn same_type(one: (&Model, TypeRef, &Attributes), other: (&Model, TypeRef, &Attributes)) -> bool {
    match (one.1, other.1) {
        (TypeRef::User(_), TypeRef::User(_)) => same_layout((one.0, one.1), (other.0, other.1), DEEPEST),
        (first, second) => first == second || unpacked(first, one.2).0 == unpacked(second, other.2).0,
    }
}

/// Maximum depth at which nested types are compared.
const DEEPEST: usize = 32;

/// Whether types of two files are equal in members, fields and lengths.
fn same_layout(one: (&Model, TypeRef), other: (&Model, TypeRef), depth: usize) -> bool {
    let (first, second) = match (one.1, other.1) {
        (TypeRef::User(first), TypeRef::User(second)) => (one.0.user_type(first), other.0.user_type(second)),
        (first, second) => return first == second,
    };
    let Some(below) = depth.checked_sub(1) else { return false };
    let same = |first: TypeRef, second: TypeRef| same_layout((one.0, first), (other.0, second), below);
    match (first.map(|ty| &ty.kind), second.map(|ty| &ty.kind)) {
        (Some(UserKind::Compound(first)), Some(UserKind::Compound(second))) => {
            let same = |(first, second): (&Field, &Field)| {
                first.name == second.name && first.dims == second.dims && same(first.ty, second.ty)
            };
            first.len() == second.len() && first.iter().zip(second).all(same)
        }
        (Some(UserKind::Vlen(first)), Some(UserKind::Vlen(second))) => same(*first, *second),
        (first, second) => first.is_some() && first == second,
    }
}

/// Units and calendar; bounds without any have those of the variable that they belong to (CF 7.1).
fn units_of(model: &Model, var: VarId) -> Attributes {
    let own = known(model, NodeId::Variable(var));
    if own.find("units").is_some() {
        return own;
    }
    let parent = model.variables().into_iter().find(|other| {
        *other != var && super::shape::named(model, *other, &["bounds", "climatology"]).contains(&var)
    });
    parent.map_or(own, |parent| known(model, NodeId::Variable(parent)))
}

/// Whether values are bitwise equal.
fn same_values(one: &Values, other: &Values) -> bool {
    match (one.as_bytes(), other.as_bytes()) {
        (Some(first), Some(second)) => one.atomic() == other.atomic() && first == second,
        _ => one == other,
    }
}

fn is_number(ty: TypeRef) -> bool {
    matches!(ty, TypeRef::Atomic(atomic) if atomic.is_numeric())
}

/// Values converted to the units, the type and the missing value of the first file. Whole days in integers stay
/// integers; values that the type cannot represent turn all files' values into doubles.
fn brought(
    values: Values,
    (own, first): (&Attributes, &Attributes),
    conversion: Option<NumberConversion>,
    ty: Option<Atomic>,
) -> Result<Values> {
    let Some(ty) = ty.filter(|ty| ty.is_numeric() && values.atomic().is_some_and(Atomic::is_numeric)) else {
        return Ok(values);
    };
    let is_packed = PACKING.iter().any(|name| value(own, name).is_some() || value(first, name).is_some());
    if is_packed
        && (conversion.is_some() || PACKING.iter().any(|name| value(own, name) != value(first, name)))
    {
        return Err(Error::invalid("it is packed differently than in the first file"));
    }
    let missing = missing_values(own);
    let instead = missing_values(first).first().copied();
    let is_missing = |number: ExactNumber| missing.iter().any(|missing| missing.is_same(number));
    let is_other = |number: ExactNumber| instead.is_none_or(|instead| !instead.is_same(number));
    let numbers = ExactNumber::all(&values);
    let has_other = numbers.iter().any(|number| is_missing(*number) && is_other(*number));
    let theirs = missing_values(first);
    let converted = |number: ExactNumber| match &conversion {
        Some(conversion) => conversion.apply(number),
        None => number,
    };
    // A valid value must not turn into the first file's missing value.
    let becomes_missing = |number: &ExactNumber| {
        let brought = converted(*number);
        !is_missing(*number) && theirs.iter().any(|missing| missing.is_same(brought))
    };
    if let Some(clash) = numbers.iter().find(|number| becomes_missing(number)) {
        return Err(Error::invalid(format!("its value {clash} is the missing value of the first file")));
    }
    if conversion.is_none() && values.atomic() == Some(ty) && !has_other {
        return Ok(values);
    }
    if has_other && instead.is_none() {
        return Err(Error::invalid("it has missing values, but the first file has no _FillValue"));
    }
    let bring =
        |number: ExactNumber| instead.filter(|_| is_missing(number)).unwrap_or_else(|| converted(number));
    let brought: Vec<ExactNumber> = numbers.into_iter().map(bring).collect();
    if let Some(values) = ExactNumber::all_as(&brought, ty) {
        return Ok(values);
    }
    // The missing value becomes a double with its attribute.
    let double = |number: &ExactNumber| match instead {
        Some(instead) if instead.is_same(*number) => Ok(number.to_f64()),
        _ => number.exact_f64().ok_or_else(|| {
            Error::invalid(format!(
                "its value {number} cannot be represented as type {} or as double",
                ty.name()
            ))
        }),
    };
    Ok(Values::Double(brought.iter().map(double).collect::<Result<_>>()?))
}

/// The missing values; the first is the one that is written.
fn missing_values(attributes: &Attributes) -> Vec<ExactNumber> {
    let of = |name: &&str| attributes.find(name);
    let numbers = |attribute: &Attribute| ExactNumber::all(&attribute.values);
    ["_FillValue", "missing_value"].iter().filter_map(of).flat_map(numbers).collect()
}
