//! What programs pass, and what they get, by way of the pointers that C has. Miri runs these.
use super::roles::CNumber;
use super::structures::CTextList;
use super::*;
use crate::c_types::codes::{Code, NC_EINVAL, NC_ERANGE};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

const REFUSED: Code = Code(NC_EINVAL);

/// The role of an argument, as a shim makes it.
fn role<R: CArgument>(raw: R::Raw) -> R {
    // SAFETY: the tests pass null, or memory of the kind and length that they then ask for.
    unsafe { R::from_raw(raw) }
}

fn numbers_pass<T: CNumber + PartialEq + std::fmt::Debug>(given: [T; 3]) {
    let mut found = given;
    found.reverse();
    assert_eq!(role::<In<T>>(given.as_ptr()).read(3).unwrap(), given);
    role::<Out<T>>(found.as_mut_ptr()).set_all(&given);
    assert_eq!(found, given);
    role::<Out<T>>(&raw mut found[0]).set(given[2]);
    assert_eq!(found, [given[2], given[1], given[2]]);
    role::<Out<T>>(null_mut()).set(given[0]);
    assert_eq!(role::<In<T>>(null()).read(1).unwrap_err(), REFUSED);
    assert!(role::<In<T>>(null()).read(0).unwrap().is_empty());
    assert_eq!(role::<In<T>>(given.as_ptr()).read(usize::MAX).unwrap_err(), REFUSED);
}

#[test]
fn numbers_of_all_widths_pass() {
    numbers_pass([1i8, -2, 3]);
    numbers_pass([1u16, 2, 3]);
    numbers_pass([1i32, -2, 3]);
    numbers_pass([1.5f32, -2.5, 3.5]);
    numbers_pass([1.5f64, -2.5, 3.5]);
    numbers_pass([u64::MAX, 2, 3]);
}

#[test]
fn values_are_read_and_written_where_they_are() {
    let mut memory = [1u8, 2, 3, 4, 5, 6];
    let raw: *mut c_void = memory.as_mut_ptr().cast();
    let mut out = role::<BytesOut>(raw);
    out.write_at(2, &[9, 8]).unwrap();
    assert_eq!(out.as_bytes().read(6).unwrap(), [1, 2, 9, 8, 5, 6]);
    assert_eq!(role::<Bytes>(raw).at(4).read(2).unwrap(), [5, 6]);
    assert_eq!(role::<Bytes>(raw).at(4).moved(-3).read(1).unwrap(), [2]);
    out.moved(5).write(&[7]).unwrap();
    out.slice(6).unwrap()[0] = 0;
    assert_eq!(memory, [0, 2, 9, 8, 5, 7]);
    let mut none = role::<BytesOut>(null_mut());
    assert_eq!((none.write(&[]), none.write(&[1])), (Ok(()), Err(REFUSED)));
    assert_eq!((none.write_at(1, &[1]), none.slice(1).err()), (Err(REFUSED), Some(REFUSED)));
    assert_eq!(out.slice(usize::MAX).unwrap_err(), REFUSED);
}

#[test]
fn texts_end_with_a_nul() {
    let mut name: [c_char; 8] = [1; 8];
    role::<NameOut>(name.as_mut_ptr()).set("depth");
    assert_eq!(role::<CText>(name.as_ptr()).bytes().unwrap(), b"depth");
    assert_eq!(role::<CTextMut>(name.as_mut_ptr()).text().unwrap(), "depth");
    assert_eq!(name[6..], [1, 1]);
    assert_eq!(role::<CText>(name.as_ptr()).first(3).unwrap(), b"dep");
    role::<NameOut>(null_mut()).set("depth");
    assert_eq!(role::<CText>(null()).bytes().unwrap_err(), REFUSED);

    let mut long: [c_char; 257] = [1; 257];
    role::<NameOut>(long.as_mut_ptr()).set(&"a".repeat(300));
    assert_eq!(role::<CText>(long.as_ptr()).bytes().unwrap().len(), 256);
}

#[test]
fn blocks_have_what_was_copied_until_they_are_freed() {
    let address = allocated(&[1, 2, 3]).unwrap();
    assert_eq!(CBlock::at(&address.to_ne_bytes()).bytes(3).unwrap(), [1, 2, 3]);
    BytesOut::at_address(address).write(&[4]).unwrap();
    assert_eq!(CBlock::at(&address.to_ne_bytes()).bytes(2).unwrap(), [4, 2]);
    free_address(address);

    assert_eq!(allocated_text(b"text\0more"), Err(Code(NC_ERANGE)));
    let text = allocated_text(b"text\0\0").unwrap();
    assert_eq!(CBlock::at(&text.to_ne_bytes()).text().unwrap(), b"text");
    free_address(text);

    let none = allocated(&[]).unwrap();
    free_address(none);
    let none = CBlock::at(&none.to_ne_bytes());
    assert_eq!((none.bytes(0), none.bytes(1), none.text()), (Ok(Vec::new()), Err(REFUSED), None));
}

#[test]
fn texts_that_are_handed_out_belong_to_the_program() {
    let mut place: *mut c_char = null_mut();
    role::<TextOut>(&raw mut place).set(Some(b"units")).unwrap();
    assert_eq!(role::<CText>(place).bytes().unwrap(), b"units");
    assert_eq!(role::<TextOut>(&raw mut place).addresses(1).unwrap(), [place.expose_provenance()]);
    free_address(place.expose_provenance());
    role::<TextOut>(&raw mut place).set(None).unwrap();
    assert!(place.is_null());
    role::<TextOut>(null_mut()).set(Some(b"nobody")).unwrap();

    let owned = OwnedText(Some(b"path".to_vec())).into_raw();
    assert_eq!(role::<CText>(owned).bytes().unwrap(), b"path");
    free_address(owned.expose_provenance());
    assert!(OwnedText(None).into_raw().is_null());
}

#[test]
fn vlens_tell_where_their_elements_are() {
    let (first, second) = (allocated(&[1, 2]).unwrap(), allocated(&[3]).unwrap());
    let mut vlens: [usize; 4] = [2, first, 1, second];
    assert_eq!(role::<Vlens>(vlens.as_mut_ptr().cast()).addresses(2).unwrap(), [first, second]);
    assert_eq!(role::<Vlens>(null_mut()).addresses(1).unwrap_err(), REFUSED);
    assert_eq!(role::<Vlens>(vlens.as_mut_ptr().cast()).addresses(usize::MAX).unwrap_err(), REFUSED);
    [first, second].into_iter().for_each(free_address);
}

#[test]
fn lists_of_pointers_grow_and_shrink() {
    let list = role::<ListHandle>(ListHandle::empty().into_raw());
    assert!(list.items().unwrap().is_empty());
    for items in [&[7usize, 8, 9][..], &[7], &[]] {
        assert!(list.replace(items));
        assert_eq!(list.items().unwrap(), items);
    }
    assert!(list.replace(&[1, 2]));
    list.free();
    let none = role::<ListHandle>(null_mut());
    assert!(none.items().is_none() && !none.replace(&[1]));
}

#[test]
fn lists_of_texts_are_filled_in_their_own_array_or_in_a_new_one() {
    let texts = [b"one".to_vec(), Vec::new(), b"three".to_vec()];
    let mut structure = CTextList::default();
    let list = role::<TextList>(&raw mut structure);
    list.set(&texts).unwrap();
    assert_eq!(list.texts().unwrap(), texts);
    assert_eq!(role::<TextListIn>(&raw const structure).texts().unwrap(), texts);
    list.clear().unwrap();
    assert_eq!(list.texts().unwrap(), Vec::<Vec<u8>>::new());

    structure.items = allocated(&[0; 3 * size_of::<usize>()]).unwrap();
    let own = structure.items;
    let list = role::<TextList>(&raw mut structure);
    list.set(&texts).unwrap();
    assert_eq!(list.texts().unwrap(), texts);
    assert_eq!(structure.items, own);
    role::<TextList>(&raw mut structure).clear().unwrap();

    let none = role::<TextList>(null_mut());
    assert_eq!((none.texts(), none.set(&texts), none.clear()), (Err(REFUSED), Err(REFUSED), Err(REFUSED)));
}

#[test]
fn buffers_grow_unless_they_must_not() {
    let buffer = role::<ByteBuffer>(ByteBuffer::empty().into_raw());
    buffer.append(b"net").unwrap();
    buffer.append(b"CDF").unwrap();
    let content = buffer.take();
    assert_eq!(CBlock::at(&content.to_ne_bytes()).bytes(7).unwrap(), b"netCDF\0");
    free_address(content);
    buffer.append(b"again").unwrap();
    buffer.free();
    assert_eq!(role::<ByteBuffer>(null_mut()).append(b"x").unwrap_err(), REFUSED);
}

#[test]
fn addresses_and_parts_are_handed_out_once() {
    let mut place: *mut c_void = null_mut();
    role::<AddressOut>(&raw mut place).set(64);
    assert_eq!(place.addr(), 64);
    assert_eq!(role::<AddressOut>(&raw mut place).addresses(1).unwrap(), [64]);
    role::<AddressOut>(null_mut()).set(64);
    assert_eq!(role::<KeptPointer>(place).into_raw(), place);

    let mut held = null_mut();
    role::<UriOut>(&raw mut held).set(ncirrus::netcdf::UriParts::parse("http://host/path"));
    assert_eq!(role::<UriHandle>(held).parts().unwrap().build(), "http://host/path");
    role::<UriHandle>(held).free();
    role::<UriOut>(&raw mut held).set(None);
    assert!(held.is_null());
    role::<UriHandle>(held).free();
    assert!(role::<UriHandle>(held).parts().is_err());
}

#[test]
fn memory_that_a_program_lends_is_read_where_it_is() {
    let bytes = [5u8, 6, 7];
    let lending = Lending::default();
    let lent = LentBlock::new(bytes.as_ptr().expose_provenance(), bytes.len(), &lending);
    assert_eq!(lent.as_ref(), bytes);
    assert_eq!(lent.as_ref().as_ptr(), bytes.as_ptr());
    let reader = std::thread::spawn(move || lent.as_ref().len());
    lending.wait_for_return();
    assert_eq!(reader.join().unwrap(), 3);
    assert!(LentBlock::new(0, 0, &lending).as_ref().is_empty());

    let mut file = lists::CMemoryFile { len: 3, address: 9, flags: 1 };
    let place = role::<MemoryFile>(&raw mut file);
    assert_eq!(place.read().map(|file| (file.len, file.address, file.flags)), Some((3, 9, 1)));
    place.set(4, 10, None);
    assert_eq!((file.len, file.address, file.flags), (4, 10, 1));
    let place = role::<MemoryFile>(&raw mut file);
    place.set(5, 11, Some(0));
    assert_eq!((file.len, file.address, file.flags), (5, 11, 0));
    assert!(role::<MemoryFile>(null_mut()).read().is_none());
}

#[test]
fn numbers_come_back_as_they_are_and_failures_as_their_codes() {
    assert_eq!((CReturn::into_raw(Ok(())), CReturn::into_raw(Err(REFUSED))), (0, NC_EINVAL));
    assert_eq!(<c_int as CReturn>::into_raw(7), 7);
    assert_eq!(role::<c_int>(-3), -3);
}
