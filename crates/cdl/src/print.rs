//! The walk over the tree: each group's sections in `ncdump`'s order (docs/spec/nczarr.md 12.1).
use crate::attribute::AttributeOrigin;
use crate::choice::MemberChoice;
use crate::name::escape_name;
use crate::out::OutputText;
use crate::printer::{CdlPrinter, PrintSummary};
use crate::{CdlError, DataChoice, DataSource, PrintOptions, attribute, data, declare};
use ncirrus_model::{AttributeState, Attributes, Fault, GroupId, Model, NodeId, VarId};
use std::io::Write;

/// Prints a dataset as CDL.
///
/// Members that cannot be read are replaced by a comment and have an entry in the summary.
///
/// # Errors
/// If the text cannot be written, or `options` name a variable or group that does not exist.
pub fn print(
    out: &mut dyn Write,
    model: &Model,
    source: &mut dyn DataSource,
    options: &PrintOptions,
) -> Result<PrintSummary, CdlError> {
    let choice = MemberChoice::new(model, options)?;
    let mut printer = CdlPrinter {
        model,
        source,
        options,
        choice,
        out: OutputText::new(out, options.line_len),
        summary: PrintSummary::default(),
    };
    printer.tree()?;
    printer.out.finish()?;
    Ok(printer.summary)
}

/// A group that is entered or left.
enum GroupVisit {
    Enter(GroupId, usize),
    Leave(GroupId, usize),
}

impl<'a> CdlPrinter<'a, '_> {
    fn tree(&mut self) -> Result<(), CdlError> {
        self.out.push(&format!("netcdf {} {{\n", escape_name(&self.options.name)));
        let wanted =
            self.model.walk().into_iter().flat_map(|group| self.with_data(group)).collect::<Vec<_>>();
        if !wanted.is_empty() {
            self.source.expect(&wanted);
        }
        let mut visits = vec![GroupVisit::Enter(self.model.root(), 0)];
        while let Some(visit) = visits.pop() {
            match visit {
                GroupVisit::Enter(id, depth) => {
                    visits.push(GroupVisit::Leave(id, depth));
                    let subgroups = self.group(id, depth)?;
                    visits.extend(subgroups.into_iter().rev().map(|id| GroupVisit::Enter(id, depth + 1)));
                }
                GroupVisit::Leave(id, depth) => self.close_group(id, depth),
            }
            self.out.relieve()?;
        }
        Ok(())
    }

    /// Prints a group up to its data; its subgroups follow.
    fn group(&mut self, id: GroupId, depth: usize) -> Result<Vec<GroupId>, CdlError> {
        let model = self.model;
        let Some(group) = model.group(id) else { return Ok(Vec::new()) };
        let indent = depth * 2;
        self.out.line.set_indent(indent);
        if depth > 0 {
            self.out.push("\n");
            self.out.blanks(indent - 2);
            self.out.push(&format!("group: {} {{\n", escape_name(&group.name)));
        }
        if let Some(fault) = &group.fault {
            self.fault(indent, model.group_path(id), &fault.to_string());
        }
        declare::types(&mut self.out, model, (id, group), indent);
        declare::dimensions(&mut self.out, model, group, indent);
        self.variables(id, &group.vars, indent)?;
        self.group_attributes(id, indent);
        if self.has_data(id) {
            self.data(id, &group.vars, indent)?;
        }
        Ok(group.groups.clone())
    }

    fn close_group(&mut self, id: GroupId, depth: usize) {
        if depth > 0
            && let Some(group) = self.model.group(id)
        {
            self.out.blanks(depth * 2);
            self.out.push(&format!("}} // group {}\n", escape_name(&group.name)));
        } else {
            self.out.push("}\n");
        }
    }

    fn variables(&mut self, group: GroupId, vars: &[VarId], indent: usize) -> Result<(), CdlError> {
        if !vars.is_empty() {
            self.out.blanks(indent);
            self.out.push("variables:\n");
        }
        for &id in vars {
            declare::variable(&mut self.out, self.model, group, id, indent);
            self.attributes(NodeId::Variable(id), indent);
            // Otherwise it is reported in place of the values.
            if let Some(fault) = self.fault_of(id).filter(|_| self.options.data == DataChoice::HeaderOnly) {
                self.fault(indent, self.model.variable_path(id), &fault.to_string());
            }
            self.out.relieve()?;
        }
        Ok(())
    }

    /// Why a variable cannot be printed.
    fn fault_of(&self, id: VarId) -> Option<&'a Fault> {
        self.model.variable(id)?.fault.as_ref()
    }

    fn group_attributes(&mut self, id: GroupId, indent: usize) {
        let is_root = id == self.model.root();
        let state = self.model.group(id).map(|group| &group.attributes);
        let has_any = match state {
            Some(AttributeState::Known(known)) => !known.is_empty() || !known.faults.is_empty(),
            _ => true,
        };
        if has_any || self.options.special {
            self.out.push("\n");
            self.out.blanks(indent);
            self.out.push(if is_root { "// global attributes:\n" } else { "// group attributes:\n" });
        }
        self.attributes(NodeId::Group(id), indent);
    }

    /// Attributes of a variable or group, then its storage properties if requested.
    fn attributes(&mut self, node: NodeId, indent: usize) {
        let (model, options) = (self.model, self.options);
        let none = Attributes::new();
        let known = match model.attributes(node) {
            Some(AttributeState::Known(known)) => known,
            Some(AttributeState::Damaged(fault)) => {
                self.fault(indent, self.path(node), &fault.to_string());
                &none
            }
            Some(AttributeState::Pending) | None => {
                self.fault(indent, self.path(node), "its attributes have not been read");
                &none
            }
        };
        let special = if options.special { self.source.special(node) } else { Vec::new() };
        let time = match node {
            NodeId::Variable(id) => self.time_axis(id),
            NodeId::Group(_) => None,
        };
        let hidden = |name: &str| options.no_properties && name == "_NCProperties";
        let (own, special) = (
            known.iter().map(|one| (AttributeOrigin::Stored, one)),
            special.iter().map(|one| (AttributeOrigin::Special, one)),
        );
        for (origin, shown) in own.chain(special).filter(|(_, attribute)| !hidden(&attribute.name)) {
            self.out.blanks(indent);
            attribute::write(&mut self.out, model, (node, origin), shown, options);
            let dates = time.as_ref().and_then(|time| time.comment(shown, indent, options.line_len));
            self.out.push(dates.as_deref().unwrap_or("\n"));
        }
        for (name, fault) in &known.faults {
            self.fault(indent, format!("{}:{name}", self.path(node)), &fault.to_string());
        }
    }

    /// The data section: also if no variable of the group is selected (docs/spec/nczarr.md 12.1).
    fn data(&mut self, group: GroupId, vars: &[VarId], indent: usize) -> Result<(), CdlError> {
        if !vars.is_empty() {
            self.out.blanks(indent);
            self.out.push("data:\n");
        }
        self.with_data(group).into_iter().try_for_each(|id| data::print(self, id, indent))
    }

    /// Whether data of a group are printed.
    fn has_data(&self, group: GroupId) -> bool {
        self.options.data != DataChoice::HeaderOnly && self.choice.has_group(group)
    }

    /// The variables of a group whose data are printed.
    fn with_data(&self, group: GroupId) -> Vec<VarId> {
        let Some(members) = self.model.group(group).filter(|_| self.has_data(group)) else {
            return Vec::new();
        };
        let is_wanted = |id: &VarId| {
            self.choice.has_variable(*id)
                && (self.options.data != DataChoice::Coordinates || self.is_coordinate(group, *id))
        };
        members.vars.iter().copied().filter(is_wanted).collect()
    }

    /// Whether the variable is one-dimensional and named like a dimension visible in its group, whether it has that
    /// dimension or not.
    fn is_coordinate(&self, group: GroupId, id: VarId) -> bool {
        self.model.variable(id).is_some_and(|variable| {
            variable.rank() == 1 && self.model.visible_dimension(group, &variable.name).is_some()
        })
    }
}
