//! Sequences of DAP2, as servers of tables have them (docs/spec/dap.md 3.3, 9).
use super::dap2::{atomic, elements, is_called, read, shape, type_of, wire};
use super::ranges::PathPart;
use super::{DapBehaviour, Refusal, ServedDataset, served_variables};
use ncirrus_model::{Model, Selection, Values, VarId};

/// The variables along one dimension alone.
pub(super) struct Table {
    /// The dimension's.
    pub(super) name: String,
    pub(super) columns: Vec<VarId>,
}

/// The tables of a dataset, in the order of its dimensions.
pub(super) fn tables_of(model: &Model) -> Vec<Table> {
    let Some(root) = model.group(model.root()) else { return Vec::new() };
    let all = served_variables(model, model.root(), &DapBehaviour::default());
    let table = |dim| {
        let is_along = |id: &VarId| {
            let first = model.variable(*id).and_then(|variable| variable.dims.first());
            shape(model, *id).len() == 1 && first == Some(dim)
        };
        let columns: Vec<VarId> = all.iter().copied().filter(is_along).collect();
        let name = model.dimension(*dim).map(|dim| dim.name.clone())?;
        (!columns.is_empty()).then_some(Table { name, columns })
    };
    root.dims.iter().filter_map(table).collect()
}

/// What is asked for of a table.
pub(super) struct TableQuery {
    table: Table,
    /// The columns that are asked for.
    pub(super) columns: Vec<VarId>,
    conditions: Vec<Condition>,
}

/// What the rows have to meet that are sent.
struct Condition {
    column: VarId,
    operator: &'static str,
    operand: f64,
}

/// The longest first.
const OPERATORS: [&str; 6] = [">=", "<=", "!=", "=", ">", "<"];

impl TableQuery {
    pub(super) fn new(table: Table, is_whole: bool) -> Self {
        let columns = if is_whole { table.columns.clone() } else { Vec::new() };
        Self { table, columns, conditions: Vec::new() }
    }

    pub(super) fn has(&self, id: VarId) -> bool {
        self.table.columns.contains(&id)
    }

    pub(super) fn is_called(&self, requested: &str) -> bool {
        wire(&self.table.name) == requested || self.table.name == super::decoded(requested)
    }

    /// Asks for all columns, or for the one of that name.
    pub(super) fn project(&mut self, model: &Model, path: &[PathPart]) -> Result<(), Refusal> {
        if path.iter().any(|part| !part.ranges.is_empty()) {
            return Err(("400 Bad Request", "the rows of a sequence have no numbers".to_owned()));
        }
        let names: Vec<&str> = path.iter().skip(1).map(|part| part.name.as_str()).collect();
        let wanted: Vec<VarId> = match names.as_slice() {
            [] => self.table.columns.clone(),
            names => vec![self.column(model, &names.join("."))?],
        };
        let in_order = |id: &VarId| wanted.contains(id) || self.columns.contains(id);
        self.columns = self.table.columns.iter().copied().filter(in_order).collect();
        Ok(())
    }

    fn column(&self, model: &Model, requested: &str) -> Result<VarId, Refusal> {
        let found = self.table.columns.iter().copied().find(|id| is_called(model, *id, requested));
        found.ok_or_else(|| ("404 Not Found", format!("{} has no column '{requested}'", self.table.name)))
    }

    pub(super) fn dds(&self, model: &Model) -> String {
        let column = |id: &VarId| {
            let name = model.variable(*id).map(|variable| wire(&variable.name)).unwrap_or_default();
            format!("        {} {name};\n", type_of(atomic(model, *id)))
        };
        let columns: String = self.columns.iter().map(column).collect();
        format!("    Sequence {{\n{columns}    }} {};\n", wire(&self.table.name))
    }

    /// The rows that meet all conditions, and the mark of their end; without the last row if the table `is_shorter`.
    pub(super) fn rows(
        &self,
        dataset: &ServedDataset,
        is_shorter: bool,
        body: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let len = shape(&dataset.model, self.columns[0])[0];
        let whole = |id: VarId| read(dataset, id, &Selection::all(&[len]));
        let count = usize::try_from(len).unwrap();
        let columns = self.columns.iter().map(|id| Ok(elements(&whole(*id)?, count)));
        let columns = columns.collect::<Result<Vec<_>, Refusal>>()?;
        let operands = self.conditions.iter().map(|condition| whole(condition.column));
        let operands = operands.collect::<Result<Vec<_>, Refusal>>()?;
        for row in 0..count - usize::from(is_shorter && count > 0) {
            if self.conditions.iter().zip(&operands).all(|(condition, values)| condition.is_met(values, row))
            {
                body.extend([0x5a, 0, 0, 0]);
                columns.iter().for_each(|column| body.extend(&column[row]));
            }
        }
        body.extend([0xa5, 0, 0, 0]);
        Ok(())
    }
}

impl Condition {
    fn is_met(&self, values: &Values, row: usize) -> bool {
        let Some(value) = values.number(row) else { return false };
        match self.operator {
            ">=" => value >= self.operand,
            "<=" => value <= self.operand,
            ">" => value > self.operand,
            "<" => value < self.operand,
            "=" => value == self.operand,
            _ => value != self.operand,
        }
    }
}

/// Adds a condition such as `t.x>3` or `x>3` to the table that has the column.
pub(super) fn select(model: &Model, tables: &mut [TableQuery], clause: &str) -> Result<(), Refusal> {
    let wrong = || ("400 Bad Request", format!("the selection {clause} is no column and a number"));
    let found = OPERATORS.iter().find_map(|operator| Some((*operator, clause.split_once(operator)?)));
    let (operator, (name, operand)) = found.ok_or_else(wrong)?;
    let operand = operand.parse().map_err(|_| wrong())?;
    for table in tables {
        let own =
            name.split_once('.').filter(|(first, _)| table.is_called(first)).map_or(name, |(_, own)| own);
        if let Ok(column) = table.column(model, own) {
            table.conditions.push(Condition { column, operator, operand });
            return Ok(());
        }
    }
    Err(wrong())
}
