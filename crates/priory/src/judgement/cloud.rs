//! What the columns say as one cloud of points: every class is a normal distribution of all of them at once, of which mean and
//! covariance are known from so many rows only. The predictive distribution is then Student's t in D dimensions,
//!
//! ```text
//! lnΓ((df + D)/2) − lnΓ(df/2) − ½ ln|M| − D/2 ln((κ + 1)/κ) − (df + D)/2 · ln(1 + κ/(κ + 1) (x − μ)ᵀ M⁻¹ (x − μ))
//! ```
//!
//! with κ = n(class). Either every class has a matrix of its own, its scatter with ν rows of what all classes share,
//! M = S + ν ((1 − γ) W / (N − K) + γ I) and df = n(class) + ν; or all have one, M = W + γ N I, and df = N − K, where W is the
//! sum of the scatters S of all classes.
//!
//! Numbers are points by their distances or normal scores. A column of codes is a point with one coordinate for each code,
//! 2 (1 − p) if the row has the code and −2 p if not, p being the share of the code. What is missing is where the column's mean is.
//!
//! Without a row d away from the mean of its class, the scatter of the class is S − w n/(n − w) ddᵀ, so that its inverse and
//! determinant follow from dᵀ M⁻¹ d (Sherman and Morrison) without another inversion.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::judgement::grid::{Coded, Grid, UNIT};
use crate::judgement::together::{Layout, Together, View, coarser};
use crate::moments::engine::vectorized;
use crate::numerics;

/// Which columns make up a cloud, and how.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Members {
    /// Numbers by a view, without categories.
    Numbers(View),
    /// Numbers by a view, and the codes of categories.
    All(View),
    /// The codes of all columns, those of numbers in at most so many bins.
    Codes(usize),
}

impl Members {
    /// What a cloud of these says, in words.
    pub(crate) fn describe(self, is_shared: bool) -> String {
        let what = match self {
            Members::Numbers(View::Distances) => "numbers",
            Members::Numbers(View::Normals) => "ranks of numbers",
            Members::All(View::Distances) => "all columns",
            Members::All(View::Normals) => "all columns, numbers by rank",
            Members::Codes(_) => "all columns in bins",
        };
        format!("{what} as {}", if is_shared { "a cloud" } else { "a cloud of each class" })
    }
}

/// Clouds have at most so many coordinates and classes, with one covariance for all classes and with one for each.
const MOST_SHARED: usize = 800;
const MOST_CLASSES_SHARED: usize = 1_000;
const MOST_OWN: usize = 120;
const MOST_CLASSES_OWN: usize = 150;

/// How the covariances are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Covariance {
    /// One for all classes, with γ N of the identity.
    Shared {
        /// γ.
        ridge: f64,
    },
    /// One for each class, with ν rows of what all share, a share γ of which is the identity.
    Own {
        /// ν as a multiple of the number of dimensions.
        rows: f64,
        /// γ.
        ridge: f64,
    },
}

impl Covariance {
    /// Whether these are numbers that a covariance can be estimated with.
    pub(crate) fn is_possible(self) -> bool {
        let is_share = |x: f64| x > 0.0 && x <= 1.0;
        match self {
            Covariance::Shared { ridge } => is_share(ridge),
            Covariance::Own { rows, ridge } => is_share(ridge) && rows > 0.0 && rows <= 1e3,
        }
    }

    /// Whether a cloud of so many coordinates and classes is worth the memory and the time: products of coordinates, and those
    /// of the means of any two classes, are kept once, or for each class.
    pub(crate) fn is_affordable(self, coordinates: usize, classes: usize) -> bool {
        match self {
            Covariance::Shared { .. } => coordinates <= MOST_SHARED && classes <= MOST_CLASSES_SHARED,
            Covariance::Own { .. } => coordinates <= MOST_OWN && classes <= MOST_CLASSES_OWN,
        }
    }
}

/// The coordinates of a cloud: first the numbers, then the codes of each column.
#[derive(Debug, Clone)]
pub(crate) struct Coordinates {
    view: Option<View>,
    /// How many are numbers.
    numbers: usize,
    blocks: Vec<Block>,
    pub(crate) size: usize,
}

/// The codes of a column.
#[derive(Debug, Clone)]
struct Block {
    column: usize,
    shift: u32,
    /// Where the first code stands, and the share of each.
    start: usize,
    shares: Vec<f64>,
}

impl Coordinates {
    pub(crate) fn new(grid: &Grid, layout: &Layout, members: Members) -> Self {
        let (view, columns) = match members {
            Members::Numbers(view) => (Some(view), Vec::new()),
            Members::All(view) => (Some(view), layout.categories.clone()),
            Members::Codes(_) => (None, (0..layout.codes.len()).collect()),
        };
        let numbers = if view.is_some() { layout.numbers.len() } else { 0 };
        let mut size = numbers;
        let blocks = columns.into_iter().map(|column| {
            let scale = &grid.columns[column];
            let shift = if let Members::Codes(most) = members { scale.shift_to(most) } else { 0 };
            let mut shares = vec![0.0; coarser(scale.shares.len() as u8, shift)];
            for (code, share) in (1_u8..).zip(&scale.shares) {
                shares[coarser(code, shift) - 1] += share;
            }
            size += shares.len();
            Block { column, shift, start: size - shares.len(), shares }
        });
        let blocks = blocks.collect();
        Coordinates { view, numbers, blocks, size }
    }

    /// Σ x over the rows of a class.
    fn sum(&self, together: &Together, class: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.size];
        if let Some(view) = self.view {
            let sums = together.sums_of(view, class);
            sum.iter_mut().enumerate().take(self.numbers).for_each(|(a, sum)| *sum = sums.sum(a));
        }
        for block in &self.blocks {
            let counts = block.counts(together, &(class..class + 1));
            let known: f64 = counts.iter().sum();
            for (sum, (n, p)) in sum[block.start..].iter_mut().zip(counts.iter().zip(&block.shares)) {
                *sum = 2.0 * (n - p * known);
            }
        }
        sum
    }

    /// Σ x xᵀ over the rows of some classes.
    fn square(&self, together: &Together, classes: &Range<usize>) -> Vec<f64> {
        let size = self.size;
        let mut square = vec![0.0; size * size];
        let layout = together.layout();
        let mut put = |a: usize, b: usize, x: f64| {
            square[a * size + b] = x;
            square[b * size + a] = x;
        };
        if let Some(view) = self.view {
            let sums: Vec<_> = classes.clone().map(|class| together.sums_of(view, class)).collect();
            let mut first_code = vec![0; layout.codes.len()];
            let mut next = 0;
            for &column in &layout.categories {
                first_code[column] = next;
                next += layout.codes[column];
            }
            for a in 0..self.numbers {
                (0..=a).for_each(|b| put(a, b, sums.iter().map(|sums| sums.product(a, b)).sum()));
                for block in &self.blocks {
                    let place = |code: usize| first_code[block.column] + code;
                    let with_code =
                        |code: usize| sums.iter().map(|sums| sums.by_code(place(code), a)).sum::<f64>();
                    let known: f64 = (1..=block.shares.len()).map(with_code).sum();
                    for (i, share) in block.shares.iter().enumerate() {
                        put(block.start + i, a, 2.0 * (with_code(i + 1) - share * known));
                    }
                }
            }
        }
        for (i, block) in self.blocks.iter().enumerate() {
            let counts = block.counts(together, classes);
            let known: f64 = counts.iter().sum();
            for (v, (n, p)) in counts.iter().zip(&block.shares).enumerate() {
                for (u, (m, q)) in counts.iter().zip(&block.shares).enumerate().take(v + 1) {
                    let both = if u == v { *n } else { 0.0 };
                    put(block.start + v, block.start + u, 4.0 * (both - q * n - p * m + p * q * known));
                }
            }
            for other in &self.blocks[..i] {
                let table = pair_counts(together, other, block, classes);
                let width = block.shares.len();
                let by_other: Vec<f64> = table.chunks_exact(width).map(|row| row.iter().sum()).collect();
                let by_block: Vec<f64> =
                    (0..width).map(|v| table.iter().skip(v).step_by(width).sum()).collect();
                let known: f64 = by_other.iter().sum();
                for (u, q) in other.shares.iter().enumerate() {
                    for (v, p) in block.shares.iter().enumerate() {
                        let x = table[u * width + v] - p * by_other[u] - q * by_block[v] + p * q * known;
                        put(block.start + v, other.start + u, 4.0 * x);
                    }
                }
            }
        }
        square
    }

    /// Where a row is.
    fn read(&self, coded: &Coded, row: usize, point: &mut Point) {
        point.numbers.clear();
        point.codes.clear();
        if let Some(view) = self.view {
            let values = match view {
                View::Distances => &coded.distances,
                View::Normals => &coded.normals,
            };
            point.numbers.extend(values.iter().map(|column| f64::from(column[row]) / UNIT));
        }
        for block in &self.blocks {
            let code = coarser(coded.codes[block.column][row], block.shift);
            if code != 0 {
                point.codes.push(block.start + code - 1);
            }
        }
    }
}

/// A row as it is looked up in a [`Form`].
#[derive(Debug, Default)]
pub(crate) struct Point {
    /// The first coordinates.
    numbers: Vec<f64>,
    /// Those of the others that are one; the rest is zero.
    codes: Vec<usize>,
}

/// The weight of the rows of some classes for each pair of codes of two columns, the earlier of which comes first in the grid.
fn pair_counts(together: &Together, a: &Block, b: &Block, classes: &Range<usize>) -> Vec<f64> {
    let layout = together.layout();
    let start = layout.pair_start(a.column, b.column);
    let width = layout.codes[b.column];
    let mut counts = vec![0.0; a.shares.len() * b.shares.len()];
    for code_a in 1..layout.codes[a.column] {
        for code_b in 1..width {
            let place =
                (coarser(code_a as u8, a.shift) - 1) * b.shares.len() + coarser(code_b as u8, b.shift) - 1;
            let cell = start + code_a * width + code_b;
            counts[place] += classes.clone().map(|class| together.count(cell, class)).sum::<f64>();
        }
    }
    counts
}

/// Means and scatters of all classes: enough for every covariance.
pub(crate) struct Scatter {
    coordinates: Coordinates,
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    /// The scatter of each class, if they are wanted, and of all together.
    own: Vec<Vec<f64>>,
    within: Vec<f64>,
}

impl Scatter {
    pub(crate) fn new(coordinates: Coordinates, together: &Together, with_own: bool) -> Self {
        let size = coordinates.size;
        let mut scatter = Scatter {
            weights: Vec::new(),
            means: Vec::new(),
            own: Vec::new(),
            within: vec![0.0; size * size],
            coordinates,
        };
        let classes = 0..together.classes;
        for class in classes.clone() {
            let weight = together.class_weight(class);
            let sum = scatter.coordinates.sum(together, class);
            scatter.weights.push(weight);
            scatter.means.push(sum.iter().map(|sum| if weight > 0.0 { sum / weight } else { 0.0 }).collect());
        }
        let scatter_of = |classes: Range<usize>| {
            let mut square = scatter.coordinates.square(together, &classes);
            for class in classes {
                let (weight, mean) = (scatter.weights[class], &scatter.means[class]);
                for (row, m) in square.chunks_exact_mut(size).zip(mean) {
                    row.iter_mut().zip(mean).for_each(|(x, n)| *x -= weight * m * n);
                }
            }
            square
        };
        let own: Vec<Vec<f64>> = match with_own {
            true => classes.clone().map(|class| scatter_of(class..class + 1)).collect(),
            false => vec![scatter_of(classes)],
        };
        for own in &own {
            scatter.within.iter_mut().zip(own).for_each(|(sum, x)| *sum += x);
        }
        if with_own {
            scatter.own = own;
        }
        scatter
    }
}

/// A cloud with a covariance, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Cloud {
    coordinates: Coordinates,
    weights: Vec<f64>,
    /// One for all classes, or one for each.
    forms: Vec<Form>,
    /// df of each class, and what follows from it.
    freedom: Vec<f64>,
    spreads: Vec<Spread>,
    /// How much of W is in M.
    share_of_within: f64,
    is_shared: bool,
}

/// xᵀ M⁻¹ y for points x and y that are rows or means of classes.
#[derive(Debug, Clone)]
struct Form {
    /// For any two coordinates as rows have them.
    quadratic: Vec<f64>,
    /// For a coordinate and the mean of each class.
    linear: Vec<Vec<f64>>,
    /// For the means of any two classes.
    constant: Vec<f64>,
    log_determinant: f64,
}

impl Cloud {
    /// Of some columns of a grid; `None` if there are none or too many, or the matrix cannot be inverted.
    pub(crate) fn of(
        grid: &Grid,
        together: &Together,
        members: Members,
        covariance: Covariance,
    ) -> Option<Self> {
        let with_own = matches!(covariance, Covariance::Own { .. });
        let coordinates = Coordinates::new(grid, together.layout(), members);
        if coordinates.size == 0 || !covariance.is_affordable(coordinates.size, together.classes) {
            return None;
        }
        Cloud::new(&Scatter::new(coordinates, together, with_own), covariance)
    }

    /// `None` if the matrix cannot be inverted.
    pub(crate) fn new(scatter: &Scatter, covariance: Covariance) -> Option<Self> {
        Cloud::with_total(scatter, covariance, scatter.weights.iter().sum())
    }

    /// With another N than all rows have. When a row is left out N stays what it was, as all does that was chosen.
    fn with_total(scatter: &Scatter, covariance: Covariance, total: f64) -> Option<Self> {
        let (size, classes) = (scatter.coordinates.size, scatter.weights.len());
        let with_ridge = |mut matrix: Vec<f64>, ridge: f64| {
            (0..size).for_each(|i| matrix[i * size + i] += ridge);
            matrix
        };
        let between = (total - classes as f64).max(1.0);
        let (matrices, freedom, share_of_within): (Vec<Vec<f64>>, Vec<f64>, f64) = match covariance {
            Covariance::Shared { ridge } => {
                (vec![with_ridge(scatter.within.clone(), ridge * total)], vec![between; classes], 1.0)
            }
            Covariance::Own { rows, ridge } => {
                let rows = rows * size as f64;
                let share = rows * (1.0 - ridge) / between;
                let own = scatter.own.iter().map(|own| {
                    let sum = own.iter().zip(&scatter.within).map(|(own, within)| own + share * within);
                    with_ridge(sum.collect(), rows * ridge)
                });
                (own.collect(), scatter.weights.iter().map(|weight| weight + rows).collect(), share)
            }
        };
        let is_shared = matches!(covariance, Covariance::Shared { .. });
        let forms = matrices.into_iter().map(|matrix| Form::new(scatter, matrix, is_shared));
        Some(Cloud {
            forms: forms.collect::<Option<_>>()?,
            coordinates: scatter.coordinates.clone(),
            spreads: scatter.weights.iter().zip(&freedom).map(|(&w, &df)| Spread::new(size, w, df)).collect(),
            weights: scatter.weights.clone(),
            freedom,
            share_of_within,
            is_shared,
        })
    }

    /// Whether all classes have the same covariance.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn form(&self, class: usize) -> &Form {
        &self.forms[if self.is_shared { 0 } else { class }]
    }

    /// The log-density of a row in each class, but for what the classes share.
    pub(crate) fn score(&self, coded: &Coded, row: usize, point: &mut Point, scores: &mut [f64]) {
        self.coordinates.read(coded, row, point);
        let shared = if self.is_shared { self.forms[0].square(point) } else { 0.0 };
        for (class, score) in scores.iter_mut().enumerate() {
            let form = self.form(class);
            let square = if self.is_shared { shared } else { form.square(point) };
            let distance = square - 2.0 * form.with_mean(point, class) + form.constant(class, class);
            *score = self.spreads[class].ln(distance) - 0.5 * form.log_determinant;
        }
    }

    /// The same for some rows that were learnt, each without itself; their classes and weights are these.
    pub(crate) fn scores_without(
        &self,
        coded: &Coded,
        own: &[u32],
        weights: &[f64],
        rows: Range<usize>,
    ) -> Vec<f64> {
        let classes = self.weights.len();
        let mut scores = vec![0.0; rows.len() * classes];
        let points = rows.clone().map(|row| {
            let mut point = Point::default();
            self.coordinates.read(coded, row, &mut point);
            point
        });
        let points: Vec<Point> = points.collect();
        let mut squares = self.forms[0].squares(&points);
        for class in 0..classes {
            let form = self.form(class);
            if class > 0 && !self.is_shared {
                squares = form.squares(&points);
            }
            let to_class = form.with_means(&points, |_| class);
            let to_own = form.with_means(&points, |place| own[rows.start + place] as usize);
            // Most rows weigh the same.
            let usual = (weights[rows.start], self.spread_without(class, weights[rows.start]));
            for (place, row) in rows.clone().enumerate() {
                let (own, weight) = (own[row] as usize, weights[row]);
                let spread = match (own == class, weight == usual.0) {
                    (false, _) => self.spreads[class],
                    (true, true) => usual.1,
                    (true, false) => self.spread_without(class, weight),
                };
                let seen = Seen { square: squares[place], to_class: to_class[place], to_own: to_own[place] };
                scores[place * classes + class] = self.score_without(class, own, weight, seen, spread);
            }
        }
        scores
    }

    /// How far a class is spread without a row of this weight.
    fn spread_without(&self, class: usize, weight: f64) -> Spread {
        let freedom = match self.is_shared {
            true => self.freedom[class],
            false => (self.freedom[class] - weight).max(1.0),
        };
        Spread::new(self.coordinates.size, self.weights[class] - weight, freedom)
    }

    /// The log-density of a point in a class, without the point, which is of class `own` and this weight.
    fn score_without(&self, class: usize, own: usize, weight: f64, seen: Seen, spread: Spread) -> f64 {
        let form = self.form(class);
        let Seen { square, to_class, to_own } = seen;
        let left = self.weights[own] - weight;
        let growth = if left > 1e-9 * self.weights[own] { self.weights[own] / left } else { 1.0 };
        let from_own = square - 2.0 * to_own + form.constant(own, own);
        let in_own_scatter = if class == own && !self.is_shared { 1.0 } else { 0.0 };
        let lost = weight * growth * (self.share_of_within + in_own_scatter);
        let left_of_determinant = (1.0 - lost * from_own).max(1e-3);
        let log_determinant = match self.is_shared {
            true => form.log_determinant,
            false => form.log_determinant + numerics::ln(left_of_determinant),
        };
        let distance = if class == own {
            growth * growth * from_own / left_of_determinant
        } else {
            let between = square - to_own - to_class + form.constant(own, class);
            let distance = square - 2.0 * to_class + form.constant(class, class);
            distance + lost * between * between / left_of_determinant
        };
        spread.ln(distance) - 0.5 * log_determinant
    }
}

/// What a form says of a point x.
struct Seen {
    /// xᵀ M⁻¹ x.
    square: f64,
    /// xᵀ M⁻¹ μ with the mean of the class that is asked for, and of the point's own.
    to_class: f64,
    to_own: f64,
}

/// What the log-density depends on beside distance and determinant.
#[derive(Debug, Clone, Copy)]
struct Spread {
    /// lnΓ((df + D)/2) − lnΓ(df/2) − D/2 ln((κ + 1)/κ).
    constant: f64,
    /// (df + D)/2 and κ/(κ + 1).
    half: f64,
    share: f64,
}

impl Spread {
    fn new(size: usize, weight: f64, freedom: f64) -> Self {
        let (size, weight) = (size as f64, weight.max(0.3));
        let half = 0.5 * (freedom + size);
        let constant = libm::lgamma(half)
            - libm::lgamma(0.5 * freedom)
            - 0.5 * size * libm::log((weight + 1.0) / weight);
        Spread { constant, half, share: weight / (weight + 1.0) }
    }

    fn ln(self, distance: f64) -> f64 {
        self.constant - self.half * numerics::ln(1.0 + self.share * distance.max(0.0))
    }
}

impl Form {
    fn new(scatter: &Scatter, matrix: Vec<f64>, is_shared: bool) -> Option<Self> {
        let size = scatter.coordinates.size;
        let (inverse, log_determinant) = invert(matrix, size)?;
        let classes = scatter.means.len();
        let along: Vec<Vec<f64>> = scatter
            .means
            .iter()
            .map(|mean| inverse.chunks_exact(size).map(|row| dot(row, mean)).collect())
            .collect();
        let mut constant = Vec::with_capacity(classes * classes);
        for mean in &scatter.means {
            constant.extend(along.iter().map(|along| dot(mean, along)));
        }
        let blocks = &scatter.coordinates.blocks;
        let linear = along.into_iter().map(|mut along| {
            blocks.iter().for_each(|block| block.center(&mut along));
            along
        });
        let linear = linear.collect();
        // Rows of the matrix, then columns: what a code adds is measured from the mean of its column.
        let mut quadratic = inverse;
        for row in quadratic.chunks_exact_mut(size) {
            blocks.iter().for_each(|block| block.center(row));
        }
        for block in blocks {
            let rows = &mut quadratic[block.start * size..][..block.shares.len() * size];
            let mut mean = vec![0.0; size];
            for (row, share) in rows.chunks_exact(size).zip(&block.shares) {
                mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += share * x);
            }
            for row in rows.chunks_exact_mut(size) {
                row.iter_mut().zip(&mean).for_each(|(x, mean)| *x = 2.0 * (*x - mean));
            }
        }
        let log_determinant = if is_shared { 0.0 } else { log_determinant };
        Some(Form { quadratic, linear, constant, log_determinant })
    }

    /// xᵀ M⁻¹ x of each of some points.
    fn squares(&self, points: &[Point]) -> Vec<f64> {
        vectorized(
            #[inline(always)]
            move || points.iter().map(|point| self.square(point)).collect(),
        )
    }

    /// xᵀ M⁻¹ x of a point.
    #[inline(always)]
    fn square(&self, point: &Point) -> f64 {
        let (size, numbers) = (self.linear[0].len(), point.numbers.len());
        let mut sum = 0.0;
        for (a, &x) in point.numbers.iter().enumerate() {
            let row = &self.quadratic[a * size..][..=a];
            sum += x * (2.0 * dot(&row[..a], &point.numbers[..a]) + row[a] * x);
        }
        for (i, &code) in point.codes.iter().enumerate() {
            let row = &self.quadratic[code * size..][..size];
            let before: f64 = point.codes[..i].iter().map(|&other| row[other]).sum();
            sum += 2.0 * (dot(&row[..numbers], &point.numbers) + before) + row[code];
        }
        sum
    }

    /// xᵀ M⁻¹ μ of each of some points and the mean of the class that belongs to it.
    fn with_means(&self, points: &[Point], class: impl Fn(usize) -> usize) -> Vec<f64> {
        vectorized(
            #[inline(always)]
            move || points.iter().enumerate().map(|(i, point)| self.with_mean(point, class(i))).collect(),
        )
    }

    /// xᵀ M⁻¹ μ of a point and the mean of a class.
    #[inline(always)]
    fn with_mean(&self, point: &Point, class: usize) -> f64 {
        let linear = &self.linear[class];
        let of_codes: f64 = point.codes.iter().map(|&code| linear[code]).sum();
        dot(&linear[..point.numbers.len()], &point.numbers) + of_codes
    }

    fn constant(&self, a: usize, b: usize) -> f64 {
        self.constant[a * self.linear.len() + b]
    }
}

impl Block {
    /// The weight of the rows of some classes that have each code.
    fn counts(&self, together: &Together, classes: &Range<usize>) -> Vec<f64> {
        let layout = together.layout();
        let mut counts = vec![0.0; self.shares.len()];
        for code in 1..layout.codes[self.column] {
            let cell = layout.singles[self.column] + code;
            counts[coarser(code as u8, self.shift) - 1] +=
                classes.clone().map(|class| together.count(cell, class)).sum::<f64>();
        }
        counts
    }

    /// Of a function of coordinates, makes one of codes: 2 (f(code) − the mean of f over all codes).
    fn center(&self, row: &mut [f64]) {
        let of_block = &mut row[self.start..][..self.shares.len()];
        let mean = dot(of_block, &self.shares);
        of_block.iter_mut().for_each(|x| *x = 2.0 * (*x - mean));
    }
}

/// Σ x y, in an order that lets the compiler take eight products at once.
#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, y) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = x.remainder().iter().zip(y.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in x.zip(y) {
        (0..8).for_each(|i| sums[i] += x[i] * y[i]);
    }
    sums.iter().sum::<f64>() + rest
}

/// The inverse of a symmetric positive matrix and the logarithm of its determinant; `None` if it is not positive.
///
/// M = L Lᵀ (Cholesky), and M⁻¹ = L⁻ᵀ L⁻¹.
fn invert(matrix: Vec<f64>, size: usize) -> Option<(Vec<f64>, f64)> {
    vectorized(
        #[inline(always)]
        move || invert_in_any_way(matrix, size),
    )
}

#[inline(always)]
fn invert_in_any_way(mut matrix: Vec<f64>, size: usize) -> Option<(Vec<f64>, f64)> {
    let mut log_determinant = 0.0;
    for i in 0..size {
        let (above, own) = matrix.split_at_mut(i * size);
        for j in 0..i {
            let row = &above[j * size..][..=j];
            own[j] = (own[j] - dot(&own[..j], &row[..j])) / row[j];
        }
        let left = own[i] - dot(&own[..i], &own[..i]);
        if !(left > 0.0 && left.is_finite()) {
            return None;
        }
        own[i] = left.sqrt();
        log_determinant += libm::log(left);
    }
    // Row j of the transposed inverse of L: it begins at its diagonal.
    let mut inverse = vec![0.0; size * size];
    for j in 0..size {
        let column = &mut inverse[j * size..][..size];
        column[j] = 1.0 / matrix[j * size + j];
        for i in j + 1..size {
            let row = &matrix[i * size..][..=i];
            column[i] = -dot(&row[j..i], &column[j..i]) / row[i];
        }
    }
    let mut product = vec![0.0; size * size];
    for a in 0..size {
        for b in 0..=a {
            let x = dot(&inverse[a * size + a..][..size - a], &inverse[b * size + a..][..size - a]);
            product[a * size + b] = x;
            product[b * size + a] = x;
        }
    }
    Some((product, log_determinant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::grid::{GridColumn, Scale};
    use crate::judgement::together::weight_units;

    /// Two columns of numbers and one of three categories, without a scale for numbers: rows are written by hand.
    fn grid() -> Grid {
        let column = |column: usize, values: usize| GridColumn {
            column,
            shares: vec![1.0 / values as f64; values],
            scale: Scale::Values {
                values: (0..values).map(|value| value.to_string()).collect(),
                others: false,
            },
        };
        let columns = vec![column(0, 3), column(1, 2)];
        Grid { columns, triples: Vec::new(), codes_of_triples: 4, largest_hash: u64::MAX }
    }

    fn coded(rows: &[(u8, u8)]) -> Coded {
        let codes = vec![rows.iter().map(|row| row.0).collect(), rows.iter().map(|row| row.1).collect()];
        Coded { rows: rows.len(), codes, distances: Vec::new(), normals: Vec::new() }
    }

    const ROWS: [(u8, u8); 12] =
        [(1, 1), (1, 2), (2, 1), (3, 2), (0, 1), (2, 2), (3, 1), (3, 0), (1, 1), (2, 2), (1, 2), (2, 1)];
    const CLASSES: [u32; 12] = [0, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 0];

    fn sums(left_out: Option<usize>) -> Together {
        let mut together = Together::empty(Layout::new(&grid()), 2);
        let kept: Vec<usize> = (0..ROWS.len()).filter(|&row| Some(row) != left_out).collect();
        let rows: Vec<(u8, u8)> = kept.iter().map(|&row| ROWS[row]).collect();
        let classes: Vec<u32> = kept.iter().map(|&row| CLASSES[row]).collect();
        together.add(&coded(&rows), &classes, &vec![weight_units(1.0); classes.len()], 1);
        together
    }

    /// What is left without a row follows from the sums less the row, under the numbers of rows that all together have.
    #[test]
    fn a_row_is_left_out_without_another_inversion() {
        let (grid, all) = (grid(), sums(None));
        let coordinates = |together: &Together| Coordinates::new(&grid, together.layout(), Members::Codes(8));
        let scatter = Scatter::new(coordinates(&all), &all, true);
        let (mut point, mut expected) = (Point::default(), vec![0.0; 2]);
        for covariance in [Covariance::Shared { ridge: 0.05 }, Covariance::Own { rows: 0.5, ridge: 0.3 }] {
            let cloud = Cloud::new(&scatter, covariance).unwrap();
            for row in 0..ROWS.len() {
                let left = sums(Some(row));
                let left_scatter = Scatter::new(coordinates(&left), &left, true);
                let refitted = Cloud::with_total(&left_scatter, covariance, ROWS.len() as f64).unwrap();
                let rows = coded(&ROWS);
                let found = cloud.scores_without(&rows, &CLASSES, &[1.0; ROWS.len()], row..row + 1);
                refitted.score(&rows, row, &mut point, &mut expected);
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        (found - expected).abs() < 1e-10,
                        "{covariance:?} {row}: {found} instead of {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn matrices_are_inverted() {
        let matrix = vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0];
        let (inverse, log_determinant) = invert(matrix.clone(), 3).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
        assert!((log_determinant - 21.29_f64.ln()).abs() < 1e-12);
        assert!(invert(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
