//! Time limits that services pass on to the services that they call.

use std::time::Duration;

use lehr_runtime::Port;
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Operation, Partners, Placement, Reference, Service, Starting,
    Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Any, begin};
use crate::everywhere;

/// One of several services that call each other in turn.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Chain {}

impl Contract for Chain {
    const NAME: &'static str = "test/chain";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Chain, verb = Submit, name = "left", reply = Vec<u64>)]
pub struct Left {}

/// Returns how many milliseconds it has left. First waits at its gate, and calls the next service, if there is one.
#[derive(Clone, Default)]
pub struct Link {
    chain: Chain,
    next: Option<Reference<Chain>>,
    /// The time that was left to each handler when it began; `None` for a handler without a limit.
    pub begun: Port<Option<u64>>,
    /// Receives a message for each handler that was dropped or has ended.
    pub gone: Port<()>,
    pub gate: Port<()>,
}

impl Service for Link {
    type Document = Chain;

    fn document(&self) -> &Chain {
        &self.chain
    }

    fn document_mut(&mut self) -> &mut Chain {
        &mut self.chain
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Left>();
    }

    fn partners(needs: &mut Partners) {
        needs.bound::<Chain>("next").optional();
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.next = starting.find_partner("next")?;
        Ok(())
    }
}

struct Going(Port<()>);

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.0.post(());
    }
}

impl Concurrent<Left> for Link {
    async fn handle(&self, _: Left, call: &Call) -> Result<Vec<u64>, Fault> {
        let _going = Going(self.gone.clone());
        let left = call.time_left().map(|left| left.as_millis() as u64);
        self.begun.post(left).unwrap();
        self.gate.receive().await.unwrap();
        let mut all: Vec<u64> = left.into_iter().collect();
        if let Some(next) = &self.next {
            all.extend(next.call(Left {}).await?);
        }
        Ok(all)
    }
}

pub fn millis(time: u64) -> Duration {
    Duration::from_millis(time)
}

// Catalogue: 90
#[test]
fn what_a_handler_asks_has_the_time_that_is_left_to_it() {
    everywhere(async |world| {
        let (first, second) = (Link::default(), Link::default());
        let start = async |placement: Placement, link: &Link| {
            let link = link.clone();
            world.host().start(placement, move || link.clone()).await.unwrap()
        };
        start("/second".into(), &second).await;
        start(Placement::at("/first").bind("next", "/second"), &first).await;
        let chain = world.to::<Chain>("/first").within(millis(300));
        let mut asked: Any<'_, _> = Box::pin(chain.call(Left {}));
        begin(&mut asked).await;
        assert_eq!(first.begun.receive().await.unwrap(), Some(300));
        world.clock().advance(millis(100));
        first.gate.post(()).unwrap();
        assert_eq!(second.begun.receive().await.unwrap(), Some(200));
        second.gate.post(()).unwrap();
        assert_eq!(asked.await.unwrap(), [300, 200]);
        for link in [&first, &second] {
            while link.gone.try_receive().is_some() {}
        }

        // When the time is up, none of the handlers continues.
        let mut late: Any<'_, _> = Box::pin(chain.call(Left {}));
        begin(&mut late).await;
        assert_eq!(first.begun.receive().await.unwrap(), Some(300));
        first.gate.post(()).unwrap();
        assert_eq!(second.begun.receive().await.unwrap(), Some(300));
        world.clock().advance(millis(300));
        assert_eq!(late.await.unwrap_err().code(), Code::ResponseTimeout);
        first.gone.receive().await.unwrap();
        second.gone.receive().await.unwrap();
    });
}
