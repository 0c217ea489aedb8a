//! The other services that a service needs, and how they are found.

use std::fmt;

use crate::contract::Contract;

/// The partners that a service needs, each with a name of its own; see [`Service::partners`](crate::Service::partners).
///
/// A binding of the placement goes before what is said here. A partner is found again after it has been started anew; while it is
/// not there, requests to it fail with [`Code::Unavailable`](crate::Code).
///
/// # Example
/// ```
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Note { text: String }
/// # impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Diary { pages: u32 }
/// # impl Contract for Diary { const NAME: &'static str = "example.org/diary"; const VERSION: Version = Version::new(1, 0); }
/// #[derive(Clone)]
/// struct Writer {
///     diary: Diary,
///     note: Option<Reference<Note>>,
/// }
///
/// impl Service for Writer {
///     type Document = Diary;
///     fn document(&self) -> &Diary { &self.diary }
///     fn document_mut(&mut self) -> &mut Diary { &mut self.diary }
///     fn handlers(_: &mut Handlers<Self>) {}
///     fn partners(needs: &mut Partners) {
///         needs.existing::<Note>("note").optional();
///     }
///     async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
///         self.note = starting.find_partner("note")?;
///         Ok(())
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct Partners {
    pub(crate) needs: Vec<Need>,
}

/// One partner that a service needs.
///
/// # Example
/// See [`Partners`].
#[derive(Clone, Copy)]
pub struct Need {
    pub(crate) name: &'static str,
    pub(crate) contract: &'static str,
    pub(crate) policy: Policy,
    pub(crate) is_optional: bool,
}

impl fmt::Debug for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Need")
            .field("name", &self.name)
            .field("contract", &self.contract)
            .finish_non_exhaustive()
    }
}

/// Where a partner comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// One that is there; of several the one whose path comes first.
    Existing,
    /// One that is there, or else a new one.
    ExistingOrCreate,
    /// Always a new one, of its own.
    Create,
    /// The one that the placement names.
    Bound,
}

impl Partners {
    /// One that is there; of several, the one whose path comes first. Waited for as long as the placement's patience lasts.
    pub fn existing<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::Existing)
    }

    /// One that is there, or else a new one, below the path of the service.
    pub fn existing_or_create<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::ExistingOrCreate)
    }

    /// Always a new one, below the path of the service.
    pub fn create<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::Create)
    }

    /// The one that the placement names ([`Placement::bind`](crate::Placement::bind)).
    pub fn bound<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::Bound)
    }

    fn add<D: Contract>(&mut self, name: &'static str, policy: Policy) -> &mut Need {
        let index = self.needs.len();
        self.needs.push(Need { name, contract: D::NAME, policy, is_optional: false });
        &mut self.needs[index]
    }
}

impl Need {
    /// Lets the service start without it.
    pub fn optional(&mut self) -> &mut Self {
        self.is_optional = true;
        self
    }
}
