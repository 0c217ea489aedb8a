use std::pin::pin;
use std::task::Poll;

use lehr_runtime::{Overflow, Port, PortSet, Reason, block_on, choice, join};

use crate::{on_each, poll_once};

#[derive(Debug, PartialEq, Eq, PortSet)]
enum Ops {
    A(u32),
    B(String),
    Pair(u32, u32),
    Named { x: u32, y: u32 },
    Stop,
}

#[derive(Debug, PartialEq, Eq, PortSet)]
#[port_set(split)]
enum Kinds<T> {
    A(T),
    B(String),
    Type,
}

#[derive(PortSet)]
enum Single<T> {
    Only(T),
}

// Catalogue: 11
#[test]
fn one_queue_keeps_the_order_of_arrival_across_kinds() {
    on_each(|dispatcher| {
        let (ops, seen) = (OpsPort::new(), Port::new());
        ops.post_a(1).unwrap();
        ops.post_b("one".to_owned()).unwrap();
        ops.post(Ops::A(2)).unwrap();
        ops.post_stop(()).unwrap();
        let out = seen.clone();
        let receiver = ops.on(dispatcher.handle(), 1, move |op| {
            out.post(op).unwrap();
            std::future::ready(())
        });
        assert_eq!(block_on(seen.take(4)), Ok(vec![Ops::A(1), Ops::B("one".to_owned()), Ops::A(2), Ops::Stop]));
        drop(receiver);
    });
}

// Catalogue: 11
#[test]
fn receivers_of_one_kind_leave_the_others_in_order() {
    let ops = OpsPort::named("ops");
    ops.post_a(1).unwrap();
    ops.post_pair((2, 3)).unwrap();
    ops.post_b("x".to_owned()).unwrap();
    ops.post_named((4, 5)).unwrap();
    ops.post_a(6).unwrap();
    assert_eq!(block_on(ops.receive_b()), Ok("x".to_owned()));
    assert_eq!(block_on(ops.receive_named()), Ok((4, 5)));
    assert_eq!(block_on(ops.receive_pair()), Ok((2, 3)));
    assert!(poll_once(pin!(ops.receive_stop())).is_pending());
    assert_eq!(ops.drain(), [Ops::A(1), Ops::A(6)]);
    assert_eq!(ops.name(), "port \"ops\"");
}

// Catalogue: 11
#[test]
fn handlers_of_each_kind_see_that_kind_in_its_order() {
    on_each(|dispatcher| {
        let (ops, numbers, words) = (OpsPort::new(), Port::new(), Port::new());
        let (to_numbers, to_words) = (numbers.clone(), words.clone());
        let of_a = ops.on_a(dispatcher.handle(), 1, move |number| {
            to_numbers.post(number).unwrap();
            std::future::ready(())
        });
        let of_b = ops.on_b(dispatcher.handle(), 1, move |word| {
            to_words.post(word).unwrap();
            std::future::ready(())
        });
        for i in 0..50 {
            ops.post_b(i.to_string()).unwrap();
            ops.post_a(i).unwrap();
        }
        assert!(block_on(numbers.take(50)).unwrap().into_iter().eq(0..50));
        assert!(block_on(words.take(50)).unwrap().into_iter().eq((0..50).map(|i| i.to_string())));
        ops.post_stop(()).unwrap();
        assert_eq!(ops.drain(), [Ops::Stop]);
        ops.close();
        block_on(of_a.ended()).unwrap();
        block_on(of_b.ended()).unwrap();
    });
}

// Catalogue: 11
#[test]
fn split_ports_keep_each_kinds_order_and_have_capacities_of_their_own() {
    let kinds = KindsPorts { a: Port::bounded(1, Overflow::Reject), ..KindsPorts::named("kinds") };
    kinds.post(Kinds::B("x".to_owned())).unwrap();
    kinds.post(Kinds::A(1)).unwrap();
    let refused = kinds.post(Kinds::A(2)).unwrap_err();
    assert_eq!((refused.item, refused.reason), (Kinds::A(2), Reason::Full));
    kinds.post(Kinds::B("y".to_owned())).unwrap();
    kinds.post(Kinds::Type).unwrap();
    assert_eq!(kinds.len(), 4);
    assert_eq!(block_on(join((&kinds.a, (&kinds.b, 2)))), Ok((1, vec!["x".to_owned(), "y".to_owned()])));
    assert_eq!(block_on(kinds.r#type.receive()), Ok(()));
    assert!(kinds.is_empty());
    assert_eq!(kinds.b.name(), "port \"kinds.b\"");
    kinds.close();
    assert_eq!(kinds.post(Kinds::A(3)).unwrap_err().reason, Reason::Closed);
}

// Catalogue: 12
#[test]
fn a_choice_whose_item_is_stolen_waits_on() {
    let ops = OpsPort::new();
    let mut choice = pin!(async {
        choice! {
            number = ops.receive_a() => format!("{}", number.unwrap()),
            word = ops.receive_b() => word.unwrap(),
        }
    });
    assert!(poll_once(choice.as_mut()).is_pending());
    ops.post_a(1).unwrap();
    // The item is offered to the choice, but another receiver takes it first.
    assert_eq!(ops.try_receive(), Some(Ops::A(1)));
    assert!(poll_once(choice.as_mut()).is_pending());
    ops.post_b("two".to_owned()).unwrap();
    assert_eq!(poll_once(choice), Poll::Ready("two".to_owned()));
    assert_eq!((ops.len(), ops.waiting()), (0, 0));
}

// Catalogue: 12
#[test]
fn two_choices_and_a_thief_share_the_items_without_loss() {
    const ITEMS: u32 = 2_000;
    on_each(|dispatcher| {
        let ops = OpsPort::new();
        let choosers = (0..2)
            .map(|_| {
                let ops = ops.clone();
                dispatcher.spawn(async move {
                    let mut sum = 0_u64;
                    loop {
                        choice! {
                            number = ops.receive_a() => match number {
                                Ok(number) => sum += u64::from(number),
                                Err(_) => break sum,
                            },
                            pair = ops.receive_pair() => match pair {
                                Ok((number, _)) => sum += u64::from(number),
                                Err(_) => break sum,
                            },
                        }
                    }
                })
            })
            .collect();
        let mut stolen = 0;
        for i in 1..=ITEMS {
            if i % 2 == 0 {
                ops.post_a(i).unwrap()
            } else {
                ops.post_pair((i, 0)).unwrap()
            }
            match ops.try_receive() {
                Some(Ops::A(number) | Ops::Pair(number, _)) => stolen += u64::from(number),
                Some(other) => panic!("{other:?} was never posted"),
                None => {}
            }
        }
        ops.close();
        let chosen: u64 = block_on(lehr_runtime::all(choosers)).into_iter().map(Result::unwrap).sum();
        // A choice ends when its first branch finds the port closed, without an item for this branch. The remaining
        // items are of the other kind.
        let left: u64 = ops
            .drain()
            .into_iter()
            .map(|op| match op {
                Ops::A(number) | Ops::Pair(number, _) => u64::from(number),
                other => panic!("{other:?} was never posted"),
            })
            .sum();
        assert_eq!(stolen + chosen + left, u64::from(ITEMS) * u64::from(ITEMS + 1) / 2);
    });
}

#[test]
fn an_enum_of_one_variant_and_generic_enums_are_sets_too() {
    let single = SinglePort::from(Port::bounded(1, Overflow::DropOldest));
    single.post_only("a").unwrap();
    single.post_only("b").unwrap();
    assert_eq!(block_on(single.receive_only()), Ok("b"));
}
