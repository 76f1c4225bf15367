//! The macro of the table: each row becomes a function that C calls, and a [`FunctionRow`] from which the headers, the list
//! of symbols and the page of documentation are made.
//!
//! A row says which safe function answers. The shim turns each argument into its role (`crate::c_types::memory`), calls that function
//! and returns its answer; a panic becomes the answer that the return type has for it.

use crate::c_types::codes::words_of;
use crate::c_types::memory::CReturn;
use crate::process::faults::{self, FaultPlace};
use crate::process::last_error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Writes a type of C.
pub type CTypeName = fn() -> String;

/// A function of the table.
#[derive(Debug, Clone, Copy)]
pub struct FunctionRow {
    /// Name in C.
    pub name: &'static str,
    /// The header that declares it; empty for functions that programs import without a public header.
    pub header: &'static str,
    /// What it does, one sentence per element.
    pub about: &'static [&'static str],
    /// The C type of its answer.
    pub returns: CTypeName,
    /// Names and C types of its arguments.
    pub arguments: &'static [(&'static str, CTypeName)],
}

impl FunctionRow {
    /// The prototype, without what precedes the type: `int nc_close(int ncid)`.
    pub fn prototype(&self) -> String {
        let list: Vec<String> = self.arguments.iter().map(|(name, ty)| joined(&ty(), name)).collect();
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        format!("{}({list})", joined(&(self.returns)(), self.name))
    }
}

/// Type and name, with a blank between them unless the type ends in an asterisk.
pub(crate) fn joined(ty: &str, name: &str) -> String {
    let blank = if ty.ends_with('*') { "" } else { " " };
    format!("{ty}{blank}{name}")
}

/// Calls the answering function; a panic does not reach the caller, who cannot unwind.
pub(crate) fn guarded<R: CReturn>(name: &'static str, answer: impl FnOnce() -> R) -> R::Raw {
    if R::CAN_FAIL || cfg!(debug_assertions) {
        // What cannot fail leaves the last error as it is; `strlcat` is called for every value that `ncdump` prints.
        last_error::begin(name);
    }
    let answer = || {
        faults::reached(FaultPlace::Begin);
        answer()
    };
    let answer = catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|panic| {
        last_error::set_panic(name, &*panic);
        R::panicked()
    });
    let code = answer.code();
    if code != 0 {
        last_error::end(name, code, || words_of(code));
    }
    answer.into_raw()
}

/// The answer of a row: of its expression, of its safe function, or of another function for files of a program's own format, which
/// the first argument is the id of.
macro_rules! answer {
    ({ $answer:expr } () ($($argument:expr),*)) => {{
        // Some rows answer the same whatever they are passed.
        $(_ = $argument;)*
        $answer
    }};
    ([$safe:path] () ($($argument:expr),*)) => {
        $safe($($argument),*)
    };
    ([$safe:path] ($of_user:path) ($first:expr $(, $rest:expr)*)) => {
        match $crate::programs::user_formats::table_of($first) {
            None => $safe($first $(, $rest)*),
            Some(table) => $of_user(&table, $first $(, $rest)*),
        }
    };
}

pub(crate) use answer;

/// Rows of one header: `"about" fn name(argument: Role, ..) -> Answer = safe_function;`. After `or`, the function that answers
/// for files of formats that the program defined. After `=>` in place of `=`, an expression of the arguments.
macro_rules! c_functions {
    ($table:ident, $header:literal; $(
        $(#[doc = $about:literal])+
        fn $name:ident($($argument:ident: $role:ty),* $(,)?) -> $answer:ty
            $(= $safe:path $(, or $of_user:path)?)? $(=> $given:expr)?;
    )*) => {
        $(
            $(#[doc = $about])+
            ///
            /// # Safety
            /// Pointers are null or refer to memory of the kind and length that the documentation of netCDF-C gives for the
            /// argument of this name; texts end with a NUL.
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name(
                $($argument: <$role as $crate::c_types::memory::CArgument>::Raw),*
            ) -> <$answer as $crate::c_types::memory::CReturn>::Raw {
                // SAFETY: the caller of a C function vouches for its arguments, see above; a role only keeps the pointer for the
                // duration of this call.
                $(let $argument = unsafe { <$role as $crate::c_types::memory::CArgument>::from_raw($argument) };)*
                $crate::abi::table::guarded::<$answer>(stringify!($name), move || {
                    $crate::abi::table::answer!($([$safe])? $({ $given })? ($($($of_user)?)?) ($($argument),*))
                })
            }
        )*

        /// The rows of the header.
        pub(crate) const $table: &[$crate::abi::table::FunctionRow] = &[$(
            $crate::abi::table::FunctionRow {
                name: stringify!($name),
                header: $header,
                about: &[$($about),+],
                returns: <$answer as $crate::c_types::memory::CReturn>::c_type,
                arguments: &[$((
                    stringify!($argument),
                    <$role as $crate::c_types::memory::CArgument>::c_type as fn() -> String,
                )),*],
            },
        )*];
    };
}

pub(crate) use c_functions;

/// Rows of functions without arguments that answer the same: `"about" answer => names;`.
macro_rules! same_functions {
    ($table:ident, $header:literal; $(#[doc = $about:literal] $answer:expr => $($name:ident)+;)*) => {
        $crate::abi::table::c_functions! {
            $table, $header;
            $($(
                #[doc = $about]
                fn $name() -> $crate::c_types::codes::Outcome<()> => $answer;
            )+)*
        }
    };
}

pub(crate) use same_functions;
