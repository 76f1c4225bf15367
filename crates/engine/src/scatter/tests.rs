use super::*;
use ncirrus_layout::{ByteOrder, ChunkGrid, StoredType};
use ncirrus_model::{Atomic, AxisSelection, Model, Selection};

const SHORT: ElementSizes = ElementSizes { stored: 2, native: 2 };

fn shorts(order: ByteOrder) -> RowCopier {
    let stored = StoredType::Integer { size: 2, signed: true, order };
    RowCopier::new(&Model::new(), Atomic::Short.into(), &stored).unwrap()
}

fn foreign() -> ByteOrder {
    match ByteOrder::NATIVE {
        ByteOrder::Little => ByteOrder::Big,
        ByteOrder::Big => ByteOrder::Little,
    }
}

fn cuts(selection: &Selection, chunk: &[u64], extent: &[u64]) -> OutputCuts<'static> {
    OutputCuts::selection(selection, &ChunkGrid::Regular(chunk.to_vec()), extent)
}

/// The native bytes of a chunk of shape `chunk`, each element of which is its own index in rows of 100.
fn cell_bytes(cell: &[u64], chunk: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in cell[0] * chunk[0]..(cell[0] + 1) * chunk[0] {
        for column in cell[1] * chunk[1]..(cell[1] + 1) * chunk[1] {
            bytes.extend(i16::try_from(row * 100 + column).unwrap().to_ne_bytes());
        }
    }
    bytes
}

fn read(bytes: &[u8]) -> Vec<i16> {
    bytes.as_chunks::<2>().0.iter().map(|element| i16::from_ne_bytes(*element)).collect()
}

/// Fills an output from all its chunks, each piece on a thread of its own.
fn scattered(selection: &Selection, chunk: &[u64; 2], extent: &[u64; 2]) -> Vec<i16> {
    let count = usize::try_from(selection.element_count().unwrap()).unwrap();
    let mut bytes = vec![0u8; 2 * count];
    let mut output = OutputBuffer::new(&mut bytes, cuts(selection, chunk, extent), SHORT).unwrap();
    std::thread::scope(|scope| {
        while let Some(piece) = output.next_piece() {
            scope.spawn(move || match cell_of(&piece) {
                Some(cell) => {
                    let mut part = piece.place(&[2 * chunk[1], 2]).unwrap();
                    part.copy_from(&cell_bytes(&cell, chunk), &shorts(ByteOrder::NATIVE)).unwrap();
                }
                None => piece.unplaced().unwrap().fill(&(-1i16).to_ne_bytes()),
            });
        }
    });
    read(&bytes)
}

/// The coordinates of a piece's chunk; `None` outside the stored extent.
fn cell_of(piece: &ScatterPiece<'_>) -> Option<Vec<u64>> {
    let mut cell = vec![7];
    piece.copy_cell(&mut cell).then_some(cell)
}

#[test]
fn pieces_filled_by_several_threads_make_the_whole() {
    let selection = Selection::new(vec![
        AxisSelection::Slice { start: 1, count: 3, stride: 2 },
        AxisSelection::Indices(vec![4, 0, 4, 2]),
    ]);
    let expected = [104, 100, 104, 102, 304, 300, 304, 302, -1, -1, -1, -1];
    assert_eq!(scattered(&selection, &[2, 3], &[5, 6]), expected);
    let all = Selection::all(&[3, 4]);
    let expected: Vec<i16> = (0..3).flat_map(|row| (0..4).map(move |column| row * 100 + column)).collect();
    assert_eq!(scattered(&all, &[2, 3], &[3, 4]), expected);
}

#[test]
fn split_and_halved_parts_hold_every_element_once() {
    let selection = Selection::strided(&[0, 1], &[4, 3], &[2, 2]);
    let mut bytes = vec![0u8; 24];
    let mut output = OutputBuffer::new(&mut bytes, cuts(&selection, &[8, 8], &[8, 8]), SHORT).unwrap();
    let part = output.next_piece().unwrap().place(&[16, 2]).unwrap();
    assert!(output.next_piece().is_none());
    let source = cell_bytes(&[0, 0], &[8, 8]);
    let rows = part.split(4, 1000);
    assert_eq!(rows.len(), 4);
    for row in rows {
        let (one, other) = row.halve().map_err(|_| ()).unwrap();
        for part in [one, other] {
            let span = part.span();
            part.at_span().copy_from(&source[span], &shorts(ByteOrder::NATIVE)).unwrap();
        }
    }
    assert_eq!(read(&bytes), [1, 3, 5, 201, 203, 205, 401, 403, 405, 601, 603, 605]);
}

#[test]
fn splitting_keeps_to_the_number_of_parts() {
    let selection = Selection::strided(&[0, 0], &[8, 1], &[1, 1]);
    let mut bytes = vec![0u8; 16];
    let mut output = OutputBuffer::new(&mut bytes, cuts(&selection, &[8, 8], &[8, 8]), SHORT).unwrap();
    let part = output.next_piece().unwrap().place(&[16, 2]).unwrap();
    assert_eq!(part.split(0, 4).len(), 1);
}

#[test]
fn foreign_bytes_are_swapped_on_the_way() {
    let mut bytes = vec![0u8; 8];
    let selection = Selection::all(&[4]);
    let mut output = OutputBuffer::new(&mut bytes, cuts(&selection, &[4], &[4]), SHORT).unwrap();
    let mut part = output.next_piece().unwrap().place(&[2]).unwrap();
    let source: Vec<u8> =
        [1i16, -2, 300, 4].iter().flat_map(|value| value.swap_bytes().to_ne_bytes()).collect();
    part.copy_from(&source, &shorts(foreign())).unwrap();
    assert_eq!(read(&bytes), [1, -2, 300, 4]);
}

#[test]
fn too_few_source_bytes_are_an_error_and_not_a_read_outside() {
    let mut bytes = vec![0u8; 8];
    let selection = Selection::all(&[4]);
    let mut output = OutputBuffer::new(&mut bytes, cuts(&selection, &[4], &[4]), SHORT).unwrap();
    let mut part = output.next_piece().unwrap().place(&[2]).unwrap();
    assert!(part.copy_from(&[0; 7], &shorts(ByteOrder::NATIVE)).is_err());
}

#[test]
fn an_output_smaller_than_the_selection_is_refused() {
    let mut bytes = vec![0u8; 6];
    let selection = Selection::all(&[4]);
    let mut output = OutputBuffer::new(&mut bytes, cuts(&selection, &[4], &[4]), SHORT).unwrap();
    assert!(output.next_piece().unwrap().place(&[2]).is_err());
}

#[test]
fn a_contiguous_part_is_memory_to_decode_into() {
    let mut bytes = vec![0u8; 24];
    let selection = Selection::all(&[3, 4]);
    let mut output = OutputBuffer::new(&mut bytes, cuts(&selection, &[1, 4], &[3, 4]), SHORT).unwrap();
    while let Some(piece) = output.next_piece() {
        let cell = cell_of(&piece).unwrap();
        let mut part = piece.place(&[8, 2]).unwrap();
        part.run_mut().unwrap().copy_from_slice(&cell_bytes(&cell, &[1, 4]));
    }
    assert_eq!(read(&bytes)[4..8], [100, 101, 102, 103]);
    let column = Selection::slab(&[0, 1], &[3, 2]);
    let mut bytes = vec![0u8; 12];
    let mut output = OutputBuffer::new(&mut bytes, cuts(&column, &[3, 4], &[3, 4]), SHORT).unwrap();
    assert!(output.next_piece().unwrap().place(&[8, 2]).unwrap().run_mut().is_none());
}
