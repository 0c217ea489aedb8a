//! The functions that a page calls. Bytes cross by address and length.
//!
//! A worker writes its bytes into memory from [`lehr_alloc`], calls a function, reads the answer, and frees it. An
//! answer is a head of JSON and the files behind it: `u32` length of the head, the head, the files one after the other.
//! The head has `error`, or `told` and the names and lengths of `files`.

use std::alloc::{Layout, alloc, dealloc};
use std::cell::RefCell;

use lehr_mining::anneal::{Control, Observer, Progress};
use serde_json::{Value, json};

use crate::{File, Ran, Request, columns, predict, run};

#[link(wasm_import_module = "lehr")]
unsafe extern "C" {
    /// Hears the progress: a text of JSON.
    fn progress(text: *const u8, length: usize);
}

thread_local! {
    /// The latest run, whose files the page may ask for.
    static RAN: RefCell<Option<Ran>> = const { RefCell::new(None) };
}

/// Tells the page.
struct Page;

impl Observer for Page {
    fn progress(&mut self, heard: &Progress) -> Control {
        let figures: serde_json::Map<String, Value> =
            heard.figures.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let text = json!({ "stage": heard.stage, "fraction": heard.fraction, "figures": figures }).to_string();
        // SAFETY: the text lives until the call returns, and the page only reads it.
        unsafe { progress(text.as_ptr(), text.len()) };
        Control::Continue
    }
}

fn layout(bytes: usize) -> Layout {
    Layout::array::<u64>(bytes.div_ceil(8).max(1)).expect("a browser asks for less than its memory")
}

/// Memory for the page to write to; 0 if there is none left.
#[unsafe(no_mangle)]
pub extern "C" fn lehr_alloc(bytes: usize) -> *mut u8 {
    // SAFETY: the layout is of at least eight bytes.
    unsafe { alloc(layout(bytes)) }
}

/// Frees memory.
///
/// # Safety
/// It is from [`lehr_alloc`] or an answer, with its length, and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lehr_free(address: *mut u8, bytes: usize) {
    // SAFETY: as the caller says, the memory was allocated by this layout.
    unsafe { dealloc(address, layout(bytes)) }
}

/// Whether results have the same bits as on every other machine.
#[unsafe(no_mangle)]
pub extern "C" fn lehr_is_exact() -> bool {
    lehr_numerics::dispatch::is_fused()
}

/// Bytes that the page wrote.
///
/// # Safety
/// There are so many bytes at the address until the call returns, and nobody writes to them meanwhile.
unsafe fn bytes<'a>(address: *const u8, length: usize) -> &'a [u8] {
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(address, length) }
}

/// Runs a method: the request as JSON, and the file. The answer has the report; [`lehr_files`] has the other files.
///
/// # Safety
/// As for [`bytes`], of both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lehr_run(
    request: *const u8,
    request_length: usize,
    file: *const u8,
    length: usize,
) -> *mut u8 {
    // SAFETY: as the caller says.
    let (request, file) = unsafe { (bytes(request, request_length), bytes(file, length)) };
    let asked = serde_json::from_slice::<Request>(request).map_err(|error| error.to_string());
    // The earlier run needs memory, which this run may need.
    RAN.take();
    answer(asked.and_then(|asked| run(&asked, file, &mut Page)).map(|mut ran| {
        let (told, report) = (json!(ran.told), std::mem::take(&mut ran.report));
        RAN.set(Some(ran));
        (told, vec![report])
    }))
}

/// Makes the other files of the latest run.
#[unsafe(no_mangle)]
pub extern "C" fn lehr_files() -> *mut u8 {
    answer(RAN.with_borrow(|ran| match ran {
        Some(ran) => ran.files().map(|files| (Value::Null, files)),
        None => Err("there is no run".to_owned()),
    }))
}

/// Describes the columns of a file, given its name.
///
/// # Safety
/// As for [`bytes`], of both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lehr_columns(name: *const u8, name_length: usize, file: *const u8, length: usize) -> *mut u8 {
    // SAFETY: as the caller says.
    let (name, file) = unsafe { (bytes(name, name_length), bytes(file, length)) };
    answer(columns(&String::from_utf8_lossy(name), file).map(|columns| (json!(columns), Vec::new())))
}

/// The options of a method, as the JSON schema of an object.
///
/// # Safety
/// As for [`bytes`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lehr_options(method: *const u8, length: usize) -> *mut u8 {
    // SAFETY: as the caller says.
    let name = String::from_utf8_lossy(unsafe { bytes(method, length) });
    answer(crate::run::method(&name).map(|method| (method.schema(), Vec::new())))
}

/// Labels the rows of a file by a model.
///
/// # Safety
/// As for [`bytes`], of all three.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lehr_predict(
    model: *const u8,
    model_length: usize,
    name: *const u8,
    name_length: usize,
    file: *const u8,
    length: usize,
) -> *mut u8 {
    // SAFETY: as the caller says.
    let (model, name, file) = unsafe { (bytes(model, model_length), bytes(name, name_length), bytes(file, length)) };
    answer(predict(model, &String::from_utf8_lossy(name), file).map(|file| (Value::Null, vec![file])))
}

/// An answer in memory that the page frees: the length of the whole, then the whole.
fn answer(outcome: Result<(Value, Vec<File>), String>) -> *mut u8 {
    let (head, files) = match outcome {
        Ok((told, files)) => {
            let named: Vec<Value> =
                files.iter().map(|file| json!({ "name": file.name, "length": file.bytes.len() })).collect();
            (json!({ "told": told, "files": named }), files)
        }
        Err(error) => (json!({ "error": error }), Vec::new()),
    };
    let head = head.to_string();
    let whole = 8 + head.len() + files.iter().map(|file| file.bytes.len()).sum::<usize>();
    let address = lehr_alloc(whole);
    assert!(!address.is_null(), "there is memory for the answer");
    // SAFETY: `lehr_alloc` gave so many bytes, which nobody else has.
    let to = unsafe { std::slice::from_raw_parts_mut(address, whole) };
    to[..4].copy_from_slice(&(whole as u32).to_le_bytes());
    to[4..8].copy_from_slice(&(head.len() as u32).to_le_bytes());
    to[8..8 + head.len()].copy_from_slice(head.as_bytes());
    let mut place = 8 + head.len();
    for file in files {
        to[place..place + file.bytes.len()].copy_from_slice(&file.bytes);
        place += file.bytes.len();
    }
    address
}
