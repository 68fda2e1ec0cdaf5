//! The least value of a smooth convex function of a few hundred numbers, each of which has bounds.
//!
//! Limited-memory BFGS (Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.4) on the numbers that are free to move:
//! those that are not at a bound which the function would have them cross. Steps are projected back into the bounds and are
//! shortened until the function falls by enough.

/// How many earlier steps the curvature is taken from.
const MEMORY: usize = 20;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    /// After so many steps at the most.
    pub(crate) steps: usize,
    /// When no number can move by more than this along its own slope.
    pub(crate) slope: f64,
    /// When a step lowers the function by less than this share of its value.
    pub(crate) decrease: f64,
}

/// An earlier step, the change of the gradient over it, and one over the product of both.
struct Curvature {
    step: Vec<f64>,
    change: Vec<f64>,
    inverse: f64,
}

/// Moves `x` to where `value_and_gradient` is least, within the bounds. The function is given a place and room for its gradient.
/// `curvatures` are about how strongly it is curved along each number: the better they are, the fewer steps it takes.
pub(crate) fn minimize(
    x: &mut Vec<f64>,
    bounds: &[(f64, f64)],
    curvatures: &[f64],
    stop: Stop,
    mut value_and_gradient: impl FnMut(&[f64], &mut [f64]) -> f64,
) {
    let mut gradient = vec![0.0; x.len()];
    let mut value = value_and_gradient(x, &mut gradient);
    let mut memory: Vec<Curvature> = Vec::new();
    for _ in 0..stop.steps {
        if farthest_move(x, &gradient, bounds) <= stop.slope {
            return;
        }
        let is_free = |i: usize| {
            let (low, high) = bounds[i];
            !(x[i] <= low && gradient[i] > 0.0 || x[i] >= high && gradient[i] < 0.0)
        };
        let free: Vec<bool> = (0..x.len()).map(is_free).collect();
        let mut direction = downhill(&gradient, &free, curvatures, &memory);
        if dot(&direction, &gradient) >= 0.0 {
            memory.clear();
            direction = downhill(&gradient, &free, curvatures, &memory);
        }
        let mut length = 1.0;
        let mut new_gradient = vec![0.0; x.len()];
        let (new_x, new_value) = loop {
            let new_x: Vec<f64> = (0..x.len())
                .map(|i| (x[i] + length * direction[i]).clamp(bounds[i].0, bounds[i].1))
                .collect();
            let new_value = value_and_gradient(&new_x, &mut new_gradient);
            let fall: f64 = (0..x.len()).map(|i| gradient[i] * (new_x[i] - x[i])).sum();
            if new_value <= value + 1e-4 * fall {
                break (new_x, new_value);
            }
            length *= 0.5;
            if length < 1e-12 {
                return; // rounding is all that is left
            }
        };
        let step: Vec<f64> = new_x.iter().zip(x.iter()).map(|(new, old)| new - old).collect();
        let change: Vec<f64> = new_gradient.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        let product = dot(&step, &change);
        if product > 1e-12 * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if memory.len() == MEMORY {
                memory.remove(0);
            }
            memory.push(Curvature { step, change, inverse: 1.0 / product });
        }
        let fallen = value - new_value;
        (*x, gradient) = (new_x, new_gradient);
        let is_small = fallen <= stop.decrease * value.abs().max(new_value.abs());
        value = new_value;
        if is_small {
            return;
        }
    }
}

/// How far the number would move that moves farthest along its own slope within its bounds.
fn farthest_move(x: &[f64], gradient: &[f64], bounds: &[(f64, f64)]) -> f64 {
    let moves =
        x.iter().zip(gradient).zip(bounds).map(|((x, g), &(low, high))| ((x - g).clamp(low, high) - x).abs());
    moves.fold(0.0, f64::max)
}

/// Minus the gradient of the free numbers, times the inverse curvature that the earlier steps showed.
fn downhill(gradient: &[f64], free: &[bool], curvatures: &[f64], memory: &[Curvature]) -> Vec<f64> {
    let only_free = |vector: &mut Vec<f64>| {
        vector.iter_mut().zip(free).filter(|(_, free)| !**free).for_each(|(x, _)| *x = 0.0);
    };
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    only_free(&mut direction);
    let mut shares = Vec::with_capacity(memory.len());
    for curvature in memory.iter().rev() {
        let share = curvature.inverse * dot(&curvature.step, &direction);
        direction.iter_mut().zip(&curvature.change).for_each(|(d, y)| *d -= share * y);
        shares.push(share);
    }
    let scale = memory.last().map_or(1.0, |last| {
        let change = last.change.iter().zip(curvatures).map(|(y, curvature)| y * y / curvature);
        1.0 / (last.inverse * change.sum::<f64>())
    });
    direction.iter_mut().zip(curvatures).for_each(|(d, curvature)| *d *= scale / curvature);
    for (curvature, share) in memory.iter().zip(shares.into_iter().rev()) {
        let other = curvature.inverse * dot(&curvature.change, &direction);
        direction.iter_mut().zip(&curvature.step).for_each(|(d, s)| *d += (share - other) * s);
    }
    only_free(&mut direction);
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_value_within_bounds_is_found() {
        // (x − 3)² + 10 (y − x)² + (z + 1)² with x, y, z between 0 and 2: x = y = 2, z = 0.
        let mut x = vec![1.0, 0.0, 1.5];
        let stop = Stop { steps: 200, slope: 1e-9, decrease: 0.0 };
        minimize(&mut x, &[(0.0, 2.0); 3], &[22.0, 20.0, 2.0], stop, |x, gradient| {
            gradient[0] = 2.0 * (x[0] - 3.0) - 20.0 * (x[1] - x[0]);
            gradient[1] = 20.0 * (x[1] - x[0]);
            gradient[2] = 2.0 * (x[2] + 1.0);
            (x[0] - 3.0).powi(2) + 10.0 * (x[1] - x[0]).powi(2) + (x[2] + 1.0).powi(2)
        });
        for (found, expected) in x.iter().zip([2.0, 2.0, 0.0]) {
            assert!((found - expected).abs() < 1e-7, "{x:?}");
        }
    }
}
