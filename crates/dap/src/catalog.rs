//! An open dataset.
use crate::conversion::ValueConversion;
use crate::place::{DapPlace, DapProtocol, DapView};
use crate::query::{ArrivedAnswer, DapSource};
use crate::shown::ShownDataset;
use ncirrus_layout::{
    ByteOrder, Catalog, Error, Layout, Limits, ObjectId, Result, Source, Step, StoredType, View, Writing,
};
use ncirrus_model::{
    AttributeState, Attributes, DatasetKind, Format, Model, NodeId, StorageFacts, Stored, VarId,
};
use std::collections::HashMap;
use std::sync::Arc;

/// An open dataset.
#[derive(Debug)]
pub(crate) struct DapCatalog {
    place: Arc<DapPlace>,
    model: Arc<Model>,
    /// The numbers of variables in the source.
    numbers: HashMap<VarId, usize>,
    source: Arc<DapSource>,
    warnings: Vec<String>,
}

impl DapCatalog {
    pub(crate) fn new(place: Arc<DapPlace>, shown: ShownDataset) -> Self {
        let (mut numbers, mut variables) = (HashMap::new(), Vec::new());
        for id in shown.model.variables() {
            if let Some(variable) = shown.variables.get(&id) {
                numbers.insert(id, variables.len());
                variables.push(variable.clone());
            }
        }
        let source = Arc::new(DapSource::new(Arc::clone(&place), variables));
        Self { place, model: Arc::new(shown.model), numbers, source, warnings: shown.warnings }
    }

    /// Keeps columns and strings of an answer that came when the dataset was opened.
    pub(crate) fn arrive(&self, arrived: &ArrivedAnswer, limits: &Limits) {
        self.source.arrive(arrived, limits);
    }

    fn object(&self) -> &ObjectId {
        self.place.base()
    }

    fn source_of(&self, id: VarId) -> Result<Source> {
        let missing = || Error::not_found("no such variable").at_object(self.object());
        let variable = self.model.variable(id).ok_or_else(missing)?;
        let number = *self.numbers.get(&id).ok_or_else(missing)?;
        let shown = self.source.variables.get(number);
        let is_unsigned = shown.is_some_and(|shown| shown.conversion == ValueConversion::Signed);
        if let Some(fault) = shown.and_then(|shown| shown.fault.clone()) {
            return Err(fault.at_object(self.object()).at_path(self.model.variable_path(id)));
        }
        let zero = self.model.zeros(variable.ty, 1, DEPTH);
        let fill = variable
            .fill_value()
            .or(zero)
            .ok_or_else(|| Error::unsupported("the type is nested too deeply"))?;
        Ok(Source {
            layout: Layout::Query { source: Arc::clone(&self.source) as _, variable: number },
            // Answers are decoded by the source itself: only the sign is asked for.
            stored: StoredType::Integer { size: 1, signed: !is_unsigned, order: ByteOrder::Big },
            extent: self.model.shape(id),
            fill,
            resolver: None,
            swapped_fill: false,
        })
    }
}

/// Types are nested at most this deeply.
const DEPTH: u32 = 64;

impl Catalog for DapCatalog {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }

    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let known = |node: &NodeId| match self.model.attributes(*node).and_then(AttributeState::known) {
            Some(attributes) => Ok(attributes.clone()),
            None => Err(Error::not_found("no such group or variable").at_object(self.object())),
        };
        Ok(of.iter().map(known).collect())
    }

    fn source(&self, _: &dyn View, variable: VarId) -> Step<Source> {
        Ok(self.source_of(variable)?)
    }

    fn kind(&self) -> DatasetKind {
        let (format, stored) = match (self.place.protocol, self.place.view) {
            (DapProtocol::Dap2, DapView::NetcdfC) => (Format::Classic, Stored::Dap2),
            (DapProtocol::Dap2, DapView::Native) => (Format::NetCdf4, Stored::Dap2),
            (DapProtocol::Dap4, DapView::NetcdfC | DapView::Native) => (Format::NetCdf4, Stored::Dap4),
        };
        DatasetKind { format, stored }
    }

    fn facts(&self) -> StorageFacts {
        let protocol = match self.place.protocol {
            DapProtocol::Dap2 => "DAP2",
            DapProtocol::Dap4 => "DAP4",
        };
        let view = match self.place.view {
            DapView::Native => "native",
            DapView::NetcdfC => "netcdf-c",
        };
        let others = vec![("protocol", protocol.to_owned()), ("view", view.to_owned())];
        StorageFacts { others, ..StorageFacts::default() }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        None
    }
}
