//! The roles of arguments and answers.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use ncirrus::model::NAME_MAX_BYTES;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ops::Deref;

/// What an argument of a C function is.
pub(crate) trait CArgument: Sized {
    /// How C passes it.
    type Raw;
    /// Its type in C.
    fn c_type() -> String;
    /// The role of what was passed.
    ///
    /// # Safety
    /// As the functions of the table say; the role must not outlive the call.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

/// A role that is passed on to a function of the program.
pub(crate) trait CPassed: CArgument {
    /// As C passes it.
    fn raw(self) -> Self::Raw;
}

/// A number type of C that arrays consist of.
pub(crate) trait CNumber: Copy {
    /// Its name in C.
    const NAME: &'static str;
}

/// C's `long`.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Long(pub c_long);

/// C's `char` as a byte of text.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Char(pub u8);

/// The address of a text: C's `char *` as an element of an array.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextAddress(pub usize);

impl CNumber for TextAddress {
    const NAME: &'static str = "char *";
}

macro_rules! numbers {
    ($($rust:ty => $name:literal),* $(,)?) => {$(
        impl CNumber for $rust {
            const NAME: &'static str = $name;
        }

        impl CArgument for $rust {
            type Raw = Self;
            fn c_type() -> String {
                $name.to_owned()
            }
            unsafe fn from_raw(raw: Self) -> Self {
                raw
            }
        }

        impl CPassed for $rust {
            fn raw(self) -> Self {
                self
            }
        }
    )*};
}

numbers! {
    i8 => "signed char", u8 => "unsigned char", i16 => "short", u16 => "unsigned short", c_int => "int",
    u32 => "unsigned int", i64 => "long long", u64 => "unsigned long long", f32 => "float", f64 => "double",
    usize => "size_t", isize => "ptrdiff_t", Long => "long", Char => "char",
}

/// How C passes a role that is one pointer, or is made of one.
macro_rules! passed_as {
    ($role:ident $(<$number:ident>)?, $raw:ty, $c:expr) => {
        passed_as!($role $(<$number>)?, $raw, $c, Self);
    };
    ($role:ident $(<$number:ident>)?, $raw:ty, $c:expr, $of:expr) => {
        impl $(<$number: CNumber>)? CArgument for $role $(<$number>)? {
            type Raw = $raw;
            fn c_type() -> String {
                String::from($c)
            }
            unsafe fn from_raw(raw: $raw) -> Self {
                $of(raw)
            }
        }
    };
}

pub(super) use passed_as;

macro_rules! pointer_role {
    ($(#[$doc:meta])* $role:ident $(<$number:ident>)?, $raw:ty, $c:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $role $(<$number>)?($raw);

        passed_as!($role $(<$number>)?, $raw, $c);

        impl $(<$number: CNumber>)? CPassed for $role $(<$number>)? {
            fn raw(self) -> $raw {
                self.0
            }
        }

        /// A null pointer.
        impl $(<$number: CNumber>)? Default for $role $(<$number>)? {
            fn default() -> Self {
                Self(std::ptr::null_mut())
            }
        }

        impl $(<$number: CNumber>)? $role $(<$number>)? {
            /// Whether the caller passed a null pointer.
            pub(crate) fn is_null(self) -> bool {
                self.0.is_null()
            }
        }
    };
}

pointer_role!(
    /// Text that the caller passes.
    CText, *const c_char, "const char *"
);
pointer_role!(
    /// Memory of the caller for a name, `NC_MAX_NAME + 1` bytes; optional.
    NameOut, *mut c_char, "char *"
);
pointer_role!(
    /// Values of any type that the caller passes.
    Bytes, *const c_void, "const void *"
);
pointer_role!(
    /// Memory of the caller for values of any type.
    BytesOut, *mut c_void, "void *"
);

pointer_role!(
    /// Vlens that the program passes.
    Vlens, *mut c_void, "nc_vlen_t *"
);
pointer_role!(
    /// An array that the caller passes.
    In<T>, *const T, format!("const {} *", T::NAME)
);
pointer_role!(
    /// Memory of the caller for one number or an array; optional.
    Out<T>, *mut T, format!("{}{}*", T::NAME, if T::NAME.ends_with('*') { "" } else { " " })
);

/// The elements from an address on, borrowed from the role that has it.
///
/// # Errors
/// `NC_EINVAL` for a null pointer, and for more elements than can be anywhere.
fn elements<R, T>(_: &R, first: *const T, len: usize) -> Outcome<&[T]> {
    if !has_elements(first, len)? {
        return Ok(&[]);
    }
    // SAFETY: the caller passed as many elements as the reference says (see the module), aligned as C's arrays are; they are
    // borrowed from the role, which does not outlive the call.
    Ok(unsafe { std::slice::from_raw_parts(first, len) })
}

/// Whether anything is at an address.
fn has_elements<T>(first: *const T, len: usize) -> Outcome<bool> {
    let can_be = len.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    match len {
        0 => Ok(false),
        _ if first.is_null() || !can_be => Err(Code(NC_EINVAL)),
        _ => Ok(true),
    }
}

/// Stores a value, unless the caller does not want it.
pub(super) fn store<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: not null, so it has room for the value (see the module).
        unsafe { place.write(value) };
    }
}

impl Vlens {
    /// The addresses of the elements of `count` vlens.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn addresses(self, count: usize) -> Outcome<Vec<usize>> {
        if self.is_null() {
            return Err(Code(NC_EINVAL));
        }
        let words = Bytes(self.0).addresses(count.checked_mul(2).ok_or(Code(NC_EINVAL))?)?;
        Ok(words.chunks_exact(2).map(|vlen| vlen[1]).collect())
    }
}

impl CText {
    /// Text of this library, for calls within it.
    pub(crate) fn of(text: &CStr) -> Self {
        Self(text.as_ptr())
    }

    /// The bytes before the NUL.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn bytes(&self) -> Outcome<&[u8]> {
        if self.is_null() {
            return Err(Code(NC_EINVAL));
        }
        // SAFETY: not null, so it is a text that ends with a NUL (see the module); it is borrowed from the role, which does not
        // outlive the call.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// The text, invalid UTF-8 replaced.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(crate) fn text(&self) -> Outcome<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}

/// Text that the caller passes as `char *`; it is not changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CTextMut(CText);

passed_as!(CTextMut, *mut c_char, "char *", |raw: *mut c_char| Self(CText(raw)));

impl Deref for CTextMut {
    type Target = CText;
    fn deref(&self) -> &CText {
        &self.0
    }
}

impl NameOut {
    /// Stores a name and a NUL, unless the caller does not want it; what is beyond `NC_MAX_NAME` bytes is left out.
    pub(crate) fn set(self, name: &str) {
        self.set_whole(&name.as_bytes()[..name.len().min(NAME_MAX_BYTES)]);
    }

    /// As [`set`](Self::set), the last that a call does.
    pub(crate) fn store(self, name: &str) -> Outcome<()> {
        self.set(name);
        Ok(())
    }

    /// Stores text of any length and a NUL: for arguments whose length the caller asked for before.
    pub(crate) fn set_whole(self, text: &[u8]) {
        if self.is_null() {
            return;
        }
        // SAFETY: not null, so it has room for the text and its NUL (see the module); source and target cannot overlap, because the
        // source is memory of this library.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), text.len());
            self.0.add(text.len()).write(0);
        }
    }
}

impl Bytes {
    /// Memory of this library, for calls within it.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(bytes.as_ptr().cast())
    }

    /// The first `len` bytes.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn read(&self, len: usize) -> Outcome<&[u8]> {
        elements(self, self.0.cast(), len)
    }

    /// The first `len` addresses, which need no alignment.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn addresses(self, len: usize) -> Outcome<Vec<usize>> {
        const WORD: usize = size_of::<usize>();
        let bytes = self.read(len.checked_mul(WORD).ok_or(Code(NC_EINVAL))?)?;
        Ok(bytes.chunks_exact(WORD).map(super::blocks::address_in).collect())
    }
}

impl BytesOut {
    /// Memory of this library, for calls within it.
    pub(crate) fn of(bytes: &mut [u8]) -> Self {
        Self(bytes.as_mut_ptr().cast())
    }

    /// Memory whose address a structure of the program holds.
    pub(crate) fn at_address(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance_mut(address))
    }

    /// Stores bytes from the start on.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn write(self, bytes: &[u8]) -> Outcome<()> {
        if has_elements(self.0.cast::<u8>(), bytes.len())? {
            // SAFETY: the caller has room for as many bytes as the reference says (see the module); the source is memory of this
            // library and cannot overlap.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast(), bytes.len()) };
        }
        Ok(())
    }

    /// Stores bytes some way from the start.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn write_at(self, offset: usize, bytes: &[u8]) -> Outcome<()> {
        if self.is_null() {
            return Err(Code(NC_EINVAL));
        }
        Self(self.0.wrapping_byte_add(offset)).write(bytes)
    }

    /// The first `len` bytes, to be filled in place.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn slice(&mut self, len: usize) -> Outcome<&mut [u8]> {
        if !has_elements(self.0.cast::<u8>(), len)? {
            return Ok(&mut []);
        }
        // SAFETY: the caller has room for as many bytes as the reference says (see the module), and uses them for nothing else
        // during the call; whatever bytes of C's memory hold is a valid `u8`.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0.cast(), len) })
    }

    /// The memory as bytes that are read.
    pub(crate) fn as_bytes(self) -> Bytes {
        Bytes(self.0)
    }
}

/// Memory for values of any type, as places and addresses.
macro_rules! places {
    ($($role:ident)*) => {$(
        impl $role {
            /// The memory from some bytes after or before the start on.
            pub(crate) fn moved(self, bytes: isize) -> Self {
                Self(self.0.wrapping_byte_offset(bytes))
            }

            /// As [`moved`](Self::moved), but what is null stays null.
            pub(crate) fn at(self, place: isize) -> Self {
                if self.is_null() { self } else { self.moved(place) }
            }

            /// The address, for structures of programs and of this library.
            pub(crate) fn address(self) -> usize {
                self.0.expose_provenance()
            }
        }
    )*};
}

places! { Bytes BytesOut }

impl<T: CNumber> In<T> {
    /// An array of this library, for calls within it.
    pub(crate) fn of(numbers: &[T]) -> Self {
        Self(numbers.as_ptr())
    }

    /// An array whose address a structure of the program holds.
    pub(crate) fn at_address(address: usize) -> Self {
        Self(std::ptr::with_exposed_provenance(address))
    }

    /// The memory as bytes.
    pub(crate) fn as_bytes(self) -> Bytes {
        Bytes(self.0.cast())
    }

    /// The first `len` numbers.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn read(&self, len: usize) -> Outcome<&[T]> {
        elements(self, self.0, len)
    }
}

impl<T: CNumber> Out<T> {
    /// A number of this library, for calls within it.
    pub(crate) fn of(number: &mut T) -> Self {
        Self(number)
    }

    /// The number that a call within this library stores.
    ///
    /// # Errors
    /// Those of the call.
    pub(crate) fn found(call: impl FnOnce(Self) -> Outcome<()>) -> Outcome<T>
    where
        T: Default,
    {
        let mut number = T::default();
        call(Self::of(&mut number)).map(|()| number)
    }

    /// An array of this library, for calls within it.
    pub(crate) fn of_all(numbers: &mut [T]) -> Self {
        Self(numbers.as_mut_ptr())
    }

    /// Stores a number, unless the caller does not want it.
    pub(crate) fn set(self, number: T) {
        self.set_all(&[number]);
    }

    /// As [`set`](Self::set), the last that a call does.
    pub(crate) fn store(self, number: T) -> Outcome<()> {
        self.set(number);
        Ok(())
    }

    /// Stores numbers, unless the caller does not want them.
    pub(crate) fn set_all(self, numbers: &[T]) {
        if !self.is_null() {
            // SAFETY: as in `BytesOut::write`; C's arrays are aligned for their type.
            unsafe { std::ptr::copy_nonoverlapping(numbers.as_ptr(), self.0, numbers.len()) };
        }
    }

    /// As [`set_all`](Self::set_all), the last that a call does.
    pub(crate) fn store_all(self, numbers: &[T]) -> Outcome<()> {
        self.set_all(numbers);
        Ok(())
    }

    /// The memory as bytes.
    pub(crate) fn as_bytes(self) -> BytesOut {
        BytesOut(self.0.cast())
    }
}

/// Memory of the caller for the address of a text that it frees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextOut(*mut *mut c_char);

passed_as!(TextOut, *mut *mut c_char, "char **");

impl TextOut {
    /// Stores the address of a copy of the text, or null, unless the caller does not want it.
    ///
    /// # Errors
    /// `NC_ENOMEM`.
    pub(crate) fn set(self, text: Option<&[u8]>) -> Outcome<()> {
        if !self.0.is_null() {
            let address = text.map(super::allocated_text).transpose()?.unwrap_or(0);
            store(self.0, std::ptr::with_exposed_provenance_mut(address));
        }
        Ok(())
    }

    /// The addresses of `len` texts.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn addresses(self, len: usize) -> Outcome<Vec<usize>> {
        Bytes(self.0.cast()).addresses(len)
    }
}
