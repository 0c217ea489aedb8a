//! Chooses the instruction set of a kernel at run time.
//!
//! A kernel has one body, which is compiled once for each instruction set. At run time, Lehr uses the best set that the
//! processor has. The kernels use whole numbers or, for rows of numbers, operations in a fixed order. So every set
//! gives the same bits, and a test runs each kernel on every set. The installed program is compiled for the most basic
//! processor of its family. `lehr-numerics` queries the processor.

#[cfg(any(test, target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use lehr_numerics::dispatch::InstructionSet;

use crate::alignment::kernel::{self, Group, State, Sweep, Weights};
use crate::bits::{self, Counts, ROWS, Substitutions, Words};
use crate::lanes::Number;
use crate::rows::{self, Sums};

/// The instruction sets that the program is compiled for, from the most basic to the best.
#[cfg(test)]
const ALL: &[InstructionSet] = &[
    InstructionSet::Plain,
    #[cfg(target_arch = "aarch64")]
    InstructionSet::Neon,
    #[cfg(target_arch = "x86_64")]
    InstructionSet::Avx2,
    #[cfg(target_arch = "x86_64")]
    InstructionSet::Avx512,
    #[cfg(target_arch = "x86_64")]
    InstructionSet::Avx512Count,
];

#[cfg(test)]
thread_local! {
    /// The best instruction set that may be used, because tests run kernels on lower sets than the processor has.
    static MOST: std::cell::Cell<InstructionSet> = const { std::cell::Cell::new(*ALL.last().unwrap()) };
}

/// Runs the same code on each instruction set that the program is compiled for.
#[cfg(test)]
pub(crate) fn on_each(mut run: impl FnMut()) {
    let before = MOST.get();
    for &set in ALL {
        MOST.set(set);
        run();
    }
    MOST.set(before);
}

/// Returns the best instruction set of this processor.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
fn instruction_set() -> InstructionSet {
    let best = lehr_numerics::dispatch::instruction_set();
    #[cfg(test)]
    let best = best.min(MOST.get());
    best
}

/// Aligns one sequence with a group; see [`kernel::sweep`].
pub(crate) fn sweep<N: Number, const LOCAL: bool>(
    query: &[u8],
    group: &Group<N>,
    weights: &Weights<N>,
    state: &mut State<N>,
    found: &mut Sweep<N>,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma,popcnt")]
        fn avx512<N: Number, const LOCAL: bool>(
            query: &[u8],
            group: &Group<N>,
            weights: &Weights<N>,
            state: &mut State<N>,
            found: &mut Sweep<N>,
        ) {
            kernel::sweep::<N::Avx512, LOCAL>(query, group, weights, state, found);
        }

        #[target_feature(enable = "avx2,fma,popcnt")]
        fn avx2<N: Number, const LOCAL: bool>(
            query: &[u8],
            group: &Group<N>,
            weights: &Weights<N>,
            state: &mut State<N>,
            found: &mut Sweep<N>,
        ) {
            kernel::sweep::<N::Avx2, LOCAL>(query, group, weights, state, found);
        }

        match instruction_set() {
            InstructionSet::Avx512 | InstructionSet::Avx512Count => {
                // SAFETY: `instruction_set` has just found every instruction set that `avx512` is compiled for.
                return unsafe { avx512::<N, LOCAL>(query, group, weights, state, found) };
            }
            // SAFETY: `instruction_set` has just found every instruction set that `avx2` is compiled for.
            InstructionSet::Avx2 => return unsafe { avx2::<N, LOCAL>(query, group, weights, state, found) },
            InstructionSet::Plain => {}
        }
    }
    #[cfg(target_arch = "aarch64")]
    if instruction_set() == InstructionSet::Neon {
        return kernel::sweep::<N::Neon, LOCAL>(query, group, weights, state, found);
    }
    kernel::sweep::<N::Plain, LOCAL>(query, group, weights, state, found);
}

/// Declares the entry to a loop, which the compiler vectorises in one copy for each instruction set. Some loops have
/// their own form for aarch64.
macro_rules! loops {
    ($(#[$doc:meta])* $room:ident::$name:ident($($argument:ident : $type:ty),* $(,)?)) => {
        $(#[$doc])*
        pub(crate) fn $name($($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,avx2,fma,popcnt")]
                fn avx512($($argument: $type),*) {
                    $room::$name($($argument),*)
                }

                #[target_feature(enable = "avx2,fma,popcnt")]
                fn avx2($($argument: $type),*) {
                    $room::$name($($argument),*)
                }

                match instruction_set() {
                    // SAFETY: `instruction_set` has just found every instruction set that `avx512` is compiled for.
                    InstructionSet::Avx512Count => return unsafe { avx512($($argument),*) },
                    // SAFETY: `instruction_set` has just found every instruction set that `avx2` is compiled for.
                    InstructionSet::Avx512 | InstructionSet::Avx2 => return unsafe { avx2($($argument),*) },
                    InstructionSet::Plain => {}
                }
            }
            #[cfg(target_arch = "aarch64")]
            loops!(@neon $name($($argument),*));
            $room::$name($($argument),*)
        }
    };
    (@neon common($($argument:ident),*)) => { loops!(@instead common($($argument),*)) };
    (@neon differing($($argument:ident),*)) => { loops!(@instead differing($($argument),*)) };
    (@neon substitutions($($argument:ident),*)) => { loops!(@instead substitutions($($argument),*)) };
    (@neon $name:ident($($argument:ident),*)) => {};
    (@instead $name:ident($($argument:ident),*)) => {
        if instruction_set() == InstructionSet::Neon {
            return crate::lanes::neon::$name($($argument),*);
        }
    };
}

loops! {
    /// Counts bits in common; see [`bits::common`].
    bits::common(rows: [&[u64]; ROWS], others: &[Words], counts: &mut [Counts])
}

loops! {
    /// Counts places in which symbols differ; see [`bits::differing`].
    bits::differing(rows: [&[u64]; ROWS], others: &[Words], planes: usize, counts: &mut [Counts])
}

loops! {
    /// Counts places that are compared, that are equal, and that have a transition; see [`bits::substitutions`].
    bits::substitutions(row: &[u64], others: &[Words], counts: &mut [Substitutions])
}

loops! {
    /// Computes Jaccard distances from counts of bits in common; see [`bits::jaccard`].
    bits::jaccard(own: u32, theirs: &[u32], counts: &[Counts], row: usize, values: &mut [f64])
}

loops! {
    /// Divides counts by a whole; see [`bits::shares`].
    bits::shares(whole: f64, counts: &[Counts], row: usize, values: &mut [f64])
}

loops! {
    /// Sums squared differences.
    rows::squared_differences(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums absolute differences.
    rows::differences(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums absolute differences, each limited to 1.
    rows::capped_differences(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums absolute differences, each limited to 1, over the columns that both rows have.
    rows::capped_differences_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], sums: &mut Sums)
}

loops! {
    /// Sums products.
    rows::products(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums differences over the columns that both rows have.
    rows::differences_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], is_absolute: bool, sums: &mut Sums)
}

loops! {
    /// Sums products and powers over the columns that both rows have.
    rows::moments_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], sums: &mut Sums)
}
