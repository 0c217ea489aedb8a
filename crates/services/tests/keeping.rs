//! Services whose document is kept on disk.

use lehr_services::{Code, DIRECTORY, Directory, Placement, Subscribe};

use crate::behaviours::samples::*;
use crate::on_hosts;

// Catalogue: 115
#[test]
fn what_was_acknowledged_is_there_in_the_next_life_and_nothing_else() {
    on_hosts(async |host, _| {
        let folder = tempfile::tempdir().unwrap();
        let kept = || Placement::at("/books").keep(folder.path().join("books.json"));
        let books = host.start(kept(), Bookkeeper::new).await.unwrap();
        books.call(put("ada", 1)).await.unwrap();
        // A change that fails half-way is undone, so that memory and disk agree.
        let mut watched = books.subscribe(Subscribe::default()).await.unwrap();
        assert!(watched.next().await.is_ok());
        assert_eq!(books.call(BreakAlone {}).await.unwrap_err().code(), Code::OperationFailed);
        let state = books.get().await.unwrap();
        assert_eq!((state.version(), state.log.as_slice()), (1, ["put ada".to_owned()].as_slice()));
        books.drop_service().await.unwrap();
        let books = host.start(kept(), Bookkeeper::new).await.unwrap();
        assert_eq!(books.get().await.unwrap().log, ["put ada"]);
    });
}

#[test]
fn a_change_that_cannot_be_written_is_not_made() {
    on_hosts(async |host, _| {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let placement = Placement::at("/books").keep(inner.join("books.json"));
        let books = host.start(placement, Bookkeeper::new).await.unwrap();
        books.call(put("ada", 1)).await.unwrap();
        std::fs::remove_dir_all(&inner).unwrap();
        let with_key = books.clone().key("bob");
        assert_eq!(with_key.call(put("bob", 2)).await.unwrap_err().code(), Code::InsufficientResources);
        assert_eq!(books.get().await.unwrap().log, ["put ada"]);
        std::fs::create_dir(&inner).unwrap();
        // The disk is there again, and the fault was not remembered under the key.
        with_key.call(put("bob", 2)).await.unwrap();
        assert_eq!(books.get().await.unwrap().log, ["put ada", "put bob"]);
    });
}

// Catalogue: 116
#[test]
fn a_state_that_is_damaged_with_its_copy_stops_every_start() {
    on_hosts(async |host, _| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("books.json");
        std::fs::write(&file, "{").unwrap();
        let kept = || Placement::at("/books").keep(&file);
        for _ in 0..2 {
            let fault = host.start(kept(), Bookkeeper::new).await.unwrap_err();
            assert_eq!(fault.code(), Code::StartFailed);
            assert!(
                fault.reason().contains("is damaged: it has one line, where two are expected; there is no copy"),
                "{fault}"
            );
        }
        std::fs::remove_file(&file).unwrap();
        let books = host.start(kept(), Bookkeeper::new).await.unwrap();
        assert!(books.get().await.unwrap().log.is_empty());
    });
}

#[test]
fn a_damaged_state_comes_back_from_its_copy_and_the_directory_says_so() {
    on_hosts(async |host, _| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("books.json");
        let kept = || Placement::at("/books").keep(&file);
        host.ready().await;
        let directory = host.reference::<Directory>(DIRECTORY).unwrap();
        for damage in ["", "{"] {
            let books = host.start(kept(), Bookkeeper::new).await.unwrap();
            books.call(put("ada", 1)).await.unwrap();
            books.drop_service().await.unwrap();
            std::fs::write(&file, damage).unwrap();
            let books = host.start(kept(), Bookkeeper::new).await.unwrap();
            assert_eq!(books.get().await.unwrap().log.last().unwrap(), "put ada");
            let reports = directory.get().await.unwrap().services["/books"].reports.clone();
            assert_eq!(reports.len(), 1);
            assert!(reports[0].contains("has been restored from its copy"), "{reports:?}");
            books.drop_service().await.unwrap();
            // After it was restored, the service starts without a report.
            let books = host.start(kept(), Bookkeeper::new).await.unwrap();
            assert!(directory.get().await.unwrap().services["/books"].reports.is_empty());
            books.drop_service().await.unwrap();
        }
    });
}
