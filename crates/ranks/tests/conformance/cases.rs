//! The requirements for every fabric. Each case is a program of one rank, which derives the expected values from its
//! rank and the number of ranks. A test program of any fabric includes this file and runs [`all`] on each rank.

use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::task::Poll;

use lehr_ranks::fabric::pipeline::{Incoming, PIPELINED_MIN};
use lehr_ranks::{Boundary, Communicator, Error, Grid, Order, Plain, Wanted};

/// The numbers of values in a message: none, one, few, many.
pub const LENGTHS: [usize; 4] = [0, 1, 3, 1000];

/// A type whose values can be distinguished.
pub trait Sample: Plain + Default + PartialEq + std::fmt::Debug {
    /// Returns a value that depends on both numbers.
    fn sample(rank: usize, index: usize) -> Self;
}

impl Sample for f64 {
    fn sample(rank: usize, index: usize) -> Self {
        (rank * 100 + index) as f64 / 7.0
    }
}

impl Sample for u8 {
    fn sample(rank: usize, index: usize) -> Self {
        (rank * 31 + index) as u8
    }
}

impl Sample for [i32; 3] {
    fn sample(rank: usize, index: usize) -> Self {
        [rank as i32, index as i32, -1]
    }
}

/// Returns the values that rank `rank` sends.
fn says<T: Sample>(rank: usize, length: usize) -> Vec<T> {
    (0..length).map(|index| T::sample(rank, index)).collect()
}

/// Runs every case on this rank.
pub async fn all(comm: &mut Communicator) {
    each_type::<f64>(comm).await;
    each_type::<u8>(comm).await;
    each_type::<[i32; 3]>(comm).await;
    for length in LENGTHS {
        reductions::<f64>(comm, length).await;
        reductions::<u8>(comm, length).await;
        reductions::<[i64; 2]>(comm, length).await;
    }
    much(comm).await;
    all_reduce_leaves(comm).await;
    matching(comm).await;
    bursts(comm).await;
    values(comm).await;
    parts(comm).await;
    neighbours(comm).await;
    at_once(comm).await;
    long_messages(comm).await;
    for _ in 0..20 {
        comm.barrier().await.unwrap();
    }
}

async fn each_type<T: Sample>(comm: &mut Communicator) {
    for length in LENGTHS {
        messages::<T>(comm, length).await;
        all_gather::<T>(comm, length).await;
        all_to_all::<T>(comm, length).await;
        shifts::<T>(comm, length).await;
        for root in 0..comm.size() {
            broadcast::<T>(comm, root, length).await;
            gather::<T>(comm, root, length).await;
            scatter::<T>(comm, root, length).await;
        }
    }
}

async fn messages<T: Sample>(comm: &mut Communicator, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    // Each rank sends each rank, itself included, two messages; the second message is received first.
    for tag in [5, 6] {
        for to in 0..size {
            comm.send(to, tag, &says::<T>(rank + tag as usize, length)).await.unwrap();
        }
    }
    for tag in [6, 5] {
        for from in (0..size).rev() {
            assert_eq!(comm.receive::<T>(from, tag).await.unwrap(), says::<T>(from + tag as usize, length));
        }
    }
}

async fn broadcast<T: Sample>(comm: &mut Communicator, root: usize, length: usize) {
    let mut values = says::<T>(comm.rank(), length);
    comm.broadcast(root, &mut values).await.unwrap();
    assert_eq!(values, says::<T>(root, length));
}

async fn gather<T: Sample>(comm: &mut Communicator, root: usize, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    let gathered = comm.gather(root, &says::<T>(rank, length + 2 * rank)).await.unwrap();
    let expected = || (0..size).map(|rank| says::<T>(rank, length + 2 * rank)).collect::<Vec<_>>();
    assert_eq!(gathered, (rank == root).then(expected));
}

/// An operation that combines the values of two ranks.
struct Operation<T> {
    combine: fn(&mut [T], &[T]),
    /// Whether the operation works value by value, so that any part of the values may be combined on its own.
    by_value: bool,
    /// Whether the order of the ranks does not matter, so that [`Order::Any`] is allowed.
    any_order: bool,
}

/// A type with operations whose results show how a reduction combined the values.
trait Combined: Sample {
    fn operations() -> Vec<Operation<Self>>;
}

impl Combined for f64 {
    fn operations() -> Vec<Operation<Self>> {
        vec![
            Operation { combine: |left, right| each(left, right, f64::max), by_value: true, any_order: true },
            // Sums of sevenths are rounded, so their last bits show the tree.
            Operation { combine: |left, right| each(left, right, |a, b| a + b), by_value: true, any_order: false },
            // The result is the values of one rank, chosen by their first value. For a part of the values, the choice
            // would be different.
            Operation {
                combine: |left, right| {
                    if right.first().map(|first| first.sin()) > left.first().map(|first| first.sin()) {
                        left.copy_from_slice(right);
                    }
                },
                by_value: false,
                any_order: true,
            },
            // This operation is neither commutative nor associative, so its result shows any change of the tree.
            Operation {
                combine: |left, right| each(left, right, |a, b| a * 1.000_001 - b / 3.0 + 0.125),
                by_value: true,
                any_order: false,
            },
        ]
    }
}

impl Combined for u8 {
    fn operations() -> Vec<Operation<Self>> {
        vec![
            Operation { combine: |left, right| each(left, right, u8::wrapping_add), by_value: true, any_order: true },
            Operation { combine: |left, right| each(left, right, |a, b| a & b), by_value: true, any_order: true },
            Operation {
                combine: |left, right| each(left, right, |a, b| a.wrapping_mul(31).wrapping_sub(b)),
                by_value: true,
                any_order: false,
            },
        ]
    }
}

/// Affine maps x -> a x + b.
impl Sample for [i64; 2] {
    fn sample(rank: usize, index: usize) -> Self {
        [rank as i64 + 2, index as i64 + 1]
    }
}

impl Combined for [i64; 2] {
    fn operations() -> Vec<Operation<Self>> {
        // The composition is associative, not commutative, and exact.
        let compose: fn(&mut [Self], &[Self]) = |left, right| {
            each(left, right, |a, b| [a[0].wrapping_mul(b[0]), a[0].wrapping_mul(b[1]).wrapping_add(a[1])]);
        };
        vec![Operation { combine: compose, by_value: true, any_order: false }]
    }
}

fn each<T: Copy>(left: &mut [T], right: &[T], combine: impl Fn(T, T) -> T) {
    assert_eq!(left.len(), right.len());
    left.iter_mut().zip(right).for_each(|(left, right)| *left = combine(*left, *right));
}

/// The sequential oracle of all reductions: a tree that divides the ranks after the largest power of two below their
/// number.
fn tree<T: Sample>(ranks: Range<usize>, of: &impl Fn(usize) -> Vec<T>, combine: fn(&mut [T], &[T])) -> Vec<T> {
    if ranks.len() == 1 {
        return of(ranks.start);
    }
    let middle = ranks.start + ranks.len().next_power_of_two() / 2;
    let mut left = tree(ranks.start..middle, of, combine);
    combine(&mut left, &tree(middle..ranks.end, of, combine));
    left
}

/// Checks all reductions with each operation of a type, and in any order if the operation allows it.
async fn reductions<T: Combined>(comm: &mut Communicator, length: usize) {
    for operation in T::operations() {
        combined(comm, length, &operation).await;
        if operation.any_order {
            comm.set_order(Order::Any);
            combined(comm, length, &operation).await;
            comm.set_order(Order::Fixed);
        }
    }
}

/// Checks all reductions, for all roots, with one operation.
async fn combined<T: Combined>(comm: &mut Communicator, length: usize, operation: &Operation<T>) {
    let combine = operation.combine;
    let (rank, size) = (comm.rank(), comm.size());
    let of = |rank: usize| says::<T>(rank, length);
    let up_to = |end: usize| tree(0..end, &of, combine);

    let mut values = of(rank);
    comm.all_reduce(&mut values, combine).await.unwrap();
    assert_eq!(values, up_to(size));

    for root in 0..size {
        let mut values = of(rank);
        comm.reduce(root, &mut values, combine).await.unwrap();
        assert_eq!(values, if rank == root { up_to(size) } else { of(rank) });
    }

    let mut values = of(rank);
    comm.scan(&mut values, combine).await.unwrap();
    assert_eq!(values, up_to(rank + 1));

    let mut values = of(rank);
    comm.exclusive_scan(&mut values, combine).await.unwrap();
    assert_eq!(values, if rank == 0 { of(0) } else { up_to(rank) });

    if !operation.by_value {
        return;
    }
    // The elementwise all-reduce gives the same; of many values, each rank combines its own share.
    for repeated in [1, 5] {
        let mut values = of(rank).repeat(repeated);
        comm.all_reduce_elementwise(&mut values, combine).await.unwrap();
        assert_eq!(values, up_to(size).repeat(repeated));
    }

    // In a reduce-scatter, each rank gives `size` parts of `length` values.
    let of = |rank: usize| says::<T>(rank, length * size);
    let mut part = vec![T::default(); length];
    comm.reduce_scatter(&of(rank), &mut part, combine).await.unwrap();
    assert_eq!(part, tree(0..size, &of, combine)[rank * length..][..length]);
}

/// Sends more bytes than any fabric or collective moves in one piece.
async fn much(comm: &mut Communicator) {
    const LENGTH: usize = 40_003;
    let (rank, size) = (comm.rank(), comm.size());
    for root in [0, size - 1] {
        broadcast::<f64>(comm, root, LENGTH).await;
    }
    let of = |rank: usize| says::<f64>(rank, LENGTH);
    let Operation { combine, .. } = f64::operations().pop().expect("there are some");
    let expected = tree(0..size, &of, combine);
    let mut values = of(rank);
    comm.all_reduce(&mut values, combine).await.unwrap();
    assert!(values == expected);
    let mut values = of(rank);
    comm.all_reduce_elementwise(&mut values, combine).await.unwrap();
    assert!(values == expected);
    let mut values = of(rank);
    comm.reduce(size - 1, &mut values, combine).await.unwrap();
    assert!(values == if rank + 1 == size { expected } else { of(rank) });
    let mut received = vec![0.0; LENGTH];
    comm.shift(1, &of(rank), &mut received).await.unwrap();
    assert!(received == of((rank + size - 1) % size));
}

async fn all_gather<T: Sample>(comm: &mut Communicator, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    let mut gathered = vec![T::default(); size * length];
    comm.all_gather(&says::<T>(rank, length), &mut gathered).await.unwrap();
    assert_eq!(gathered, (0..size).flat_map(|rank| says::<T>(rank, length)).collect::<Vec<_>>());
    let gathered = comm.all_gather_v(&says::<T>(rank, length * (rank % 3))).await.unwrap();
    assert_eq!(gathered, (0..size).map(|rank| says::<T>(rank, length * (rank % 3))).collect::<Vec<_>>());
}

async fn all_to_all<T: Sample>(comm: &mut Communicator, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    // The values that `from` sends to `to`.
    let part = |from: usize, to: usize| says::<T>(from + 7 * to, length);
    let values: Vec<T> = (0..size).flat_map(|to| part(rank, to)).collect();
    let mut received = vec![T::default(); values.len()];
    comm.all_to_all(&values, &mut received).await.unwrap();
    assert_eq!(received, (0..size).flat_map(|from| part(from, rank)).collect::<Vec<_>>());
    let part = |from: usize, to: usize| says::<T>(from + 7 * to, length + (from + 2 * to) % 3);
    let values: Vec<Vec<T>> = (0..size).map(|to| part(rank, to)).collect();
    let received = comm.all_to_all_v(&values).await.unwrap();
    assert_eq!(received, (0..size).map(|from| part(from, rank)).collect::<Vec<_>>());
}

async fn scatter<T: Sample>(comm: &mut Communicator, root: usize, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    let all = if rank == root { says::<T>(root, size * length) } else { vec![] };
    let mut part = vec![T::default(); length];
    comm.scatter(root, &all, &mut part).await.unwrap();
    assert_eq!(part, says::<T>(root, size * length)[rank * length..][..length]);
    let parts: Vec<Vec<T>> = (0..size).map(|to| says::<T>(to, length * (to % 3))).collect();
    let part = comm.scatter_v(root, if rank == root { &parts } else { &[] }).await.unwrap();
    assert_eq!(part, parts[rank]);
}

async fn shifts<T: Sample>(comm: &mut Communicator, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    let own = says::<T>(rank, length);
    for displacement in [0, 1, -1, 2, -(size as isize) - 1] {
        let mut received = vec![T::default(); length];
        comm.shift(displacement, &own, &mut received).await.unwrap();
        let from = (rank as isize - displacement).rem_euclid(size as isize) as usize;
        assert_eq!(received, says::<T>(from, length));
    }
    // An exchange gives the same as two shifts.
    let upwards = says::<T>(rank + 50, length);
    let (mut below, mut above) = (own.clone(), own.clone());
    comm.exchange(Boundary::Periodic, &own, &upwards, &mut below, &mut above).await.unwrap();
    let (mut from_below, mut from_above) = (own.clone(), own.clone());
    comm.shift(1, &upwards, &mut from_below).await.unwrap();
    comm.shift(-1, &own, &mut from_above).await.unwrap();
    assert_eq!((&below, &above), (&from_below, &from_above));
    assert_eq!(below, says::<T>((rank + size - 1) % size + 50, length));
    // At open ends, no message arrives.
    let (mut below, mut above) = (own.clone(), own.clone());
    comm.exchange(Boundary::Open, &own, &upwards, &mut below, &mut above).await.unwrap();
    assert_eq!(below, if rank == 0 { own.clone() } else { says::<T>(rank - 1 + 50, length) });
    assert_eq!(above, if rank + 1 == size { own } else { says::<T>(rank + 1, length) });
}

/// Checks exchanges on grids of one and two dimensions, with messages of different lengths.
async fn neighbours(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let columns = (1..=size).rev().find(|columns| columns * columns <= size && size.is_multiple_of(*columns)).unwrap();
    for boundary in [Boundary::Open, Boundary::Periodic] {
        let grids = [
            Grid::line(size, boundary),
            Grid::new(&[(size / columns, boundary), (columns, boundary)]),
            Grid::new(&[(columns, Boundary::Periodic), (size / columns, Boundary::Open)]),
        ];
        for grid in grids {
            let say = |rank: usize, direction: usize| says::<u8>(10 * rank + direction, rank + direction);
            for _ in 0..3 {
                let outgoing: Vec<Vec<u8>> = grid.directions().map(|direction| say(rank, direction)).collect();
                let received = comm.exchange_on(&grid, &outgoing).await.unwrap();
                for (direction, received) in received.into_iter().enumerate() {
                    let expected = grid.towards(rank, direction).map(|other| say(other, direction ^ 1));
                    assert_eq!(received, expected);
                }
            }
        }
    }
}

/// Checks that posted receives get their messages in the order in which they were posted, in whatever order they are
/// awaited, and that the communicator is free meanwhile.
async fn posted(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
    let first = comm.post_receive(Wanted { source: Some(last), tag: Some(20) });
    let any = comm.post_receive(Wanted { source: Some(last), tag: None });
    let given_up = comm.post_receive(Wanted { source: Some(last), tag: Some(20) });
    let odd = comm.post_receive(Wanted { source: Some(last), tag: Some(21) });
    comm.barrier().await.unwrap();
    for number in 0..5_u8 {
        comm.send_parts(next, 20 + u32::from(number % 2), &[&[number], &[rank as u8, 7]]).await.unwrap();
    }
    drop(given_up);
    // The tags of the messages 0 to 4 are 20, 21, 20, 21, 20: the first goes to `first`, the second to `any`, and the
    // next with tag 21 to `odd`.
    for (receive, number) in [(odd, 3), (any, 1), (first, 0)] {
        let (bytes, status) = receive.await.unwrap();
        assert_eq!((bytes, status.source, status.bytes), (vec![number, last as u8, 7], last, 3));
    }
    for number in [2, 4] {
        let wanted = Wanted { source: Some(last), tag: Some(20) };
        let mut seen = Vec::new();
        let read = |_, message: &mut Incoming<'_>| {
            seen.extend_from_slice(message.bytes()?);
            Ok(())
        };
        let status = comm.receive_with(wanted, read).await.unwrap();
        assert_eq!((seen, status.bytes), (vec![number, last as u8, 7], 3));
    }
    // Receives that were posted let synchronous sends in a ring end.
    let mut receive = comm.post_receive(Wanted { source: Some(last), tag: Some(23) });
    let send = comm.post_send(next, 23, &[rank as u8]).unwrap();
    poll_fn(|context| if receive.has_come(context) { Poll::Ready(()) } else { Poll::Pending }).await;
    send.await.unwrap();
    assert_eq!(receive.await.unwrap().0, [last as u8]);
    // A look does not wait.
    let to_itself = Wanted { source: Some(rank), tag: Some(22) };
    assert_eq!(comm.probe_now(to_itself).unwrap(), None);
    comm.send(rank, 22, &[1_u8]).await.unwrap();
    while comm.probe_now(to_itself).unwrap().is_none() {}
    assert_eq!(comm.receive::<u8>(rank, 22).await.unwrap(), [1]);
}

/// Checks messages that a receiver may read while they are still being copied: with and without an end, by each kind of
/// receive, among short messages, and left unreceived.
async fn long_messages(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let (next, last) = ((rank + 1) % size, (rank + size - 1) % size);
    let length = PIPELINED_MIN + 4099;
    let (own, theirs, end) = (says::<u8>(rank, length), says::<u8>(last, length), [7, 8, 9]);
    let with_end = [&theirs[..], &end].concat();
    let mut room = vec![0; length + 1];
    for round in 0..4 {
        comm.send(next, 30, &own).await.unwrap();
        comm.send(next, 31, &[round]).await.unwrap();
        for _ in 0..3 {
            comm.send_parts(next, 30, &[&own, &end]).await.unwrap();
        }
        comm.send(next, 32, &own).await.unwrap();
        // The message after a long message may be received first.
        if round % 2 == 1 {
            assert_eq!(comm.receive::<u8>(last, 31).await.unwrap(), [round]);
        }
        let wanted = Wanted { source: Some(last), tag: Some(30) };
        assert_eq!(comm.probe(wanted).await.unwrap().bytes, length);
        let status = comm.receive_into(last, 30, &mut room).await.unwrap();
        assert!(status.bytes == length && room[..length] == theirs);
        let mut read = 0;
        let status = comm
            .receive_with(wanted, |status, message| {
                read = status.bytes;
                assert!(message.tail().ends_with(&end));
                message.copy(&mut room[..length])?;
                Ok(())
            })
            .await
            .unwrap();
        assert!((read, status.bytes) == (length + 3, length + 3) && room[..length] == theirs);
        let mut whole = Vec::new();
        let read = |_, message: &mut Incoming<'_>| {
            whole.extend_from_slice(message.bytes()?);
            Ok(())
        };
        comm.receive_with(wanted, read).await.unwrap();
        assert!(whole == with_end);
        let posted = comm.post_receive(wanted);
        assert!(posted.await.unwrap().0 == with_end);
        if round % 2 == 0 {
            assert_eq!(comm.receive::<u8>(last, 31).await.unwrap(), [round]);
        }
        // A message that is too long is dropped; one of each two is never received.
        if round % 2 == 1 {
            let refused = comm.receive_into(last, 32, &mut room[..9]).await;
            assert!(matches!(refused, Err(Error::Truncated { sent, room: 9, .. }) if sent == length));
        }
    }
}

/// Checks receives from any source and with any tag, probes, and synchronous and persistent sends.
async fn matching(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    // Each rank sends rank 0 three messages, of which the last has another tag; rank 0 receives the last message first.
    for (tag, length) in [(1, 2), (1, 3), (2, 4)] {
        comm.send(0, tag, &says::<u8>(rank + length, length)).await.unwrap();
    }
    if rank == 0 {
        let mut seen = vec![0; size];
        for _ in 0..size {
            let (values, status) = comm.receive_any::<u8>(Wanted { tag: Some(2), ..Wanted::ANY }).await.unwrap();
            assert_eq!(values, says::<u8>(status.source + 4, 4));
            seen[status.source] += 1;
        }
        assert_eq!(seen, vec![1; size]);
        for from in (0..size).rev() {
            let wanted = Wanted { source: Some(from), tag: None };
            for length in [2, 3] {
                // The probe sees the message that the receive then gets, in the order in which the messages were sent.
                let probed = comm.probe(wanted).await.unwrap();
                assert_eq!((probed.source, probed.tag, probed.bytes), (from, 1, length));
                let (values, status) = comm.receive_any::<u8>(wanted).await.unwrap();
                assert_eq!((values, status), (says::<u8>(from + length, length), probed));
            }
        }
    }
    // A synchronous send goes to the next rank, which receives before it sends. Another goes to the rank itself, which
    // already receives.
    let next = (rank + 1) % size;
    if size > 1 {
        if rank > 0 {
            assert_eq!(comm.receive::<u8>(rank - 1, 9).await.unwrap(), [3]);
        }
        if rank + 1 < size {
            comm.send_synchronous(next, 9, &[3_u8]).await.unwrap();
        }
    }
    let mut send = comm.persistent_send(next, 4, vec![0_u32]);
    let mut receive = comm.persistent_receive::<u32>((rank + size - 1) % size, 4, 2);
    for stage in 0..10 {
        send.values[0] = stage;
        send.start().await.unwrap();
        assert_eq!(receive.start().await.unwrap().bytes, 4);
        assert_eq!(receive.values, [stage, 0]);
    }
    posted(comm).await;
    // A message that is too long for the memory gives an error, and the next message is received as usual.
    comm.send(rank, 8, &[1_u8, 2, 3]).await.unwrap();
    comm.send(rank, 8, &[4_u8]).await.unwrap();
    let error = comm.receive_into(rank, 8, &mut [0_u8; 2]).await.unwrap_err();
    assert_eq!(error, Error::Truncated { source: rank, sent: 3, room: 2 });
    assert!(matches!(comm.receive::<u16>(rank, 8).await, Err(Error::Decoding { .. })));
}

/// Sends more messages than any fabric keeps in fast memory, in order, with two tags in alternation. Their lengths are
/// around the limits at which a fabric may treat messages differently.
async fn bursts(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let length = |index: usize| [0, 1, 31, 32, 33, 64, 500, 5000][index % 8];
    for index in 0..40 {
        comm.send(next, (index % 2) as u32, &says::<u8>(rank + index, length(index))).await.unwrap();
    }
    for index in (1..40).step_by(2).chain((0..40).step_by(2)) {
        let mut values = vec![0; length(index)];
        let status = comm.receive_into(before, (index % 2) as u32, &mut values).await.unwrap();
        assert_eq!((status.bytes, values), (length(index), says::<u8>(before + index, length(index))));
    }
}

/// Checks values of types that are not plain.
async fn values(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let value = |rank: usize| (format!("rank {rank}"), vec![Some(rank as u64), None]);
    comm.send_value((rank + 1) % size, 0, &value(rank)).await.unwrap();
    let before = (rank + size - 1) % size;
    assert_eq!(comm.receive_value::<(String, Vec<Option<u64>>)>(before, 0).await.unwrap(), value(before));
    comm.send_value(rank, 1, &[1_u8; 3]).await.unwrap();
    assert!(matches!(comm.receive_value::<u8>(rank, 1).await, Err(Error::Decoding { .. })));
}

/// Checks the members of parts and duplicates, and that no message crosses between communicators.
async fn parts(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    for colors in [1, 2, 3] {
        // The last of several ranks is in no part.
        let color = (rank + 1 < size || size == 1).then_some((rank % colors) as u32);
        let part = comm.split(color, -(rank as i64)).await.unwrap();
        assert_eq!(part.is_some(), color.is_some());
        let Some(mut part) = part else { continue };
        let mut members: Vec<usize> = (0..size.max(2) - 1).filter(|other| other % colors == rank % colors).collect();
        members.reverse();
        assert_eq!(members[part.rank()], rank);
        assert_eq!(part.size(), members.len());
        let gathered = part.all_gather_v(&[rank]).await.unwrap();
        assert_eq!(gathered.concat(), members);
        // Makes a part of a part, while messages are under way in both.
        let mut twin = part.duplicate().await.unwrap();
        let peer = part.size() - 1 - part.rank();
        part.send(peer, 0, &[1_u8]).await.unwrap();
        twin.send(peer, 0, &[2_u8]).await.unwrap();
        let mut half = twin.split(Some((twin.rank() % 2) as u32), 0).await.unwrap().unwrap();
        let mut sum = [1_u64];
        half.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
        assert_eq!(sum[0] as usize, (0..twin.size()).filter(|other| other % 2 == twin.rank() % 2).count());
        assert_eq!(twin.receive::<u8>(peer, 0).await.unwrap(), [2]);
        let (values, status) = part.receive_any::<u8>(Wanted::ANY).await.unwrap();
        assert_eq!((values, status.source), (vec![1], peer));
    }
}

/// Checks two collectives in progress at once, on a communicator and its duplicate; ranks begin them in different
/// orders.
async fn at_once(comm: &mut Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let mut twin = comm.duplicate().await.unwrap();
    for round in 0..10_u64 {
        let root = round as usize % size;
        let (mut sum, mut told) = ([rank as u64 + round], [round * (1 + rank as u64)]);
        let summing = comm.all_reduce(&mut sum, |left, right| left[0] += right[0]);
        let telling = twin.broadcast(root, &mut told);
        let ends = if rank % 2 == 0 { both(summing, telling).await } else { both(telling, summing).await };
        assert_eq!(ends, (Ok(()), Ok(())));
        assert_eq!(sum[0], (0..size as u64).map(|rank| rank + round).sum::<u64>());
        assert_eq!(told[0], round * (1 + root as u64));
    }
}

/// Polls two futures in turn until both are ready.
async fn both<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> (T, T) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut done = (None, None);
    poll_fn(|context| {
        if done.0.is_none()
            && let Poll::Ready(end) = one.as_mut().poll(context)
        {
            done.0 = Some(end);
        }
        if done.1.is_none()
            && let Poll::Ready(end) = other.as_mut().poll(context)
        {
            done.1 = Some(end);
        }
        if done.0.is_some() && done.1.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.0.zip(done.1).expect("both are done")
}

async fn all_reduce_leaves(comm: &mut Communicator) {
    // Neither commutative nor associative: shows any change of the tree.
    let tell_tale = |left: &mut [f64], right: &[f64]| {
        left.iter_mut().zip(right).for_each(|(left, right)| *left = *left * 1.000_001 - right / 3.0 + 0.125);
    };
    let leaf = |leaf: usize, partial: &mut [f64]| partial.iter_mut().for_each(|value| *value = (leaf as f64).sin());
    for leaves in [0, 1, 2, 5, 64, 101] {
        let (rank, size) = (comm.rank(), comm.size());
        let own = rank * leaves / size..(rank + 1) * leaves / size;
        let mut total = [-1.0; 3];
        comm.all_reduce_leaves(own.clone(), &mut total, leaf, tell_tale).await.unwrap();
        let mut fold = lehr_ranks::Fold::<f64>::new(3);
        for number in 0..leaves {
            fold.push(lehr_ranks::Node::leaf(number), &tell_tale, |partial| leaf(number, partial));
        }
        assert_eq!(
            total.map(f64::to_bits)[..],
            *fold.root(&tell_tale).unwrap_or(&[-1.0; 3]).iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        );
        // A sum of whole numbers is the same in any order.
        comm.set_order(Order::Any);
        let mut total = [0.0; 3];
        let (number, add) = (
            |leaf: usize, partial: &mut [f64]| partial.fill(leaf as f64),
            |left: &mut [f64], right: &[f64]| {
                each(left, right, |a, b| a + b);
            },
        );
        comm.all_reduce_leaves(own, &mut total, number, add).await.unwrap();
        assert_eq!(total, [(0..leaves).sum::<usize>() as f64; 3]);
        comm.set_order(Order::Fixed);
    }
}
