//! What every fabric must do: each case is a program of one rank that knows by itself, from its rank and the number of ranks, what it
//! must see. A test program of any fabric includes this file and runs [`all`] on each rank.

use lehr_ranks::{Communicator, Plain};

/// Numbers of values in a message: none, one, few, many.
pub const LENGTHS: [usize; 4] = [0, 1, 3, 1000];

/// A type whose values can be told apart.
pub trait Sample: Plain + Default + PartialEq + std::fmt::Debug {
    /// A value that depends on both numbers.
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

/// What rank `rank` says.
fn says<T: Sample>(rank: usize, length: usize) -> Vec<T> {
    (0..length).map(|index| T::sample(rank, index)).collect()
}

/// Every case, for this rank.
pub async fn all(comm: &mut Communicator) {
    each_type::<f64>(comm).await;
    each_type::<u8>(comm).await;
    each_type::<[i32; 3]>(comm).await;
    all_reduce(comm).await;
    all_reduce_leaves(comm).await;
    for _ in 0..20 {
        comm.barrier().await.unwrap();
    }
}

async fn each_type<T: Sample>(comm: &mut Communicator) {
    for length in LENGTHS {
        messages::<T>(comm, length).await;
        for root in 0..comm.size() {
            broadcast::<T>(comm, root, length).await;
            gather::<T>(comm, root, length).await;
        }
    }
}

async fn messages<T: Sample>(comm: &mut Communicator, length: usize) {
    let (rank, size) = (comm.rank(), comm.size());
    // Everybody tells everybody, itself included, twice; the second is taken first.
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

/// Composition of affine maps x -> a x + b: associative, not commutative, exact in integers.
fn compose(left: &mut [[i64; 2]], right: &[[i64; 2]]) {
    for (left, right) in left.iter_mut().zip(right) {
        *left = [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])];
    }
}

/// What rank `rank` gives to be composed.
fn map(rank: usize, index: usize) -> [i64; 2] {
    [rank as i64 + 2, index as i64 + 1]
}

async fn all_reduce(comm: &mut Communicator) {
    for length in LENGTHS {
        let of = |rank: usize| (0..length).map(|index| map(rank, index)).collect::<Vec<_>>();
        let mut maps = of(comm.rank());
        comm.all_reduce(&mut maps, compose).await.unwrap();
        let mut oracle = of(0);
        (1..comm.size()).for_each(|rank| compose(&mut oracle, &of(rank)));
        assert_eq!(maps, oracle);
    }
}

async fn all_reduce_leaves(comm: &mut Communicator) {
    // Neither commutative nor associative: shows any change of the tree.
    let tell_tale = |left: &mut [f64], right: &[f64]| {
        left.iter_mut().zip(right).for_each(|(left, right)| *left = *left * 1.000_001 - right / 3.0 + 0.125);
    };
    let leaf = |leaf: usize, partial: &mut [f64]| partial.iter_mut().for_each(|value| *value = (leaf as f64).sin());
    for leaves in [0, 1, 2, 5, 64, 101] {
        let share = |rank: usize| rank * leaves / comm.size();
        let own = share(comm.rank())..share(comm.rank() + 1);
        let mut total = [-1.0; 3];
        comm.all_reduce_leaves(own, &mut total, leaf, tell_tale).await.unwrap();
        let mut fold = lehr_ranks::Fold::<f64>::new(3);
        for number in 0..leaves {
            fold.push(lehr_ranks::Node::leaf(number), &tell_tale, |partial| leaf(number, partial));
        }
        assert_eq!(
            total.map(f64::to_bits)[..],
            *fold.root(&tell_tale).unwrap_or(&[-1.0; 3]).iter().map(|v| v.to_bits()).collect::<Vec<_>>()
        );
    }
}
