//! Shared state of all sections: the text so far, and the options.
use crate::choice::MemberChoice;
use crate::out::OutputText;
use crate::time::TimeAxis;
use crate::{DataSource, PrintOptions};
use ncirrus_model::{Model, NodeId, VarId};

/// Members that could not be printed although everything else was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrintSummary {
    /// Path of the group, variable or attribute (`/g/v`, `/g/v:a`) and the reason, in the order of the text.
    pub faults: Vec<(String, String)>,
}

/// The state that the sections need.
pub(crate) struct CdlPrinter<'a, 'w> {
    pub(crate) model: &'a Model,
    pub(crate) source: &'a mut dyn DataSource,
    pub(crate) options: &'a PrintOptions,
    pub(crate) out: OutputText<'w>,
    pub(crate) choice: MemberChoice,
    pub(crate) summary: PrintSummary,
}

impl CdlPrinter<'_, '_> {
    /// How the variable's values are converted to dates, if requested.
    pub(crate) fn time_axis(&self, id: VarId) -> Option<TimeAxis> {
        TimeAxis::of(self.model, id, self.options.times?)
    }

    /// Reports a fault in the text and records it.
    pub(crate) fn fault(&mut self, indent: usize, path: String, reason: &str) {
        let name = path.rsplit('/').next().unwrap_or_default();
        let reported = if name.is_empty() { reason.to_owned() } else { format!("{name}: {reason}") };
        let plain: String = reported.chars().map(no_control).collect();
        self.out.blanks(indent);
        self.out.push(&format!("// {plain}\n"));
        self.summary.faults.push((path, reason.to_owned()));
    }

    /// The path of a variable or group.
    pub(crate) fn path(&self, node: NodeId) -> String {
        match node {
            NodeId::Group(id) => self.model.group_path(id),
            NodeId::Variable(id) => self.model.variable_path(id),
        }
    }
}

/// Keeps a comment on one line.
fn no_control(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}
