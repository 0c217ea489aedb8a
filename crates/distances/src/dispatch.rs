//! Chooses the instruction set of a kernel at run time.
//!
//! A kernel is one body, compiled once for each instruction set; the best one that this processor has is entered. The
//! kernels use whole numbers or, for rows of numbers, a fixed order of fused operations. So every set gives the same
//! bits, and a test runs each kernel on every set. The installed program is compiled for the plainest processor of its
//! family. `lehr-numerics` queries the processor.

#[cfg(any(test, target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use lehr_numerics::dispatch::InstructionSet;

use crate::alignment::kernel::{self, Group, State, Sweep, Weights};
use crate::bits::{self, Counts, ROWS, Substitutions, Words};
use crate::lanes::Number;
use crate::rows::{self, Sums};

/// The instruction sets that the program is compiled for, least first.
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
    /// Tests run a kernel again on a lesser instruction set than the processor has.
    static MOST: std::cell::Cell<InstructionSet> = const { std::cell::Cell::new(*ALL.last().unwrap()) };
}

/// Runs the same on each instruction set that the program is compiled for.
#[cfg(test)]
pub(crate) fn on_each(mut run: impl FnMut()) {
    let before = MOST.get();
    for &set in ALL {
        MOST.set(set);
        run();
    }
    MOST.set(before);
}

/// The best instruction set of this processor.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline]
fn instruction_set() -> InstructionSet {
    let best = lehr_numerics::dispatch::instruction_set();
    #[cfg(test)]
    let best = best.min(MOST.get());
    best
}

/// Aligns one sequence with a group: [`kernel::sweep`].
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
                // SAFETY: the processor has every instruction set that `avx512` was compiled for, as it just said.
                return unsafe { avx512::<N, LOCAL>(query, group, weights, state, found) };
            }
            // SAFETY: the processor has every instruction set that `avx2` was compiled for, as it just said.
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

/// Declares the entry to a loop. The compiler vectorises it, one copy for each instruction set. Some loops have their
/// own form for aarch64.
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
                    // SAFETY: the processor has every instruction set that `avx512` was compiled for, as it just said.
                    InstructionSet::Avx512Count => return unsafe { avx512($($argument),*) },
                    // SAFETY: the processor has every instruction set that `avx2` was compiled for, as it just said.
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
    /// Bits in common: [`bits::common`].
    bits::common(rows: [&[u64]; ROWS], others: &[Words], counts: &mut [Counts])
}

loops! {
    /// Places in which symbols differ: [`bits::differing`].
    bits::differing(rows: [&[u64]; ROWS], others: &[Words], planes: usize, counts: &mut [Counts])
}

loops! {
    /// Places compared, equal and a transition apart: [`bits::substitutions`].
    bits::substitutions(row: &[u64], others: &[Words], counts: &mut [Substitutions])
}

loops! {
    /// Shares of bits in common: [`bits::jaccard`].
    bits::jaccard(own: u32, theirs: &[u32], counts: &[Counts], row: usize, values: &mut [f64])
}

loops! {
    /// Counts over a whole: [`bits::shares`].
    bits::shares(whole: f64, counts: &[Counts], row: usize, values: &mut [f64])
}

loops! {
    /// Sums of squared differences.
    rows::squared_differences(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums of absolute differences.
    rows::differences(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums of absolute differences, each 1 at most.
    rows::capped_differences(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// The same over the columns that both have.
    rows::capped_differences_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], sums: &mut Sums)
}

loops! {
    /// Sums of products.
    rows::products(row: &[f64], others: &[f64], sums: &mut [f64])
}

loops! {
    /// Sums of differences over the columns that both have.
    rows::differences_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], is_absolute: bool, sums: &mut Sums)
}

loops! {
    /// Sums of products and powers over the columns that both have.
    rows::moments_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], sums: &mut Sums)
}
