//! A time limit across two nodes whose clocks do not agree.

use lehr_node::{Client, Node};
use lehr_runtime::{Clock, Dispatcher, block_on};
use lehr_services::{Code, Host, Placement, Reference};

use crate::behaviours::deadlines::{Chain, Left, Link, millis};
use crate::behaviours::{Any, begin};
use crate::{FOR_EVER, dispatcher, settings};

/// Two nodes that reach each other, each with a clock of its own.
struct Two {
    nodes: [Node; 2],
    clocks: [Clock; 2],
    client: Client,
    _workers: [Dispatcher; 2],
}

impl Two {
    fn new() -> Self {
        let ((here, one), (there, other)) = (dispatcher(2), dispatcher(2));
        other.advance(FOR_EVER);
        let client = Client::new(None).unwrap();
        let start = |workers: &Dispatcher| {
            let node = Node::start(Host::new(workers.handle()), settings()).unwrap();
            let client = client.clone();
            node.host().reach_by(move |address| client.link(address));
            node
        };
        Self { nodes: [start(&here), start(&there)], clocks: [one, other], _workers: [here, there], client }
    }

    fn address(&self, node: usize, path: &str) -> String {
        format!("http://{}{path}", self.nodes[node].address())
    }

    async fn start(&self, node: usize, placement: Placement, link: &Link) {
        let link = link.clone();
        self.nodes[node].host().start(placement, move || link.clone()).await.unwrap();
    }
}

#[test]
fn three_services_on_two_nodes_share_the_time_of_the_first_request() {
    block_on(async {
        let two = Two::new();
        let [first, second, third] = [(); 3].map(|()| Link::default());
        two.start(0, "/third".into(), &third).await;
        two.start(1, Placement::at("/second").bind("next", two.address(0, "/third")), &second).await;
        two.start(0, Placement::at("/first").bind("next", two.address(1, "/second")), &first).await;
        let link = two.client.link(&two.address(0, "/first")).unwrap();
        let chain = Reference::<Chain>::over(link).within(millis(300));

        let mut asked: Any<'_, _> = Box::pin(chain.call(Left {}));
        begin(&mut asked).await;
        assert_eq!(first.begun.receive().await.unwrap(), Some(300));
        two.clocks[0].advance(millis(100));
        first.gate.post(()).unwrap();
        assert_eq!(second.begun.receive().await.unwrap(), Some(200));
        two.clocks[1].advance(millis(150));
        second.gate.post(()).unwrap();
        assert_eq!(third.begun.receive().await.unwrap(), Some(50));
        third.gate.post(()).unwrap();
        assert_eq!(asked.await.unwrap(), [300, 200, 50]);
        for link in [&first, &second, &third] {
            while link.gone.try_receive().is_some() {}
        }

        // The time is over on the second node only. The third service is never called, and the first two learn that the
        // time is over.
        let mut late: Any<'_, _> = Box::pin(chain.call(Left {}));
        begin(&mut late).await;
        assert_eq!(first.begun.receive().await.unwrap(), Some(300));
        first.gate.post(()).unwrap();
        assert_eq!(second.begun.receive().await.unwrap(), Some(300));
        two.clocks[1].advance(millis(300));
        assert_eq!(late.await.unwrap_err().code(), Code::ResponseTimeout);
        second.gone.receive().await.unwrap();
        first.gone.receive().await.unwrap();
        assert_eq!(third.begun.try_receive(), None);
    });
}
