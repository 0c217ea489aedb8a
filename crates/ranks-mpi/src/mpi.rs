//! Calls of MPI as functions that return a `Result`; each is a few lines over the table of `abi.rs`.
//!
//! Only one thread may call at a time, because MPI is started at the level "serialised" (see `process.rs` for the
//! reason). The structure of the code guarantees it: [`Mpi`] can only be reached through the lock of `post.rs`, or
//! before that lock exists.
#![allow(unsafe_code, reason = "foreign functions")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use crate::abi::{self, Comm, Datatype, ErrorHandler, Functions, Info, Message, Request, Status, Win};
use crate::error::Error;

/// An MPI library that has been started.
pub(crate) struct Mpi {
    functions: Functions,
}

/// A waiting message that a matched probe found, and that this process must now receive.
pub(crate) struct Found {
    pub(crate) source: usize,
    pub(crate) length: usize,
    message: Message,
}

/// A send, a receive or a barrier in progress. For the requirements on its buffer, see [`Mpi::send`] and
/// [`Mpi::receive`].
#[derive(Debug)]
pub(crate) struct Pending(Request);

impl Mpi {
    /// Starts MPI and makes its errors return codes.
    ///
    /// # Errors
    /// Returns [`Error::Started`]; [`Error::Call`] if the call fails or the library allows calls from only one thread.
    pub(crate) fn start(functions: Functions) -> Result<Self, Error> {
        let mpi = Self { functions };
        let mut flag = 0;
        // SAFETY: may be called at any time; the pointer is to a local variable.
        mpi.check("MPI_Initialized", unsafe { (mpi.functions.initialized)(&mut flag) })?;
        if flag != 0 {
            return Err(Error::Started);
        }
        let mut provided = 0;
        // SAFETY: MPI has not been started; null arguments are allowed; the pointer is to a local variable.
        let code = unsafe {
            (mpi.functions.init_thread)(ptr::null_mut(), ptr::null_mut(), abi::THREAD_SERIALIZED, &mut provided)
        };
        mpi.check("MPI_Init_thread", code)?;
        // SAFETY: MPI is started, the communicator is predefined, and so is the handler.
        let code = unsafe { (mpi.functions.set_error_handler)(Comm::WORLD, ErrorHandler::RETURN) };
        mpi.check("MPI_Comm_set_errhandler", code)?;
        if provided < abi::THREAD_SERIALIZED {
            let message = "the library allows calls from one thread only (MPI_THREAD_SERIALIZED is needed)".to_owned();
            return Err(Error::Call { function: "MPI_Init_thread", message });
        }
        Ok(mpi)
    }

    /// Ends MPI. No request may be pending, and no MPI function may be called afterwards.
    pub(crate) fn finalize(&self) -> Result<(), Error> {
        // SAFETY: called once, by the thread that started MPI, with no request pending (`Process::finish`).
        self.check("MPI_Finalize", unsafe { (self.functions.finalize)() })
    }

    /// Ends all processes of the job with this exit code; usually does not return.
    pub(crate) fn abort(&self, code: i32) {
        // SAFETY: MPI is started. Another thread may be in a call at the same time; the process ends by this one.
        let _ = unsafe { (self.functions.abort)(Comm::WORLD, code) };
    }

    /// Returns the major and the minor version of the library's ABI.
    pub(crate) fn abi_version(&self) -> Result<(i32, i32), Error> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the pointers are to local variables.
        let code = unsafe { (self.functions.abi_version)(&mut major, &mut minor) };
        self.check("MPI_Abi_get_version", code)?;
        Ok((major, minor))
    }

    /// Returns the first line of the library's own description.
    pub(crate) fn library_version(&self) -> Result<String, Error> {
        let text =
            self.text::<{ abi::LIBRARY_VERSION_MAX }>("MPI_Get_library_version", self.functions.library_version)?;
        Ok(text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns the name of this process's machine.
    pub(crate) fn processor_name(&self) -> Result<String, Error> {
        self.text::<{ abi::PROCESSOR_NAME_MAX }>("MPI_Get_processor_name", self.functions.processor_name)
    }

    /// Returns a copy of the communicator of all processes. No other library in this process can receive messages of
    /// this copy. Also returns this process's number in it and the number of processes.
    pub(crate) fn world(&self) -> Result<(Comm, usize, usize), Error> {
        let (mut copy, mut rank, mut size) = (Comm::WORLD, 0, 0);
        // SAFETY: all processes do this right after their start; the pointers are to local variables. The copy inherits
        // the error handler.
        unsafe {
            self.check("MPI_Comm_dup", (self.functions.duplicate)(Comm::WORLD, &mut copy))?;
            self.check("MPI_Comm_rank", (self.functions.rank)(copy, &mut rank))?;
            self.check("MPI_Comm_size", (self.functions.size)(copy, &mut size))?;
        }
        let number = |value: c_int| usize::try_from(value).expect("MPI numbers processes from 0");
        Ok((copy, number(rank), number(size)))
    }

    /// Returns a communicator of the processes of this machine, this process's number in it, and the number of its
    /// processes.
    pub(crate) fn near(&self) -> Result<(Comm, usize, usize), Error> {
        let (mut part, mut rank, mut size) = (Comm::WORLD, 0, 0);
        // SAFETY: all processes do this right after their start; the pointers are to local variables. The part inherits
        // the error handler.
        unsafe {
            let code = (self.functions.split_type)(Comm::WORLD, abi::TYPE_SHARED, 0, Info::NULL, &mut part);
            self.check("MPI_Comm_split_type", code)?;
            self.check("MPI_Comm_rank", (self.functions.rank)(part, &mut rank))?;
            self.check("MPI_Comm_size", (self.functions.size)(part, &mut size))?;
        }
        let number = |value: c_int| usize::try_from(value).expect("MPI numbers processes from 0");
        Ok((part, number(rank), number(size)))
    }

    /// Makes a window with this many bytes (whole words) for each process; returns the window and the address of this
    /// process's memory. All processes of the communicator, which must share memory, call this method together.
    pub(crate) fn share_memory(&self, comm: Comm, bytes: usize) -> Result<(Win, *mut usize), Error> {
        let (mut window, mut address) = (Win::NULL, ptr::null_mut());
        let bytes = isize::try_from(bytes).expect("a segment is far shorter");
        // SAFETY: the pointers are to local variables.
        let code =
            unsafe { (self.functions.win_allocate_shared)(bytes, 1, Info::NULL, comm, &mut address, &mut window) };
        self.check("MPI_Win_allocate_shared", code)?;
        self.words("MPI_Win_allocate_shared", address).map(|address| (window, address))
    }

    /// Returns the address, in this process, of another process's memory in a window.
    pub(crate) fn shared_memory(&self, window: Win, place: usize) -> Result<*mut usize, Error> {
        let (mut size, mut unit, mut address) = (0, 0, ptr::null_mut());
        // SAFETY: the window came from `share_memory`; the pointers are to local variables.
        let code =
            unsafe { (self.functions.win_shared_query)(window, place as c_int, &mut size, &mut unit, &mut address) };
        self.check("MPI_Win_shared_query", code)?;
        self.words("MPI_Win_shared_query", address)
    }

    /// Returns an address from MPI as an address of words, or an error if no word can be there.
    fn words(&self, function: &'static str, address: *mut c_void) -> Result<*mut usize, Error> {
        let words: *mut usize = address.cast();
        if words.is_null() || !words.is_aligned() {
            let message = format!("the memory that it gives, at {address:?}, is not at the address of a word");
            return Err(Error::Call { function, message });
        }
        Ok(words)
    }

    /// Frees a window and its memory. All processes of the window call this method together.
    pub(crate) fn give_memory_back(&self, mut window: Win) -> Result<(), Error> {
        // SAFETY: the window came from `share_memory`, and nothing uses its memory any longer (`Window::close`).
        self.check("MPI_Win_free", unsafe { (self.functions.win_free)(&mut window) })
    }

    /// Frees a communicator.
    pub(crate) fn free(&self, mut comm: Comm) -> Result<(), Error> {
        // SAFETY: the communicator came from `world` or `near`, and nothing is pending on it.
        self.check("MPI_Comm_free", unsafe { (self.functions.free)(&mut comm) })
    }

    /// Starts to send bytes to process `to`.
    ///
    /// # Safety
    /// The bytes stay in place, unchanged, until [`test`](Self::test) returns that the request is complete.
    pub(crate) unsafe fn send(&self, comm: Comm, to: usize, tag: i32, bytes: &[u8]) -> Result<Pending, Error> {
        let mut request = Request::NULL;
        // SAFETY: the caller keeps the bytes in place.
        let code = unsafe {
            let (data, count) = (bytes.as_ptr().cast(), bytes.len() as abi::Count);
            (self.functions.isend)(data, count, Datatype::BYTE, to as c_int, tag, comm, &mut request)
        };
        self.check("MPI_Isend", code)?;
        Ok(Pending(request))
    }

    /// Finds the earliest waiting message with a tag, from any sender, and takes it, so that no other receive can match
    /// it.
    pub(crate) fn find(&self, comm: Comm, tag: i32) -> Result<Option<Found>, Error> {
        let (mut flag, mut message, mut status) = (0, Message::NULL, Status::default());
        // SAFETY: the pointers are to local variables.
        let code =
            unsafe { (self.functions.improbe)(abi::ANY_SOURCE, tag, comm, &mut flag, &mut message, &mut status) };
        self.check("MPI_Improbe", code)?;
        if flag == 0 {
            return Ok(None);
        }
        let mut count: abi::Count = 0;
        // SAFETY: the status was filled above; the pointers are to local variables.
        self.check("MPI_Get_count", unsafe { (self.functions.get_count)(&status, Datatype::BYTE, &mut count) })?;
        let length = usize::try_from(count).expect("a message of bytes has a number of bytes");
        let source = usize::try_from(status.source).expect("a message was sent by a process");
        Ok(Some(Found { source, length, message }))
    }

    /// Starts to receive a message that was found.
    ///
    /// # Safety
    /// `buffer` is memory for `found.length` bytes that nothing else uses until [`test`](Self::test) says that the
    /// request is complete; then they are written.
    pub(crate) unsafe fn receive(&self, found: Found, buffer: *mut u8) -> Result<Pending, Error> {
        let (mut request, mut message) = (Request::NULL, found.message);
        let count = found.length as abi::Count;
        // SAFETY: the caller leaves the buffer to MPI; the other pointers are to local variables.
        let code = unsafe { (self.functions.imrecv)(buffer.cast(), count, Datatype::BYTE, &mut message, &mut request) };
        self.check("MPI_Imrecv", code)?;
        Ok(Pending(request))
    }

    /// Returns whether a request is complete; from then on it always returns `true`.
    pub(crate) fn test(&self, pending: &mut Pending) -> Result<bool, Error> {
        let (mut flag, mut status) = (0, Status::default());
        // SAFETY: the request came from this library, which makes it null when it is complete, and null is allowed; the
        // other pointers are to local variables.
        let code = unsafe { (self.functions.test)(&mut pending.0, &mut flag, &mut status) };
        self.check("MPI_Test", code)?;
        Ok(flag != 0)
    }

    /// Starts a barrier of all processes of a communicator.
    pub(crate) fn barrier(&self, comm: Comm) -> Result<Pending, Error> {
        let mut request = Request::NULL;
        // SAFETY: the pointer is to a local variable.
        self.check("MPI_Ibarrier", unsafe { (self.functions.ibarrier)(comm, &mut request) })?;
        Ok(Pending(request))
    }

    /// Returns the text that a function of MPI writes.
    fn text<const MAX: usize>(
        &self,
        function: &'static str,
        write: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,
    ) -> Result<String, Error> {
        let (mut text, mut length) = (vec![0_u8; MAX + 1], 0);
        // SAFETY: by the standard, at most `MAX` bytes are written.
        self.check(function, unsafe { write(text.as_mut_ptr().cast(), &mut length) })?;
        text.truncate(usize::try_from(length).unwrap_or(0));
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Converts a return code to a result with MPI's message.
    fn check(&self, function: &'static str, code: c_int) -> Result<(), Error> {
        if code == abi::SUCCESS {
            return Ok(());
        }
        let (mut text, mut length) = (vec![0_u8; abi::ERROR_STRING_MAX + 1], 0);
        // SAFETY: by the standard, no more than this is written; the function may be called at any time.
        let told = unsafe { (self.functions.error_string)(code, text.as_mut_ptr().cast(), &mut length) };
        text.truncate(usize::try_from(length).unwrap_or(0));
        let message =
            if told == abi::SUCCESS { String::from_utf8_lossy(&text).into_owned() } else { format!("error {code}") };
        Err(Error::Call { function, message })
    }
}
