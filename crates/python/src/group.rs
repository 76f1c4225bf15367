//! A group: its members and what may be defined in it.
use crate::attributes;
use crate::definitions;
use crate::dimension::Dimension;
use crate::errors::exception;
use crate::model::OpenDataset;
use crate::types::{self, Described};
use crate::variable::Variable;
use ncirrus::{AttributeState, DimensionLen, Error, GroupId, Member, Model, NodeId, TypeId, TypeRef};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

/// A group of an open dataset.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Group {
    pub(crate) open: Arc<OpenDataset>,
    pub(crate) id: GroupId,
}

#[pymethods]
impl Group {
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |_, group| group.name.clone())
    }

    fn path(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.open.model(py)?.group_path(self.id))
    }

    fn fault(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.look(py, |_, group| group.fault.as_ref().map(ToString::to_string))
    }

    /// Names of the variables, in definition order.
    fn variable_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.look(py, |model, group| {
            let found = group.vars.iter().filter_map(|id| model.variable(*id));
            found.map(|variable| variable.name.clone()).collect()
        })
    }

    fn group_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.look(py, |model, group| {
            group.groups.iter().filter_map(|id| model.group(*id)).map(|group| group.name.clone()).collect()
        })
    }

    /// The dimensions that are defined here.
    fn dimensions(&self, py: Python<'_>) -> PyResult<Vec<(String, Dimension)>> {
        self.look(py, |model, group| {
            let named = |id: &ncirrus::DimId| {
                let name = model.dimension(*id)?.name.clone();
                Some((name, Dimension { open: Arc::clone(&self.open), id: *id }))
            };
            group.dims.iter().filter_map(named).collect()
        })
    }

    /// The types that are defined here, described.
    fn types<'py>(&self, py: Python<'py>) -> PyResult<Vec<Described<'py>>> {
        let model = self.open.model(py)?;
        let ids = model.group(self.id).map(|group| group.types.clone()).unwrap_or_default();
        ids.into_iter().map(|id| types::describe(py, &model, TypeRef::User(id))).collect()
    }

    /// A variable by a path from here.
    fn variable(&self, py: Python<'_>, path: &str) -> PyResult<Option<Variable>> {
        let model = self.open.model(py)?;
        let id = model.variable_at(&self.below(&model, path));
        Ok(id.map(|id| Variable::new(&self.open, id)))
    }

    /// A group by a path from here.
    fn group(&self, py: Python<'_>, path: &str) -> PyResult<Option<Self>> {
        let model = self.open.model(py)?;
        let id = model.group_at(&self.below(&model, path));
        Ok(id.map(|id| Self { open: Arc::clone(&self.open), id }))
    }

    fn parent(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let parent = self.look(py, |_, group| group.parent)?;
        Ok(parent.map(|id| Self { open: Arc::clone(&self.open), id }))
    }

    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        attributes::all(py, &self.open, NodeId::Group(self.id))
    }

    /// Whether the attributes are at hand.
    fn has_attributes(&self, py: Python<'_>) -> PyResult<bool> {
        self.look(py, |_, group| !matches!(group.attributes, AttributeState::Pending))
    }

    /// Lets a dimension that can be seen from here grow.
    fn make_unlimited(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let id = self.open.model(py)?.visible_dimension(self.id, name);
        let id = id.ok_or_else(|| self.lacks(py, Member::Dimension, name))?;
        self.open.edit(py, |model| {
            let len = model.dimension(id).map_or(0, |dimension| dimension.len.current());
            Ok(model.set_dimension_len(id, DimensionLen::Unlimited(len))?)
        })
    }

    /// Adds or replaces attributes, all together.
    fn set_attributes(&self, py: Python<'_>, given: &Bound<'_, PyDict>) -> PyResult<()> {
        attributes::set(py, &self.open, NodeId::Group(self.id), (given, false))
    }

    /// Adds or replaces an attribute that is one text: a string of any length or characters, by default as the dataset's kind has it.
    #[pyo3(signature = (name, text, as_string=None))]
    fn set_text(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyString>,
        text: &Bound<'_, PyString>,
        as_string: Option<bool>,
    ) -> PyResult<()> {
        attributes::set_text(py, &self.open, NodeId::Group(self.id), (name, text, as_string))
    }

    fn remove_attribute(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        attributes::remove(py, &self.open, NodeId::Group(self.id), name)
    }

    fn rename_attribute(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        attributes::rename(py, &self.open, NodeId::Group(self.id), old, new)
    }

    /// Adds a dimension, unlimited without a length.
    fn create_dimension(&self, py: Python<'_>, name: &str, len: Option<u64>) -> PyResult<Dimension> {
        let len = len.map_or(DimensionLen::Unlimited(0), DimensionLen::Fixed);
        let id = self.open.edit(py, |model| Ok(model.add_dimension(self.id, name, len)?))?;
        Ok(Dimension { open: Arc::clone(&self.open), id })
    }

    fn create_group(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        let id = self.open.edit(py, |model| Ok(model.add_group(self.id, name)?))?;
        Ok(Self { open: Arc::clone(&self.open), id })
    }

    /// Adds a variable, with all that is said of it.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn create_variable(
        &self,
        py: Python<'_>,
        name: &str,
        ty: &Bound<'_, PyAny>,
        dims: Vec<String>,
        how: &Bound<'_, PyDict>,
    ) -> PyResult<Variable> {
        let id = definitions::create_variable(py, &self.open, self.id, (name, ty, &dims), how)?;
        Ok(Variable::new(&self.open, id))
    }

    /// Adds a type by its description.
    fn create_type(&self, py: Python<'_>, described: &Bound<'_, PyAny>) -> PyResult<()> {
        let model = self.open.model(py)?;
        let ty = types::user_type(&model, self.id, described)?;
        self.open.edit(py, |model| Ok(model.add_type(self.id, ty).map(|_: TypeId| ())?))
    }

    fn rename(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.open.edit(py, |model| Ok(model.rename_group(self.id, name)?))
    }

    fn rename_variable(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        let id = self.open.model(py)?.variable_in(self.id, old);
        let id = id.ok_or_else(|| self.lacks(py, Member::Variable, old))?;
        self.open.edit(py, |model| Ok(model.rename_variable(id, new)?))
    }

    fn rename_dimension(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        let id = self.open.model(py)?.visible_dimension(self.id, old);
        let id = id.ok_or_else(|| self.lacks(py, Member::Dimension, old))?;
        self.open.edit(py, |model| Ok(model.rename_dimension(id, new)?))
    }

    /// Removes a variable, a group with nothing in it, or a dimension that nothing uses: the first of that name.
    fn remove(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let model = self.open.model(py)?;
        if let Some(id) = model.variable_in(self.id, name) {
            return self.open.edit(py, |model| Ok(model.remove_variable(id).map(|_| ())?));
        }
        if let Some(id) = model.subgroup(self.id, name) {
            return self.open.edit(py, |model| Ok(model.remove_group(id)?));
        }
        let dims = model.group(self.id).map(|group| group.dims.clone()).unwrap_or_default();
        let found = dims.into_iter().find(|id| model.dimension(*id).is_some_and(|dim| dim.name == name));
        let id = found.ok_or_else(|| self.lacks(py, Member::Variable, name))?;
        self.open.edit(py, |model| Ok(model.remove_dimension(id).map(|_| ())?))
    }
}

impl Group {
    fn look<T>(&self, py: Python<'_>, look: impl FnOnce(&Model, &ncirrus::model::Group) -> T) -> PyResult<T> {
        let model = self.open.model(py)?;
        let group = model.group(self.id).ok_or_else(|| {
            let error = Error::not_found("the group was removed").at_object(&self.open.url);
            exception(py, &error)
        })?;
        Ok(look(&model, group))
    }

    /// An absolute path; a path that begins with a slash is one already.
    fn below(&self, model: &Model, path: &str) -> String {
        match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("{}/{path}", model.group_path(self.id).trim_end_matches('/')),
        }
    }

    fn lacks(&self, py: Python<'_>, what: Member, name: &str) -> PyErr {
        let path = self.open.model(py).map(|model| model.group_path(self.id)).unwrap_or_default();
        let error = Error::no_member(what, format_args!("{name:?}")).at_path(path).at_object(&self.open.url);
        exception(py, &error)
    }
}
