//! The service of data sets.
//!
//! Some operations need two steps: the request, and a later change of the document. `begin`, `rename` and `remove`
//! change the document themselves. `append`, `finish`, `open` and `put` run alongside other operations, and send the
//! service a change (`grow`, `start_reading`, `settle`). The serialised form of such a change has no data. Separate
//! threads read files. A change may leave contents that the document no longer names; the next change removes them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lehr_runtime::{Context, Reply, block_on, blocking};
use lehr_services::{
    Beginning, Call, Code, Concurrent, Event, Exclusive, Fault, Handlers, Independent, Operation, Reference, Reporter,
    Service, Starting, Subscribe, Subscription,
};
use lehr_sync::{Arc, Mutex, thread::spawn_detached};

use super::contents::{Contents, Recovered};
use super::root::Root;
use super::*;
use crate::format::{self, Found};

/// The maximum size of one piece of an upload, in bytes.
pub(super) const PIECE_BYTES: u64 = 64 << 20;

/// The maximum size of a table that leaves the node in one answer, in bytes. Larger tables are read in pieces.
const TAKEN_BYTES: u64 = 64 << 20;

/// The folders and limits of the service of data sets.
///
/// # Example
/// ```
/// let limits = lehr_jobs::Limits::default();
/// assert_eq!((limits.upload_bytes, limits.uploads), (4 << 30, 64));
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    /// The folder for the data sets. Default: none, so the data are lost when the process ends.
    pub keep: Option<PathBuf>,
    /// The folder whose files clients may open. Default: none.
    pub root: Option<PathBuf>,
    /// The maximum size of one upload, in bytes. Default: 4 GiB.
    pub upload_bytes: u64,
    /// The maximum number of unfinished uploads. Default: 64.
    pub uploads: usize,
    /// The maximum number of data sets. Default: 10,000.
    pub datasets: usize,
    /// The maximum size of the values in one data set, in bytes. Default: 8 GiB.
    pub dataset_bytes: u64,
    /// The maximum ratio of an upload's expanded size, both uncompressed and as values, to its own size. Default: 100.
    pub expansion: u64,
    /// The expanded size that is allowed to every upload, however small, in bytes. Default: 64 MiB.
    pub expanded_bytes: u64,
    /// The maximum memory for the values of all data sets, in bytes. A service that keeps data on disk also holds the
    /// most recently used data sets in memory. Default: 8 GiB.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            keep: None,
            root: None,
            upload_bytes: 4 << 30,
            uploads: 64,
            datasets: 10_000,
            dataset_bytes: 8 << 30,
            expansion: 100,
            expanded_bytes: 64 << 20,
            memory_bytes: 8 << 30,
        }
    }
}

/// The service that implements [`Datasets`].
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug)]
pub struct DatasetService {
    document: Datasets,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    contents: Contents,
    root: Option<Root>,
    limits: Limits,
    /// Reports damage that is found while the service runs.
    reporter: Mutex<Option<Reporter>>,
}

impl DatasetService {
    /// Creates a service with these limits.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if a folder cannot be used, or if another process keeps its data there.
    ///
    /// # Example
    /// See [`Open`].
    pub fn new(limits: Limits) -> Result<Self, Fault> {
        let contents = Contents::new(limits.keep.clone(), limits.memory_bytes)?;
        let root = limits.root.as_deref().map(Root::new).transpose()?;
        Ok(Self {
            document: Datasets::default(),
            inner: Arc::new(Inner { contents, root, limits, reporter: Mutex::default() }),
        })
    }

    /// Creates a service that keeps nothing on disk and opens no files.
    ///
    /// # Panics
    /// Never panics, because it does not use the disk.
    ///
    /// # Example
    /// See [`Datasets`].
    pub fn in_memory() -> Self {
        Self::new(Limits::default()).expect("no folder is asked for")
    }

    /// Returns the numbers of the contents that the document names.
    fn named(&self) -> BTreeSet<u64> {
        let contents = self.document.datasets.values().map(|dataset| dataset.content);
        let uploads = self.document.uploads.values().map(|upload| upload.content);
        contents.chain(uploads).collect()
    }

    /// Removes contents that the document does not name. All contents that it names now were stored before this change
    /// began.
    fn sweep(&self) {
        let named = self.named();
        blocking("the disk", || self.inner.contents.sweep(&named));
    }

    /// Makes data sets from stored tables after the document was lost together with its copy.
    fn adopt(&mut self, starting: &Starting) -> Result<(), Fault> {
        let Recovered { tables, aside } = blocking("the disk", || self.inner.contents.recover()).map_err(unreadable)?;
        if starting.beginning() == Beginning::New && tables.is_empty() && aside.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = tables.iter().map(|(number, _)| format!("recovered/{number}")).collect();
        for (name, (content, table)) in names.iter().zip(&tables) {
            self.document.next = self.document.next.max(*content);
            self.document
                .datasets
                .insert(name.clone(), Dataset { content: *content, ..Dataset::new(table, Source::Table) });
        }
        let listed = |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        starting.report(format!(
            "the list of data sets was gone; recovered from their contents: {}; files that are kept under other names: {}",
            listed(names),
            listed(aside)
        ));
        Ok(())
    }

    /// Keeps the files of contents that a restored document does not name: an older copy may have replaced a newer
    /// document.
    fn put_aside(&self, starting: &Starting) -> Result<(), Fault> {
        let named = self.named();
        let aside = blocking("the disk", || self.inner.contents.put_aside(&named)).map_err(unreadable)?;
        if !aside.is_empty() {
            starting
                .report(format!("the restored list does not name these files, which are kept: {}", aside.join(", ")));
        }
        Ok(())
    }

    /// Reports the data sets whose contents are gone from the disk.
    fn report_missing(&self, starting: &Starting) {
        let is_gone = |dataset: &Dataset| !self.inner.contents.is_there(dataset.content);
        let gone = blocking("the disk", || {
            let gone = self.document.datasets.iter().filter(|(_, dataset)| is_gone(dataset));
            gone.map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>()
        });
        if !gone.is_empty() {
            let of = if gone.len() == 1 { "a data set" } else { "data sets" };
            starting.report(format!(
                "the contents of {of} are gone from the disk; remove and bring in again: {}",
                gone.join(", ")
            ));
        }
    }

    fn number(&mut self) -> u64 {
        self.document.next += 1;
        self.document.next
    }

    fn upload(&mut self, name: &str) -> Result<&mut Upload, Fault> {
        self.document.uploads.get_mut(name).ok_or_else(|| unknown_upload(name))
    }

    fn dataset(&self, name: &str) -> Result<&Dataset, Fault> {
        let dataset = self.document.datasets.get(name);
        dataset.ok_or_else(|| Fault::new(Code::UnknownEntry, format!("there is no data set {name:?}")))
    }

    fn table(&self, name: &str) -> Result<Table, Fault> {
        let dataset = self.dataset(name)?;
        let table = blocking("the disk", || self.inner.contents.read(dataset.content, &dataset.checksum, name));
        table.inspect_err(|fault| {
            if fault.code() == Code::OperationFailed
                && let Some(reporter) = &*self.inner.reporter.lock()
            {
                reporter.report(fault.reason());
            }
        })
    }

    /// Checks whether a data set of this name may be stored: the name must be free, and the number of data sets is
    /// limited.
    fn check_free(&self, name: &str, replace: bool) -> Result<(), Fault> {
        if !replace && self.document.datasets.contains_key(name) {
            let reason = format!(
                "there is a data set {name:?}: choose another name, or replace it (\"replace\": true, --replace)"
            );
            return Err(Fault::new(Code::DuplicateEntry, reason));
        }
        if self.document.datasets.len() >= self.inner.limits.datasets && !self.document.datasets.contains_key(name) {
            let reason = format!("there are {} data sets, and no more are allowed", self.document.datasets.len());
            return Err(Fault::new(Code::InsufficientResources, reason));
        }
        Ok(())
    }

    /// Stores a table under a new number.
    fn keep(&mut self, name: &str, dataset: Dataset, table: &Table, replace: bool) -> Result<Dataset, Fault> {
        self.check_free(name, replace)?;
        let most = self.inner.limits.dataset_bytes;
        if dataset.bytes > most {
            return Err(Fault::new(Code::TooLarge, format!("{name:?}: a data set has at most {most} bytes here")));
        }
        let content = self.number();
        blocking("the disk", || self.inner.contents.write(content, table))?;
        Ok(Dataset { content, ..dataset })
    }

    /// Reads an upload or a file on a separate thread, and sends the outcome to the service.
    fn start_reading(&self, name: String, upload: Upload, own: Reference<Datasets>) -> Result<(), Fault> {
        let inner = self.inner.clone();
        let body = move || {
            let table = inner.read(&name, &upload);
            let (dataset, fault, table) = match table {
                Ok(Found { table, warnings, account }) => {
                    let dataset = Dataset { warnings, account, ..Dataset::new(&table, upload.source) };
                    (Some(dataset), None, Some(Handle(table)))
                }
                Err(fault) => (None, Some(fault), None),
            };
            let (replace, read_from) = (upload.replace, Some(upload.content));
            let settle = Settle { name, dataset, fault, replace, read_from, table };
            // The service refuses this request only when it ends; it reads the upload again after its restart.
            let _ = block_on(own.call(settle));
        };
        spawn_detached("lehr-reading", body)
            .map(drop)
            .map_err(|error| Fault::new(Code::InsufficientResources, "no thread to read with").log(error.to_string()))
    }
}

/// Returns the fault of a start that cannot use the files of the folder.
fn unreadable(error: std::io::Error) -> Fault {
    Fault::new(Code::StartFailed, "what is kept of data sets cannot be read").log(error.to_string())
}

fn unknown_upload(name: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("no upload {name:?} has begun"))
}

impl Inner {
    fn read(&self, name: &str, upload: &Upload) -> Result<Found, Fault> {
        let most = self.limits.dataset_bytes;
        match &upload.source {
            Source::Upload { format, .. } => {
                let file = self.contents.part(upload.content, upload.offset, upload.sha256.as_deref())?;
                // A few bytes of a compressed file may expand to any number of rows.
                let Limits { expansion, expanded_bytes, .. } = self.limits;
                let expanded = upload.offset.saturating_mul(expansion).max(expanded_bytes);
                let read = format::read(file, *format, &upload.reading, name, most.min(expanded));
                read.map_err(|fault| {
                    if fault.code() != Code::TooLarge || expanded >= most {
                        return fault;
                    }
                    let rule = format!(
                        "an upload of {} bytes may become {expanded}: {expansion} times its size, and {expanded_bytes} in any case",
                        upload.offset
                    );
                    Fault::new(Code::TooLarge, format!("{}; {rule}", fault.reason()))
                })
            }
            Source::File { path, format } => {
                let root = self.root.as_ref().ok_or_else(no_root)?;
                let file = root.open(path)?;
                if *format == Form::Dissimilarities {
                    let beside = |array: &Path| root.open(&array.to_string_lossy());
                    return format::read_beside(file, beside, path, most);
                }
                format::read(file, *format, &upload.reading, path, most)
            }
            Source::Table => Err(Fault::new(Code::OperationFailed, "a table is not read")),
        }
    }
}

fn no_root() -> Fault {
    Fault::new(Code::PermissionDenied, "this node has no data root: its files are not to be opened")
}

/// Checks whether a text can be the name of a data set.
pub(crate) fn check_name(name: &str) -> Result<(), Fault> {
    let is_part = |part: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        !part.is_empty() && part.bytes().all(is_letter) && part.bytes().any(|byte| byte != b'.')
    };
    if name.len() <= NAME_BYTES && name.split('/').all(is_part) {
        return Ok(());
    }
    let rule = "expected letters, digits, '.', '_' and '-', in parts with '/' between them, at most 200 characters";
    Err(Fault::new(Code::InvalidValue, format!("name: {rule}, found {name:?}")))
}

/// Checks that the service itself sent this request.
fn check_own(call: &Call) -> Result<(), Fault> {
    if call.caller().is_none() {
        return Ok(());
    }
    Err(Fault::new(Code::PermissionDenied, "the service sends this to itself only"))
}

impl Service for DatasetService {
    type Document = Datasets;

    fn document(&self) -> &Datasets {
        &self.document
    }

    fn document_mut(&mut self) -> &mut Datasets {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Begin>().independent::<Append>().independent::<Finish>().independent::<Open>();
        on.independent::<UploadFile>().independent::<Put>().concurrent::<Take>().concurrent::<Read>();
        on.exclusive::<Rename>().exclusive::<Remove>();
        on.exclusive::<Grow>().exclusive::<StartReading>().exclusive::<Settle>().exclusive::<Abandon>();
    }

    fn rebuilds() -> bool {
        true
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        match starting.beginning() {
            Beginning::Kept | Beginning::Volatile => self.sweep(),
            Beginning::Restored => self.put_aside(starting)?,
            Beginning::New | Beginning::Lost => self.adopt(starting)?,
        }
        *self.inner.reporter.lock() = Some(starting.reporter());
        self.report_missing(starting);
        // Uploads that were being read when the service ended are read again.
        let reading = self.document.uploads.iter().filter(|(_, upload)| upload.state == UploadState::Reading);
        for (name, upload) in reading {
            self.start_reading(name.clone(), upload.clone(), starting.own()?)?;
        }
        Ok(())
    }
}

impl Exclusive<Begin> for DatasetService {
    async fn handle(&mut self, begin: Begin, _: &Call) -> Result<Offset, Fault> {
        self.sweep();
        check_name(&begin.name)?;
        let reading = begin.reading();
        reading.check(begin.format)?;
        let most = self.inner.limits.upload_bytes;
        if begin.bytes.is_some_and(|bytes| bytes > most) {
            return Err(Fault::new(Code::TooLarge, format!("an upload has at most {most} bytes here")));
        }
        if let Some(found) = begin.description.as_ref().map(|text| text.chars().count())
            && found > DESCRIPTION_CHARACTERS
        {
            let reason = format!("description: expected at most {DESCRIPTION_CHARACTERS} characters, found {found}");
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        if let Some(sum) = &begin.sha256
            && !(sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()))
        {
            let reason = format!("sha256: expected 64 hexadecimal digits, found {sum:?}");
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let mut upload = Upload {
            state: UploadState::Uploading,
            source: Source::Upload { format: begin.format, description: begin.description },
            reading,
            offset: 0,
            bytes: begin.bytes,
            sha256: begin.sha256,
            replace: begin.replace,
            fault: None,
            content: 0,
        };
        if let Some(before) = self.document.uploads.get(&begin.name)
            && before.state != UploadState::Failed
        {
            // An upload that is being read counts too: a client that begins it again will also finish it again.
            let same = Upload { state: before.state, offset: before.offset, content: before.content, ..upload.clone() };
            if *before == same {
                return Ok(Offset { offset: before.offset, piece_bytes_max: PIECE_BYTES });
            }
            let reason = format!("an upload {:?} has begun with other words: finish or remove it", begin.name);
            return Err(Fault::new(Code::DuplicateEntry, reason));
        }
        self.check_free(&begin.name, begin.replace)?;
        let active = self.document.uploads.values().filter(|upload| upload.state != UploadState::Failed).count();
        if active >= self.inner.limits.uploads {
            let reason = format!("{active} uploads are under way, and no more are allowed");
            let fault = Fault::new(Code::QueuingLimitExceeded, reason);
            return Err(fault.retry_after(std::time::Duration::from_secs(5)));
        }
        upload.content = self.number();
        blocking("the disk", || self.inner.contents.begin(upload.content))?;
        self.document.uploads.insert(begin.name, upload);
        Ok(Offset { offset: 0, piece_bytes_max: PIECE_BYTES })
    }
}

impl Independent<Append> for DatasetService {
    async fn handle(append: Append, call: &Call) -> Result<Offset, Fault> {
        let Append { name, offset, data } = append;
        let bytes = data.as_slice().len() as u64;
        call.own::<Datasets>()?.call(Grow { name, offset, bytes, data: Some(data) }).await
    }
}

impl Exclusive<Grow> for DatasetService {
    async fn handle(&mut self, grow: Grow, call: &Call) -> Result<Offset, Fault> {
        check_own(call)?;
        let Grow { name, offset, bytes, data } = grow;
        let data = data.ok_or_else(|| Fault::new(Code::InvalidValue, "a piece without its bytes"))?;
        let (inner, most) = (self.inner.clone(), self.inner.limits.upload_bytes);
        let upload = self.upload(&name)?;
        if upload.state != UploadState::Uploading {
            return Err(Fault::new(Code::InvalidValue, format!("the upload {name:?} is complete, or has failed")));
        }
        let end = offset.saturating_add(bytes);
        if end <= upload.offset {
            return Ok(Offset { offset: upload.offset, piece_bytes_max: PIECE_BYTES });
        }
        if offset != upload.offset {
            let reason = format!("expected a piece at offset {}, found one at {offset}", upload.offset);
            return Err(Fault::new(Code::PreconditionFailed, reason));
        }
        let most = upload.bytes.unwrap_or(most);
        if bytes > PIECE_BYTES || end > most {
            let reason = format!("a piece has at most {PIECE_BYTES} bytes, and this upload {most} in all");
            return Err(Fault::new(Code::TooLarge, reason));
        }
        blocking("the disk", || inner.contents.append(upload.content, offset, data.as_slice()))?;
        upload.offset = end;
        Ok(Offset { offset: end, piece_bytes_max: PIECE_BYTES })
    }
}

impl Independent<Finish> for DatasetService {
    async fn handle(Finish { name }: Finish, call: &Call) -> Result<Dataset, Fault> {
        let own = call.own::<Datasets>()?;
        let state = own.get().await?;
        if let (None, Some(dataset)) = (state.uploads.get(&name), state.datasets.get(&name)) {
            // The upload was finished before, but the answer was lost.
            return Ok(dataset.clone());
        }
        drop(state);
        finished(own, name).await
    }
}

/// The work that a request has begun. Dropping this value undoes the work: the request failed, its client disconnected,
/// or its deadline passed. If the bytes are being read at that time, the result is discarded, because no client refers
/// to them any more.
pub(super) struct Begun(Option<(Reference<Datasets>, lehr_runtime::Handle, Abandon)>);

impl Begun {
    /// Begins the work under a name. Returns the answer, and a [`Begun`] if this request began the work. A separate
    /// task sends the request. If the caller ends before the answer arrives, the task receives it and undoes the work.
    pub(super) async fn by<O>(call: &Call, begin: O, name: String) -> Result<(O::Reply, Option<Self>), Fault>
    where
        O: Operation<Contract = Datasets>,
    {
        let own = call.own::<Datasets>()?;
        let dispatcher = call.host()?.dispatcher().clone();
        let (reply, answer) = Reply::new();
        let spawner = dispatcher.clone();
        let task = async move {
            // If the caller no longer waits, the answer is dropped here, which undoes the work.
            drop(reply.answer(Self::of(own, dispatcher, begin, name).await));
        };
        Context::named("begin an upload").detached().build().run(|| spawner.spawn(task)).detach();
        answer.await.map_err(|refusal| Fault::new(Code::ServiceStopping, refusal.to_string()))?
    }

    async fn of<O>(
        own: Reference<Datasets>,
        dispatcher: lehr_runtime::Handle,
        begin: O,
        name: String,
    ) -> Result<(O::Reply, Option<Self>), Fault>
    where
        O: Operation<Contract = Datasets>,
    {
        let content = |state: &Datasets| state.uploads.get(&name).map(|upload| upload.content);
        let before = content(&*own.get().await?);
        let begun = own.call(begin).await?;
        let after = content(&*own.get().await?).filter(|after| before != Some(*after));
        Ok((begun, after.map(|content| Self(Some((own, dispatcher, Abandon { name, content }))))))
    }

    /// Keeps the work, because the request has succeeded.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        let Some((own, dispatcher, abandon)) = self.0.take() else { return };
        // A service that has ended reads its uploads again when it restarts.
        let task = async move { own.call(abandon).await.unwrap_or_default() };
        Context::named("take an upload back").detached().build().run(|| dispatcher.spawn(task)).detach();
    }
}

/// Tells the service to read an upload whose bytes have all arrived, and waits for the data set.
pub(super) async fn finished(own: Reference<Datasets>, name: String) -> Result<Dataset, Fault> {
    read_and_wait(own, StartReading { name, file: None }).await
}

impl Independent<Open> for DatasetService {
    async fn handle(open: Open, call: &Call) -> Result<Dataset, Fault> {
        let reading = open.reading();
        let Open { name, path, format, replace, .. } = open;
        let format = format.or_else(|| Form::of_name(&path)).ok_or_else(|| {
            let reason = format!(
                "format: expected csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or dissimilarities, since the name of {path:?} does not say"
            );
            Fault::new(Code::InvalidValue, reason)
        })?;
        reading.check(format)?;
        let file = Upload {
            state: UploadState::Reading,
            source: Source::File { path, format },
            reading,
            offset: 0,
            bytes: None,
            sha256: None,
            replace,
            fault: None,
            content: 0,
        };
        let own = call.own::<Datasets>()?;
        let mut changes = own.subscribe(Subscribe::default().keys([name.clone()])).await?;
        let start = StartReading { name: name.clone(), file: Some(file) };
        let ((), begun) = Begun::by(call, start, name.clone()).await?;
        let dataset = read(&own, &name, &mut changes).await?;
        if let Some(begun) = begun {
            begun.keep();
        }
        Ok(dataset)
    }
}

impl Exclusive<Abandon> for DatasetService {
    async fn handle(&mut self, Abandon { name, content }: Abandon, call: &Call) -> Result<(), Fault> {
        check_own(call)?;
        // A failed upload has lost its number.
        let is_it = |upload: &Upload| upload.content == content || upload.state == UploadState::Failed;
        if self.document.uploads.get(&name).is_some_and(is_it) {
            self.document.uploads.remove(&name);
            self.inner.contents.mark();
        }
        Ok(())
    }
}

/// Tells the service to read an upload or a file, and waits for the outcome.
async fn read_and_wait(own: Reference<Datasets>, start: StartReading) -> Result<Dataset, Fault> {
    let name = start.name.clone();
    let mut changes = own.subscribe(Subscribe::default().keys([name.clone()])).await?;
    own.call(start).await?;
    read(&own, &name, &mut changes).await
}

/// Waits until the service has read an upload or a file.
async fn read(own: &Reference<Datasets>, name: &str, changes: &mut Subscription<Datasets>) -> Result<Dataset, Fault> {
    loop {
        let state = own.get().await?;
        match (state.uploads.get(name), state.datasets.get(name)) {
            (Some(upload), _) if upload.state == UploadState::Reading => {}
            (Some(Upload { fault: Some(fault), .. }), _) => return Err(fault.clone()),
            (None, Some(dataset)) => return Ok(dataset.clone()),
            _ => return Err(Fault::new(Code::OperationCancelled, format!("{name:?} was removed while it was read"))),
        }
        // Drop the state now, because a change copies it while it is held.
        drop(state);
        match changes.next().await {
            Ok(Event::Seed(_) | Event::Change(_) | Event::Gap { .. }) => {}
            Err(end) => return Err(Fault::new(Code::ServiceStopping, end.to_string())),
        }
    }
}

impl Exclusive<StartReading> for DatasetService {
    async fn handle(&mut self, start: StartReading, call: &Call) -> Result<(), Fault> {
        check_own(call)?;
        self.sweep();
        let StartReading { name, file } = start;
        let upload = match file {
            Some(mut file) => {
                check_name(&name)?;
                let Source::File { path, .. } = &file.source else { return Err(no_root()) };
                if let Some(upload) = self.document.uploads.get(&name)
                    && upload.state != UploadState::Failed
                {
                    let reason = format!("{name:?} is coming in already");
                    return Err(Fault::new(Code::DuplicateEntry, reason));
                }
                // The same file under the same name is read again into the same data set, so that a workflow can run
                // twice.
                file.replace |= self.document.datasets.get(&name).is_some_and(|before| before.source == file.source);
                self.check_free(&name, file.replace)?;
                // Refuse a file that cannot be opened now, before the document changes.
                let root = self.inner.root.as_ref().ok_or_else(no_root)?;
                blocking("the disk", || root.open(path))?;
                file.content = self.number();
                self.document.uploads.insert(name.clone(), file.clone());
                file
            }
            None => {
                let upload = self.upload(&name)?;
                match upload.state {
                    UploadState::Reading => return Ok(()),
                    UploadState::Failed => {
                        let failed = Fault::new(Code::InvalidValue, format!("the upload {name:?} has failed"));
                        return Err(upload.fault.clone().unwrap_or(failed));
                    }
                    UploadState::Uploading => {}
                }
                if let Some(bytes) = upload.bytes.filter(|bytes| *bytes != upload.offset) {
                    let reason = format!("expected {bytes} bytes, found {}: continue there", upload.offset);
                    return Err(Fault::new(Code::PreconditionFailed, reason));
                }
                upload.state = UploadState::Reading;
                upload.clone()
            }
        };
        // If this change cannot be stored, the service ignores the outcome of the reading.
        self.start_reading(name, upload, call.own()?)
    }
}

impl Independent<Put> for DatasetService {
    async fn handle(Put { name, table, replace }: Put, call: &Call) -> Result<Dataset, Fault> {
        check_name(&name)?;
        let dataset = Some(Dataset::new(&table.0, Source::Table));
        let settle = Settle { name, dataset, fault: None, replace, read_from: None, table: Some(table) };
        let settled = call.own::<Datasets>()?.call(settle).await?;
        settled.ok_or_else(|| Fault::new(Code::OperationFailed, "the table was not kept"))
    }
}

impl Exclusive<Settle> for DatasetService {
    async fn handle(&mut self, settle: Settle, call: &Call) -> Result<Option<Dataset>, Fault> {
        check_own(call)?;
        self.sweep();
        let Settle { name, dataset, fault, replace, read_from, table } = settle;
        if let Some(content) = read_from {
            let is_wanted = |upload: &Upload| upload.content == content && upload.state == UploadState::Reading;
            if !self.document.uploads.get(&name).is_some_and(is_wanted) {
                return Err(unknown_upload(&name));
            }
        }
        let kept = match (dataset, table) {
            (Some(dataset), Some(Handle(table))) => self.keep(&name, dataset, &table, replace),
            _ => Err(fault.unwrap_or_else(|| Fault::new(Code::OperationFailed, "nothing was read"))),
        };
        match (kept, read_from) {
            (Ok(dataset), _) => {
                if read_from.is_some() {
                    self.document.uploads.remove(&name);
                }
                self.document.datasets.insert(name, dataset.clone());
                self.inner.contents.mark();
                Ok(Some(dataset))
            }
            (Err(fault), None) => Err(fault),
            (Err(fault), Some(_)) => {
                let upload = self.upload(&name)?;
                upload.state = UploadState::Failed;
                upload.fault = Some(fault);
                // The bytes are not needed any more.
                upload.content = 0;
                upload.offset = 0;
                self.inner.contents.mark();
                Ok(None)
            }
        }
    }
}

impl Concurrent<Take> for DatasetService {
    async fn handle(&self, Take { name }: Take, call: &Call) -> Result<Handle, Fault> {
        let dataset = self.dataset(&name)?;
        if call.caller().is_some() && dataset.bytes > TAKEN_BYTES {
            let reason = format!("{name:?} has {} bytes: read it in pieces", dataset.bytes);
            return Err(Fault::new(Code::TooLarge, reason));
        }
        self.table(&name).map(Handle)
    }
}

impl Concurrent<Read> for DatasetService {
    async fn handle(&self, read: Read, _: &Call) -> Result<Piece, Fault> {
        let Read { name, columns, format, from, to, every } = read;
        let mut table = self.table(&name)?;
        if let Some(columns) = &columns {
            table = table.only(&name, columns)?;
        }
        blocking("writing rows", || format::piece(&table, format, from, to, every))
    }
}

impl Exclusive<Rename> for DatasetService {
    async fn handle(&mut self, Rename { name, to }: Rename, _: &Call) -> Result<(), Fault> {
        check_name(&to)?;
        self.dataset(&name)?;
        if to != name && (self.document.datasets.contains_key(&to) || self.document.uploads.contains_key(&to)) {
            return Err(Fault::new(Code::DuplicateEntry, format!("there is {to:?} already")));
        }
        if let Some(dataset) = self.document.datasets.remove(&name) {
            self.document.datasets.insert(to, dataset);
        }
        Ok(())
    }
}

impl Exclusive<Remove> for DatasetService {
    async fn handle(&mut self, Remove { name }: Remove, _: &Call) -> Result<(), Fault> {
        self.sweep();
        if self.document.uploads.remove(&name).is_none() && self.document.datasets.remove(&name).is_none() {
            return Err(Fault::new(Code::UnknownEntry, format!("there is no data set {name:?}")));
        }
        self.inner.contents.mark();
        Ok(())
    }
}
