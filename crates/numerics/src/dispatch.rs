//! Chooses the instruction set of a kernel at run time.
//!
//! `kernel!` compiles one body for each instruction set, and runs the best set that this processor has. All bodies give
//! the same bits (see [`crate::lanes`]), so a result does not depend on the choice. An installed program is compiled
//! for the most basic processor of its family, but still uses the widest registers that it finds.

/// Declares a kernel over rows of `T: Real`, written for lines `V: Lanes<Number = T>`:
/// `kernel! { fn name[T; V; const D: usize](argument: type, …) -> result { body } }`.
///
/// The body may only call `#[inline(always)]` functions, because other functions are compiled without the vector
/// instructions.
macro_rules! kernel {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident [$real:ident; $lanes:ident $(; const $constant:ident : $kind:ty)*]
     ($($argument:ident : $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        $visibility fn $name<$real: $crate::lanes::Real $(, const $constant: $kind)*>($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<$real: $crate::lanes::Real, $lanes: $crate::lanes::Lanes<Number = $real> $(, const $constant: $kind)*>(
                $($argument: $type),*
            ) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,bmi1,bmi2,popcnt")]
                #[allow(clippy::too_many_arguments)]
                fn avx512<$real: $crate::lanes::Real $(, const $constant: $kind)*>($($argument: $type),*) $(-> $result)? {
                    body::<$real, $real::Avx512 $(, $constant)*>($($argument),*)
                }

                #[target_feature(enable = "avx2,fma,bmi1,bmi2,popcnt")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<$real: $crate::lanes::Real $(, const $constant: $kind)*>($($argument: $type),*) $(-> $result)? {
                    body::<$real, $real::Avx2 $(, $constant)*>($($argument),*)
                }

                match $crate::dispatch::instruction_set() {
                    // SAFETY: `instruction_set` has just found every instruction set that `avx512` is compiled for.
                    $crate::dispatch::InstructionSet::Avx512 | $crate::dispatch::InstructionSet::Avx512Count => return unsafe { avx512::<$real $(, $constant)*>($($argument),*) },
                    // SAFETY: `instruction_set` has just found every instruction set that `avx2` is compiled for.
                    $crate::dispatch::InstructionSet::Avx2 => return unsafe { avx2::<$real $(, $constant)*>($($argument),*) },
                    $crate::dispatch::InstructionSet::Plain => {}
                }
            }
            #[cfg(target_arch = "aarch64")]
            if $crate::dispatch::instruction_set() == $crate::dispatch::InstructionSet::Neon {
                return body::<$real, $real::Neon $(, $constant)*>($($argument),*);
            }
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            return body::<$real, $real::Wasm $(, $constant)*>($($argument),*);
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            body::<$real, $real::Plain $(, $constant)*>($($argument),*)
        }
    };
}

pub(crate) use kernel;

/// The instruction sets that a kernel is compiled for; each set includes the sets before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// No vector instructions: operations are done lane by lane.
    Plain,
    /// 128-bit registers, which every processor of this family has.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// 256-bit registers, a fused multiply-add, and an instruction that counts the bits of a word.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit registers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 512-bit registers, and an instruction that counts the bits of each word in a register.
    #[cfg(target_arch = "x86_64")]
    Avx512Count,
}

#[cfg(test)]
impl InstructionSet {
    /// The instruction sets that the program is compiled for, from the most basic to the best.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const ALL: &[Self] = &[Self::Plain, Self::Avx2, Self::Avx512];
    #[cfg(target_arch = "aarch64")]
    pub(crate) const ALL: &[Self] = &[Self::Plain, Self::Neon];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) const ALL: &[Self] = &[Self::Plain];
}

#[cfg(test)]
thread_local! {
    /// The best instruction set that may be used, because tests run kernels on lower sets than the processor has.
    pub(crate) static MOST: std::cell::Cell<InstructionSet> = const { std::cell::Cell::new(*InstructionSet::ALL.last().unwrap()) };
}

/// Runs the same code on each instruction set that the program is compiled for.
#[cfg(test)]
pub(crate) fn on_each(mut run: impl FnMut(InstructionSet)) {
    let before = MOST.get();
    for &set in InstructionSet::ALL {
        MOST.set(set);
        run(set);
    }
    MOST.set(before);
}

/// Returns the best instruction set of this processor. The standard library queries the processor once and caches the
/// answer.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn instruction_set() -> InstructionSet {
    let narrow = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    let best = match (narrow, wide) {
        (true, true) if is_x86_feature_detected!("avx512vpopcntdq") => InstructionSet::Avx512Count,
        (true, true) => InstructionSet::Avx512,
        (true, false) => InstructionSet::Avx2,
        _ => InstructionSet::Plain,
    };
    #[cfg(test)]
    let best = best.min(MOST.get());
    best
}

/// Returns the best instruction set of this processor: the only one of its family.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn instruction_set() -> InstructionSet {
    #[cfg(test)]
    return InstructionSet::Neon.min(MOST.get());
    #[cfg(not(test))]
    InstructionSet::Neon
}

/// Returns the best instruction set of this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn instruction_set() -> InstructionSet {
    InstructionSet::Plain
}

/// Returns whether the multiply-add of the kernels rounds once. It always does, except in some browsers. There, results
/// may differ from other machines in their last digits.
pub fn is_fused() -> bool {
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    {
        use crate::lanes::{F64Line, Lanes, Line, wasm::WasmF64};
        // The square of 1 + e is 1 + 2 e + e², and rounding removes the last term.
        let close = std::hint::black_box(1.0 + f64::EPSILON);
        let line = WasmF64::splat(close).mul_add(WasmF64::splat(close), WasmF64::splat(-1.0 - 2.0 * f64::EPSILON));
        let mut told = F64Line::default();
        line.store(&mut told);
        told.lanes().iter().all(|rest| *rest != 0.0)
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    true
}
