//! Loops that are compiled for several sets of instructions; the best set that the processor has is used.
//!
//! On x86-64, Rust compiles for the oldest processors, which process 16 bytes at a time and convert few types of numbers. A
//! [`VectorLoop`] is always inlined, so that the compiler produces a version of it for every set. All versions have the same
//! source, and no set allows the compiler to fuse or reorder operations on floats: the results are the same bit for bit, and
//! tests compare them. Other architectures have one version; AArch64 always has vectors of 16 bytes with all conversions.
pub(crate) mod planes;

/// A set of instructions that this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstructionSet(Level);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// What every processor of the architecture has.
    Baseline,
    /// 32 bytes at a time: x86-64 processors from 2013 (Intel) and 2015 (AMD) on.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64 bytes at a time, with all permutations of bytes: Intel's from Ice Lake and AMD's from Zen 4 on. Earlier processors with
    /// AVX-512 reduce their frequency for it.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// The best one.
    #[inline]
    pub(crate) fn best() -> Self {
        #[cfg(test)]
        if let Some(forced) = tests::FORCED.get() {
            return forced;
        }
        static BEST: std::sync::OnceLock<InstructionSet> = std::sync::OnceLock::new();
        *BEST.get_or_init(|| Self::detected().into_iter().last().unwrap_or(Self(Level::Baseline)))
    }

    /// Whether it is what every processor of the architecture has.
    #[inline]
    pub(crate) fn is_baseline(self) -> bool {
        self.0 == Level::Baseline
    }

    /// All that the processor has, the best one last.
    fn detected() -> Vec<Self> {
        let mut sets = vec![Self(Level::Baseline)];
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi")
                && is_x86_feature_detected!("avx512vbmi2");
            sets.extend(has_avx2.then_some(Self(Level::Avx2)));
            sets.extend((has_avx2 && has_avx512).then_some(Self(Level::Avx512)));
        }
        sets
    }
}

/// A loop that is compiled for every set of instructions.
pub(crate) trait VectorLoop {
    /// The result.
    type Output;

    /// Runs it. Implementations are always inlined, and so are the functions that they call: what is not inlined is compiled for
    /// the baseline only. (For the same reason this is not a closure, which compilers inline or not.)
    fn run(self) -> Self::Output;
}

/// Runs a loop with the best set of instructions.
#[inline]
pub(crate) fn run<L: VectorLoop>(body: L) -> L::Output {
    match InstructionSet::best().0 {
        Level::Baseline => body.run(),
        // SAFETY: the processor has the instructions: only `detected` makes such a set, after checking each of them.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { with_avx2(body) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { with_avx512(body) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn with_avx2<L: VectorLoop>(body: L) -> L::Output {
    body.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vbmi2"
)]
fn with_avx512<L: VectorLoop>(body: L) -> L::Output {
    body.run()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::InstructionSet;
    use std::cell::Cell;

    thread_local! {
        pub(super) static FORCED: Cell<Option<InstructionSet>> = const { Cell::new(None) };
    }

    /// The result with each set of instructions that the processor has, the baseline first.
    pub(crate) fn with_each<T>(mut result: impl FnMut() -> T) -> Vec<(InstructionSet, T)> {
        let with = |set| {
            FORCED.set(Some(set));
            let result = result();
            FORCED.set(None);
            (set, result)
        };
        InstructionSet::detected().into_iter().map(with).collect()
    }

    #[test]
    fn a_forced_set_is_used() {
        let sets = with_each(InstructionSet::best);
        assert!(sets.iter().all(|(set, best)| set == best));
        assert_eq!(sets.last().map(|(set, _)| *set), Some(InstructionSet::best()));
    }
}
