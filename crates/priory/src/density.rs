//! What pictures are made of: the numbers of a column as they were counted, and the densities fitted to them.

use crate::batch::{Batch, MISSING};
use crate::error::{Error, Result};
use crate::families::FamilyStatistics;
use crate::families::number::HOW_TO_KEEP_NUMBERS;
use crate::model::Model;
use crate::posterior::Posterior;
use crate::schema::Schema;
use crate::statistics::Statistics;

impl Statistics {
    /// The numbers of a column for each class, the classes in canonical order: each number once, in order, with its
    /// weight. Beyond some thousands of different numbers, neighbours are merged at the middle between them.
    ///
    /// # Errors
    /// If there is no such column, or it holds no numbers, or only sums were kept of it.
    pub fn numbers(&self, column: &str) -> Result<Vec<Vec<(f64, f64)>>> {
        let position = find(&self.schema, column)?;
        let statistics = self.canonical();
        let number = statistics.factors.iter().find_map(|factor| match factor {
            FamilyStatistics::Number(at, number) if *at == position => Some(number),
            _ => None,
        });
        let Some(number) = number else {
            return Err(Error::Settings(format!("`{column}` is not a column of numbers")));
        };
        let Some(spectrum) = &number.spectrum else {
            return Err(Error::Settings(format!(
                "only sums were kept of `{column}`, not its numbers; {HOW_TO_KEEP_NUMBERS}"
            )));
        };
        let classes = spectrum.by_class(statistics.classes.len(), None);
        let pairs =
            |cells: Vec<_>| cells.into_iter().map(|cell: crate::spectrum::Weighed| (cell.value, cell.weight));
        Ok(classes.into_iter().map(|cells| pairs(cells).collect()).collect())
    }
}

impl Model {
    /// log p(x | class) for every point and class, a point being one number for each of these columns; of all others
    /// nothing is known. The classes of a point stand side by side. For families of whole numbers it is a probability.
    ///
    /// ```
    /// use priory::{Batch, Column, Kind, Schema, Settings, Statistics, Value};
    ///
    /// let schema = Schema::new("sex", vec![Column::new("height", Kind::Number)])?;
    /// let mut people = Batch::new(&schema);
    /// for (sex, height) in [("f", 165.0), ("f", 169.0), ("m", 177.0), ("m", 183.0)] {
    ///     people.push(Some(sex), 1.0, &[Value::Number(height)])?;
    /// }
    /// let mut statistics = Statistics::empty(&schema);
    /// statistics.observe(&people)?;
    /// let model = statistics.estimate(&Settings::default())?;
    /// let at_167 = model.log_densities(&["height"], &[vec![167.0]])?;
    /// assert!(at_167[0] > at_167[1]);
    /// # Ok::<(), priory::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model has no such column of numbers.
    ///
    /// # Panics
    /// If a point does not have a number for each column.
    pub fn log_densities(&self, columns: &[&str], points: &[Vec<f64>]) -> Result<Vec<f64>> {
        let positions =
            columns.iter().map(|column| find(self.schema(), column)).collect::<Result<Vec<_>>>()?;
        let batch = self.points(columns, points)?;
        Ok((0..points.len()).flat_map(|row| self.log_likelihood(&positions, &batch, row)).collect())
    }

    /// The posterior at every point, a point being one number for each of these columns; of all others nothing is known.
    ///
    /// # Errors
    /// If the model has no such column of numbers.
    ///
    /// # Panics
    /// If a point does not have a number for each column.
    pub fn posterior_at(&self, columns: &[&str], points: &[Vec<f64>]) -> Result<Posterior> {
        Ok(self.score(&self.points(columns, points)?)?.normalize())
    }

    /// A batch of rows in which all but some columns of numbers is missing.
    fn points(&self, columns: &[&str], points: &[Vec<f64>]) -> Result<Batch> {
        let mut batch = Batch::new(self.schema());
        batch.rows = points.len();
        batch.classes.codes.resize(batch.rows, MISSING);
        batch.columns.iter_mut().for_each(|column| column.resize(points.len()));
        for (i, name) in columns.iter().enumerate() {
            let Some(values) = batch.columns[find(self.schema(), name)?].numbers_mut() else {
                return Err(Error::Settings(format!("`{name}` is not a column of numbers")));
            };
            values.iter_mut().zip(points).for_each(|(value, point)| *value = point[i]);
        }
        Ok(batch)
    }
}

/// Where a column is.
fn find(schema: &Schema, column: &str) -> Result<usize> {
    schema.position(column).ok_or_else(|| {
        let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
        Error::Settings(format!("the model has no column `{column}`; it has {}", names.join(", ")))
    })
}
