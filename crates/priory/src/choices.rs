//! What the user chose, applied to existing settings.

use crate::error::Result;
use crate::settings::{
    Discriminant, MissingValues, NumberFamily, Prior, Selection, Settings, Smoothing, TextFamily,
    VarianceFloor,
};

/// Choices about how a model is estimated from what was counted. What is not chosen stays as it is.
///
/// ```
/// use priory::{Settings, words};
/// use priory::settings::{Choices, Prior, Smoothing};
///
/// let choices = Choices { smoothing: vec![(None, words::smoothing("none")?)], ..Choices::default() };
/// let mut settings = Settings { prior: Prior::Uniform, ..Settings::default() };
/// choices.apply(&mut settings)?;
/// assert_eq!((settings.smoothing, settings.prior), (Smoothing::None, Prior::Uniform));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// The smoothing of single columns, and of all others.
    pub smoothing: Vec<(Option<String>, Smoothing)>,
    /// The model of text; none for the one that suits the tokens and the number of classes.
    pub text: Option<Option<TextFamily>>,
    /// Tokens in fewer documents are taken as never met.
    pub min_documents: Option<f64>,
    /// How many tokens are kept: those that tell most about the class.
    pub most_tokens: Option<u64>,
    /// How much single columns count.
    pub exponent: Vec<(String, f64)>,
    /// Where P(class) comes from.
    pub prior: Option<Prior>,
    /// What a missing value says.
    pub missing_values: Option<MissingValues>,
    /// The family of columns of numbers; none for the one that each seems to follow.
    pub numbers: Option<Option<NumberFamily>>,
    /// The least variance of a Gaussian.
    pub variance_floor: Option<VarianceFloor>,
    /// How the numbers of a group belong together.
    pub discriminant: Option<Discriminant>,
    /// Which columns are used.
    pub select: Option<Selection>,
}

impl Choices {
    /// What can be chosen, by the names that the command line and Python give it.
    pub const NAMES: [&'static str; 11] = [
        "smoothing",
        "text-model",
        "min-documents",
        "most-tokens",
        "exponent",
        "prior",
        "when-missing",
        "numbers",
        "variance-floor",
        "discriminant",
        "select",
    ];

    /// Puts what was chosen over the settings.
    ///
    /// # Errors
    /// If the settings then make no sense.
    pub fn apply(&self, settings: &mut Settings) -> Result<()> {
        for (column, smoothing) in &self.smoothing {
            match column {
                None => set_smoothing(settings, smoothing),
                Some(column) => {
                    settings.column_smoothing.insert(column.clone(), smoothing.clone());
                }
            }
        }
        settings.text.model = self.text.unwrap_or(settings.text.model);
        settings.text.min_documents = self.min_documents.unwrap_or(settings.text.min_documents);
        settings.text.most_tokens = self.most_tokens.or(settings.text.most_tokens);
        settings.exponents.extend(self.exponent.iter().cloned());
        if let Some(prior) = &self.prior {
            settings.prior = prior.clone();
        }
        settings.missing = self.missing_values.unwrap_or(settings.missing);
        settings.numbers = self.numbers.unwrap_or(settings.numbers);
        settings.variance_floor = self.variance_floor.unwrap_or(settings.variance_floor);
        settings.discriminant = self.discriminant.or(settings.discriminant);
        settings.select = self.select.unwrap_or(settings.select);
        settings.check()
    }
}

/// Sets the smoothing of all columns. What text does not have is for the others, and what the others do not have is for text.
fn set_smoothing(settings: &mut Settings, smoothing: &Smoothing) {
    if !matches!(smoothing, Smoothing::Dirichlet(_)) {
        settings.text.smoothing = smoothing.clone();
    }
    if !smoothing.is_for_text_only() {
        settings.smoothing = smoothing.clone();
    }
}
