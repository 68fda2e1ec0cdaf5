//! The inner loop: exact sums of x and x² in plain f64.
//!
//! A value below 2^E is cut into three pieces of at most 22 bits and a remainder, `rest`, that is nearly always zero:
//!
//! ```text
//! x = a + b + c + rest       a: x to the nearest 2^(E−21),  b: x − a to the nearest 2^(E−43),  c: … 2^(E−65)
//! Σx  = Σa + Σb + Σc
//! Σx² = Σa² + Σb² + Σc² + 2 (Σab + Σac + Σbc)
//! ```
//!
//! Counted in its own unit a piece is at most 2^21, a product of two at most 2^42. So an f64 holds the sum of
//! 2^11 products without rounding, and whether a multiplication is fused with the addition makes no difference:
//! every processor comes to the same sums.
//!
//! Cutting and summing are one step, as in reproducible summation (Demmel and Nguyen 2013, "Fast Reproducible
//! Floating-Point Summation"). Σa starts at 1.5 · 2^(E−21+52), where neighbouring f64 are one unit of a apart. So
//! Σa + x is rounded to units, the growth of Σa is a, and x − a goes on to the next piece.
//!
//! Values that are not below 2^E are left whole as a rest: large ones, infinities, and NaN.

use super::engine::prefetch;
use super::kernel::NO_CLASS;

/// How many rows can be summed before the sums of products could round.
pub(super) const MOST_ROWS: usize = 1 << 11;

/// Sums of one column and class: Σa, Σb, Σc, Σa², Σb², Σc², Σab, Σac, Σbc.
pub(super) const SUMS: usize = 9;

/// The scale 2^E of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scale(i32);

impl Scale {
    /// The smallest scale for which all pieces and products are f64 of full precision, and the largest.
    pub(super) const SMALLEST: Scale = Scale(-400);
    const LARGEST: Scale = Scale(500);

    /// The smallest scale above |x|, within what is possible.
    pub(super) fn above(x: f64) -> Scale {
        let exponent = (x.abs().to_bits() >> 52) as i32 - 1022;
        Scale(exponent).clamp(Scale::SMALLEST, Scale::LARGEST)
    }

    /// Only values below this limit are cut into pieces.
    pub(super) fn limit(self) -> f64 {
        power(self.0)
    }

    /// Where the sums of a column start.
    pub(super) fn origins(self) -> [f64; SUMS] {
        let origin = |bits| 1.5 * power(self.0 - bits + 52);
        [origin(21), origin(43), origin(65), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    }
}

/// 2^exponent, for exponents of normal numbers.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// What a block of rows is added to.
pub(super) struct Target<'a> {
    /// The limit of every column.
    pub(super) limits: &'a [f64],
    /// For every class, [`SUMS`] times as many sums as there are limits.
    pub(super) sums: &'a mut [f64],
    /// The rests of one row.
    pub(super) rests: &'a mut [f64],
    pub(super) leftover: &'a mut Leftover<'a>,
}

/// Called with number, values and rests of a row that has rests. Those of most columns are zero all the same.
pub(super) type Leftover<'a> = dyn FnMut(usize, &[f64], &[f64]) + 'a;

/// Adds rows of `columns` values each to the sums of their classes.
#[inline(always)]
pub(super) fn add_rows<const FUSED: bool>(rows: &[f64], columns: usize, classes: &[u32], target: Target<'_>) {
    let Target { limits, sums, rests, leftover } = target;
    let width = limits.len();
    for (number, (row, &class)) in rows.chunks_exact(columns).zip(classes).enumerate() {
        prefetch(row);
        if class == NO_CLASS {
            continue;
        }
        let mut sums = &mut sums[class as usize * SUMS * width..];
        let mut next = || &mut sums.split_off_mut(..width).expect("every class has its sums")[..columns];
        let (a, b, c) = (next(), next(), next());
        let (aa, bb, cc) = (next(), next(), next());
        let (ab, ac, bc) = (next(), next(), next());
        // Slices of equal length let the compiler see that no index is out of bounds.
        let (row, limits, rests) = (&row[..columns], &limits[..columns], &mut rests[..columns]);
        if add_row::<FUSED>(row, limits, rests, a, b, c, aa, bb, cc, ab, ac, bc) {
            leftover(number, row, rests);
        }
    }
}

/// Adds one row; all slices have the same length. Returns whether any value left a rest.
///
/// This is the loop that takes all the time. The compiler turns it into vector instructions, several columns at
/// once, because nothing in it branches.
#[expect(clippy::too_many_arguments, reason = "as arguments, slices are known not to overlap")]
#[inline(always)]
fn add_row<const FUSED: bool>(
    row: &[f64],
    limits: &[f64],
    rests: &mut [f64],
    a_sum: &mut [f64],
    b_sum: &mut [f64],
    c_sum: &mut [f64],
    aa_sum: &mut [f64],
    bb_sum: &mut [f64],
    cc_sum: &mut [f64],
    ab_sum: &mut [f64],
    ac_sum: &mut [f64],
    bc_sum: &mut [f64],
) -> bool {
    let mut any = 0;
    for i in 0..row.len() {
        let fits = row[i].abs() < limits[i];
        let x = if fits { row[i] } else { 0.0 };
        let (a, x) = cut(&mut a_sum[i], x);
        let (b, x) = cut(&mut b_sum[i], x);
        let (c, x) = cut(&mut c_sum[i], x);
        add_product::<FUSED>(&mut aa_sum[i], a, a);
        add_product::<FUSED>(&mut bb_sum[i], b, b);
        add_product::<FUSED>(&mut cc_sum[i], c, c);
        add_product::<FUSED>(&mut ab_sum[i], a, b);
        add_product::<FUSED>(&mut ac_sum[i], a, c);
        add_product::<FUSED>(&mut bc_sum[i], b, c);
        rests[i] = if fits { x } else { row[i] };
        any |= rests[i].to_bits();
    }
    any != 0
}

/// Adds x, rounded to the units of the sum; returns what was added and what was not.
#[inline(always)]
fn cut(sum: &mut f64, x: f64) -> (f64, f64) {
    let grown = *sum + x;
    let piece = grown - *sum;
    *sum = grown;
    (piece, x - piece)
}

#[inline(always)]
pub(super) fn add_product<const FUSED: bool>(sum: &mut f64, a: f64, b: f64) {
    *sum = if FUSED { a.mul_add(b, *sum) } else { *sum + a * b };
}
