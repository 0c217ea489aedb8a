//! Finds the fixed point at one temperature by sweeps, and by jumps to the expected end of the sweeps.
//!
//! Near a transition, each sweep changes the fields by almost as much as the one before, so that hundreds of sweeps
//! make little progress. The fields of three successive sweeps show the factor by which changes shrink. This factor
//! gives the sum of all further changes. The method is SQUAREM with the third step length of its authors (Varadhan and
//! Roland 2008). A jump does not read the matrix. The free energy at the next sweep shows whether the jump was too
//! long. If so, that sweep is undone, and later jumps are shorter.

use super::field::{Figures, Jump};

/// A rise of the free energy by more than this share is not a rounding error.
const RISE: f64 = 1e-7;
/// The initial limit of a jump's length; a length of 1 is an ordinary sweep. The limit grows by this factor when a jump
/// reaches it, and shrinks by it after a jump that was too long.
const LONGEST: f64 = 4.0;

/// The state of a relaxation.
#[derive(Debug)]
pub(crate) struct Relaxation {
    temperature: f64,
    /// The free energy before the latest sweep that was not undone.
    last: f64,
    /// The mean squared change of the fields in the sweep before the latest.
    step: f64,
    /// The number of times the free energy rose.
    rises: usize,
    /// The number of fields since the last jump, including the field to which it led.
    known: usize,
    /// The length of the jump before the latest sweep, if there was one.
    jumped: Option<f64>,
    longest: f64,
    /// The logarithms of the priors of the last three fields, the latest first.
    log_priors: [Vec<f64>; 3],
}

impl Relaxation {
    pub fn new(temperature: f64) -> Self {
        Self {
            temperature,
            last: f64::INFINITY,
            step: f64::INFINITY,
            rises: 0,
            known: 0,
            jumped: None,
            longest: LONGEST,
            log_priors: Default::default(),
        }
    }

    pub fn known(&self) -> usize {
        self.known
    }

    /// Whether sweeps oscillate. For squared distances, a sweep is an iteration of EM, which cannot raise the free
    /// energy. With dissimilarities that are not distances, sweeps of all items at once may oscillate.
    pub fn is_swinging(&self) -> bool {
        self.rises >= 2
    }

    /// Returns the jump to make after a sweep, if any; pass it to [`jump`](Self::jump).
    pub fn after(&mut self, figures: &Figures, log_priors: Vec<f64>, is_damped: bool) -> Option<Jump> {
        self.log_priors.rotate_right(1);
        self.log_priors[0] = log_priors;
        self.known += 1;
        let has_risen = figures.free_energy > self.last + RISE * self.last.abs().max(self.temperature);
        if let Some(length) = self.jumped.take().filter(|_| has_risen) {
            self.longest = (length / LONGEST).max(1.0);
            return Some(Jump::Back);
        }
        self.rises += usize::from(has_risen);
        self.last = figures.free_energy;
        let step = std::mem::replace(&mut self.step, figures.step);
        if self.known < 3 || is_damped || self.is_swinging() {
            return None;
        }
        let length = (step / figures.bend).sqrt();
        // A jump of length 1 or less gains nothing over a sweep, and 0 / 0 is not a length.
        let length = if length.is_finite() { length.min(self.longest) } else { 1.0 };
        (length > 1.0).then_some(Jump::Ahead(length))
    }

    /// Records that a jump is made, and returns the logarithms of the components' shares at its end.
    pub fn jump(&mut self, jump: Jump) -> &[f64] {
        match jump {
            Jump::Ahead(length) => {
                if length >= self.longest {
                    self.longest *= LONGEST;
                }
                self.jumped = Some(length);
            }
            Jump::Back => {}
        }
        self.known = 1;
        jump.of(&mut self.log_priors);
        &self.log_priors[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relaxes a field of one number that each sweep multiplies by `factor`; its square is the free energy. Returns the
    /// number of sweeps until the number is below 1e-6.
    fn sweeps(factor: f64, mut is_jump: impl FnMut(Jump)) -> usize {
        let mut relaxation = Relaxation::new(1.0);
        let mut x = [1.0, 0.0, 0.0].map(|x| vec![x]);
        for sweep in 1..1000 {
            let free_energy = x[0][0] * x[0][0];
            let next = factor * x[0][0];
            x.rotate_right(1);
            x[0][0] = next;
            let (step, before) = (x[0][0] - x[1][0], x[1][0] - x[2][0]);
            let known = relaxation.known();
            let figures = Figures {
                free_energy,
                mean_cost: 0.0,
                softness: 0.0,
                step: step * step,
                bend: if known > 1 { (step - before).powi(2) } else { 0.0 },
                largest_change: step.abs(),
            };
            if step.abs() < 1e-6 {
                return sweep;
            }
            if let Some(jump) = relaxation.after(&figures, vec![0.0], false) {
                is_jump(jump);
                relaxation.jump(jump);
                jump.of(&mut x);
            }
        }
        1000
    }

    #[test]
    fn what_shrinks_by_one_factor_is_ended_by_a_jump() {
        let mut jumps = 0;
        assert!(sweeps(0.99, |_| jumps += 1) < 20);
        assert!((1..8).contains(&jumps));
        assert!(sweeps(0.5, |_| {}) < 6);
    }

    #[test]
    fn a_length_of_one_is_the_latest_and_back_is_where_the_jump_began() {
        let fields = || [4.0, 2.0, 1.0].map(|x| vec![x]);
        let mut latest = fields();
        Jump::Ahead(1.0).of(&mut latest);
        assert_eq!(latest[0], [4.0]);
        let mut latest = fields();
        Jump::Ahead(3.0).of(&mut latest);
        assert_eq!((latest[0][0], latest[1][0]), (1.0 + 6.0 + 9.0, 4.0));
        latest.rotate_right(1);
        latest[0][0] = 17.0;
        Jump::Back.of(&mut latest);
        assert_eq!(latest[0], [4.0]);
    }

    #[test]
    fn a_jump_that_raises_the_free_energy_is_taken_back_and_the_next_is_shorter() {
        let figures = |free_energy, step, bend| Figures {
            free_energy,
            mean_cost: 0.0,
            softness: 0.0,
            step,
            bend,
            largest_change: 1.0,
        };
        let mut relaxation = Relaxation::new(1.0);
        assert!(relaxation.after(&figures(5.0, 0.0, 0.0), vec![], false).is_none());
        assert!(relaxation.after(&figures(4.0, 1.0, 0.0), vec![], false).is_none());
        let Some(ahead @ Jump::Ahead(length)) = relaxation.after(&figures(3.0, 1.0, 0.01), vec![], false) else {
            panic!("a jump")
        };
        assert_eq!(length, LONGEST);
        relaxation.jump(ahead);
        let back = relaxation.after(&figures(3.5, 1.0, 0.0), vec![], false).unwrap();
        assert!(matches!(back, Jump::Back) && !relaxation.is_swinging());
        relaxation.jump(back);
        // From here on, no jump is worthwhile, and rises of the free energy count.
        for free_energy in [2.5, 2.0, 1.5] {
            assert!(relaxation.after(&figures(free_energy, 1.0, 0.01), vec![], false).is_none());
        }
        relaxation.after(&figures(1.6, 1.0, 0.01), vec![], false);
        relaxation.after(&figures(1.7, 1.0, 0.01), vec![], false);
        assert!(relaxation.is_swinging());
    }

    #[test]
    fn who_swings_or_is_damped_does_not_jump() {
        let mut lengths = Vec::new();
        // The changes alternate in sign, so there is nothing to gain from a jump.
        sweeps(-0.9, |jump| lengths.push(jump));
        assert!(lengths.is_empty());
    }
}
