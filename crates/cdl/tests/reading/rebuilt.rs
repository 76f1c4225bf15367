//! A text as a whole dataset in memory.
use ncirrus_cdl::parse::{self, BlockSink, DataBlock, Definitions, ParseFailure, ParseOptions};
use ncirrus_cdl::{DataSource, PrintOptions, ReadError, print};
use ncirrus_model::{Model, Selection, TypeRef, Values, VarId, default_fill};
use std::collections::HashMap;

/// What a text says, with all values.
#[derive(Debug)]
pub(super) struct Rebuilt {
    pub(super) name: String,
    pub(super) model: Model,
    pub(super) values: HashMap<VarId, Values>,
    pub(super) definitions: Definitions,
    pub(super) summary: parse::DataSummary,
}

struct Blocks(Vec<(VarId, Vec<u64>, Vec<u64>, Values)>);

impl BlockSink for Blocks {
    fn block(&mut self, block: &DataBlock<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let count: u64 = block.shape.iter().product();
        assert_eq!(count, block.values.len() as u64, "a block has as many values as its shape says");
        assert_eq!(block.start.len(), block.shape.len());
        self.0.push((block.variable, block.start.to_vec(), block.shape.to_vec(), block.values.clone()));
        Ok(())
    }
}

/// Reads a text.
pub(super) fn read(text: &[u8], options: &ParseOptions) -> Result<Rebuilt, ParseFailure> {
    let definitions = parse::definitions(&text, options)?;
    let mut blocks = Blocks(Vec::new());
    let summary = parse::data(&text, &definitions, options, &mut blocks)?;
    let mut model = definitions.model.clone();
    for (variable, start, shape, _) in &blocks.0 {
        for (axis, dim) in model.variable(*variable).unwrap().dims.clone().into_iter().enumerate() {
            if model.dimension(dim).unwrap().len.is_unlimited() {
                model.grow(dim, start[axis] + shape[axis]).unwrap();
            }
        }
    }
    let mut values = HashMap::new();
    for variable in model.variables() {
        values.insert(variable, assembled(&model, variable, &blocks.0));
    }
    Ok(Rebuilt { name: definitions.name.clone(), model, values, definitions, summary })
}

/// The whole values of a variable: fill where no block is.
fn assembled(model: &Model, variable: VarId, blocks: &[(VarId, Vec<u64>, Vec<u64>, Values)]) -> Values {
    let shape = model.shape(variable);
    let total = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let description = model.variable(variable).unwrap();
    let fill = description.fill_value().unwrap_or_else(|| match description.ty {
        TypeRef::Atomic(atomic) => default_fill(atomic),
        TypeRef::User(_) => model.zeros(description.ty, 1, 64).unwrap(),
    });
    let mut places: Vec<Option<(usize, usize)>> = vec![None; total];
    for (at, (of, start, counts, values)) in blocks.iter().enumerate() {
        if *of == variable {
            for index in 0..values.len() {
                let mut rest = index as u64;
                let mut flat = 0u64;
                let mut stride = 1u64;
                for axis in (0..shape.len()).rev() {
                    flat += (start[axis] + rest % counts[axis]) * stride;
                    rest /= counts[axis];
                    stride *= shape[axis];
                }
                places[usize::try_from(flat).unwrap()] = Some((at, index));
            }
        }
    }
    let mut whole = fill.empty_like();
    for place in places {
        let added = match place {
            Some((block, index)) => whole.extend_from(&blocks[block].3, index..index + 1),
            None => whole.extend_from(&fill, 0..1),
        };
        assert!(added, "values of one type");
    }
    whole
}

/// Values of whole variables, of which contiguous parts are asked for.
pub(super) struct Whole<'a>(pub(super) &'a Model, pub(super) &'a HashMap<VarId, Values>);

impl DataSource for Whole<'_> {
    fn read(&mut self, variable: VarId, selection: &Selection) -> Result<Values, ReadError> {
        let shape = self.0.shape(variable);
        let region = selection.as_region().ok_or("not a box")?;
        let flat = region.start.iter().zip(&shape).fold(0, |at, (index, len)| at * len + index);
        let start = usize::try_from(flat)?;
        let count = usize::try_from(region.element_count().ok_or("too many")?)?;
        Ok(self.1[&variable].slice(start..start + count))
    }
}

/// The text of a dataset.
pub(super) fn printed(model: &Model, values: &HashMap<VarId, Values>, options: &PrintOptions) -> Vec<u8> {
    let mut text = Vec::new();
    let summary = print(&mut text, model, &mut Whole(model, values), options).unwrap();
    assert!(summary.faults.is_empty(), "{:?}", summary.faults);
    text
}
