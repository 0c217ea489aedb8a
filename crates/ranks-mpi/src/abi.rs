//! The part of the MPI 5 standard ABI that Lehr uses: types, constants and one table of functions.
//!
//! The standard (MPI 5.0, chapter "Application Binary Interface") fixes the binary form of each name. So a program
//! built once runs with every library that offers `libmpi_abi`. The values here come from the standard; they are
//! declared by hand because Lehr needs only a few. Counts are 64-bit (functions ending in `_c`), so that a message can
//! be longer than an `int` can count.
//!
//! This file only declares: `library.rs` fills the table, and `process.rs` and `link.rs` call the functions in it.

use std::ffi::{c_char, c_int, c_void};

/// `MPI_Count`: 64 bits, signed.
pub(crate) type Count = i64;

/// Declares the types of MPI's handles. The ABI's handles are pointers to incomplete structs, and its predefined
/// handles are small integers. Lehr never follows these pointers, so each handle is an address-sized number, which is
/// passed in the same way and can cross threads.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident { $($(#[$constant_doc:meta])* $constant:ident = $value:literal,)* })*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) usize);

        impl $name {
            $($(#[$constant_doc])* pub(crate) const $constant: Self = Self($value);)*
        }
    )*};
}

handles! {
    /// `MPI_Comm`.
    Comm {
        /// The communicator of all processes of the job.
        WORLD = 0x101,
    }
    /// `MPI_Info`.
    Info {
        /// No options.
        NULL = 0x130,
    }
    /// `MPI_Win`.
    Win {
        /// No window.
        NULL = 0x110,
    }
    /// `MPI_Errhandler`.
    ErrorHandler {
        /// MPI returns errors as return codes.
        RETURN = 0x143,
    }
    /// `MPI_Request`.
    Request {
        /// The value of a request that is complete.
        NULL = 0x180,
    }
    /// `MPI_Message`: a message that a matched probe found, and that has not been received yet.
    Message {
        /// No message.
        NULL = 0x128,
    }
    /// `MPI_Datatype`.
    Datatype {
        /// The type of bytes, which MPI does not convert.
        BYTE = 0x247,
    }
}

/// `MPI_Status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Status {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) error: c_int,
    internal: [c_int; 5],
}

/// `MPI_SUCCESS`.
pub(crate) const SUCCESS: c_int = 0;
/// `MPI_ANY_SOURCE`.
pub(crate) const ANY_SOURCE: c_int = -1;
/// `MPI_COMM_TYPE_SHARED`: the processes that share memory, and so are on one machine.
pub(crate) const TYPE_SHARED: c_int = 221;
/// `MPI_THREAD_SERIALIZED`: any thread may call, one at a time.
pub(crate) const THREAD_SERIALIZED: c_int = 2048;
/// `MPI_MAX_ERROR_STRING`.
pub(crate) const ERROR_STRING_MAX: usize = 512;
/// `MPI_MAX_LIBRARY_VERSION_STRING`.
pub(crate) const LIBRARY_VERSION_MAX: usize = 8192;
/// `MPI_MAX_PROCESSOR_NAME`.
pub(crate) const PROCESSOR_NAME_MAX: usize = 256;

/// Declares the table: for each function, a field and the symbol that fills it.
macro_rules! functions {
    ($($field:ident = $symbol:literal ($($argument:ident: $type:ty),*);)*) => {
        /// The functions, as addresses in the library.
        pub(crate) struct Functions {
            $(pub(crate) $field: unsafe extern "C" fn($($argument: $type),*) -> c_int,)*
        }

        impl Functions {
            /// The names of the symbols that a library must export.
            #[cfg(test)]
            pub(crate) const SYMBOLS: &[&str] = &[$($symbol),*];

            /// Looks up every function of the table in the library.
            ///
            /// # Errors
            /// Returns the name of the first missing symbol.
            ///
            /// # Safety
            /// The library offers the MPI standard ABI: its symbols have the signatures of that standard. The table is
            /// not called after the library is closed.
            #[allow(unsafe_code, reason = "symbols of a library have the types that its standard gives them")]
            pub(crate) unsafe fn load(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    // SAFETY: the caller guarantees the signatures.
                    $($field: *unsafe { library.get(concat!($symbol, "\0")) }.map_err(|_| $symbol)?,)*
                })
            }
        }
    };
}

functions! {
    init_thread = "MPI_Init_thread" (argc: *mut c_int, argv: *mut *mut *mut c_char, required: c_int, provided: *mut c_int);
    initialized = "MPI_Initialized" (flag: *mut c_int);
    finalize = "MPI_Finalize" ();
    abort = "MPI_Abort" (comm: Comm, code: c_int);
    abi_version = "MPI_Abi_get_version" (major: *mut c_int, minor: *mut c_int);
    library_version = "MPI_Get_library_version" (text: *mut c_char, length: *mut c_int);
    processor_name = "MPI_Get_processor_name" (text: *mut c_char, length: *mut c_int);
    error_string = "MPI_Error_string" (code: c_int, text: *mut c_char, length: *mut c_int);
    set_error_handler = "MPI_Comm_set_errhandler" (comm: Comm, handler: ErrorHandler);
    duplicate = "MPI_Comm_dup" (comm: Comm, copy: *mut Comm);
    split_type = "MPI_Comm_split_type" (comm: Comm, kind: c_int, key: c_int, info: Info, part: *mut Comm);
    free = "MPI_Comm_free" (comm: *mut Comm);
    rank = "MPI_Comm_rank" (comm: Comm, rank: *mut c_int);
    size = "MPI_Comm_size" (comm: Comm, size: *mut c_int);
    isend = "MPI_Isend_c" (
        data: *const c_void, count: Count, datatype: Datatype, to: c_int, tag: c_int, comm: Comm, request: *mut Request
    );
    improbe = "MPI_Improbe" (
        from: c_int, tag: c_int, comm: Comm, flag: *mut c_int, message: *mut Message, status: *mut Status
    );
    imrecv = "MPI_Imrecv_c" (
        data: *mut c_void, count: Count, datatype: Datatype, message: *mut Message, request: *mut Request
    );
    get_count = "MPI_Get_count_c" (status: *const Status, datatype: Datatype, count: *mut Count);
    test = "MPI_Test" (request: *mut Request, flag: *mut c_int, status: *mut Status);
    ibarrier = "MPI_Ibarrier" (comm: Comm, request: *mut Request);
    win_allocate_shared = "MPI_Win_allocate_shared" (
        size: isize, unit: c_int, info: Info, comm: Comm, address: *mut *mut c_void, win: *mut Win
    );
    win_shared_query = "MPI_Win_shared_query" (
        win: Win, rank: c_int, size: *mut isize, unit: *mut c_int, address: *mut *mut c_void
    );
    win_free = "MPI_Win_free" (win: *mut Win);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_sizes_of_the_standard() {
        assert_eq!(size_of::<Status>(), size_of::<[c_int; 8]>());
        assert_eq!(size_of::<Comm>(), size_of::<*mut c_void>());
        assert_eq!(size_of::<Count>(), 8);
    }

    #[test]
    fn every_symbol_is_named_once() {
        let mut names = Functions::SYMBOLS.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Functions::SYMBOLS.len());
        assert!(names.iter().all(|name| name.starts_with("MPI_")), "{names:?}");
    }
}
