//! The decision between two classes as a weighted sum.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::families::likelihood::FamilyLikelihood;
use crate::model::{Model, feature_name, raised};

/// The decision between two classes as a weighted sum of what is present, and of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearForm {
    /// The class that negative sums speak for.
    #[serde(rename = "negative")]
    pub first: String,
    /// The class that positive sums speak for.
    #[serde(rename = "positive")]
    pub second: String,
    /// b: the log-odds of the second class when everything is absent and every number zero.
    pub bias: f64,
    /// How much each feature weighs.
    pub weights: Vec<LinearWeight>,
}

/// How much one feature weighs in a [`LinearForm`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearWeight {
    /// The column.
    pub feature: String,
    /// The value that counts as present, or the token, unless the feature is a number.
    pub present: Option<String>,
    /// w.
    pub weight: f64,
}

impl Model {
    /// The decision as b + Σ wᵢ xᵢ, if there are two classes and every feature is Boolean, or text, or in a group whose
    /// covariance the classes share.
    ///
    /// With w₁ and w₀ the probabilities of "present" in the second and in the first class,
    ///
    /// ```text
    /// b  = log(P(second) / P(first)) + Σ log((1 − w₁) / (1 − w₀))
    /// wᵢ = log(w₁ / w₀) − log((1 − w₁) / (1 − w₀))
    /// ```
    ///
    /// and x is 1 where the feature is present. The form is the log-odds of the second class: it is chosen where
    /// b + Σ wᵢ xᵢ > 0. (Taking the logarithm of "ratio = 1" moves the boundary to 0, not to 1.)
    ///
    /// Every token of a text is such a feature. In the Bernoulli model x is 1 where the token is there, and b has the factors of
    /// all tokens that are not; in the others wᵢ = log(p₁ / p₀), and x is how often the token occurs, or what else it counts.
    ///
    /// A group of numbers with means μ₀ and μ₁ and the covariance Σ adds −½ (μ₁ + μ₀)ᵀ w to b, with w = Σ⁻¹ (μ₁ − μ₀), and
    /// there x is the number itself.
    ///
    /// # Errors
    /// If there are not two classes, a feature is neither of these, or a weight is infinite.
    pub fn linear_form(&self) -> Result<LinearForm> {
        let refuse = |why: String| Err(Error::Settings(format!("there is no linear form: {why}")));
        let [first, second] = &*self.classes else {
            return refuse(format!("it is of two classes, and the model has {}", self.classes.len()));
        };
        let mut bias = self.log_prior[1] - self.log_prior[0];
        let mut weights = Vec::new();
        for factor in &self.factors {
            let feature = feature_name(&self.schema, &factor.columns);
            let bernoulli = match &factor.likelihood {
                FamilyLikelihood::Bernoulli(_, bernoulli) => bernoulli,
                FamilyLikelihood::Group(group) => {
                    let Some((b, of_columns)) = group.linear_form() else {
                        return refuse(format!("the classes do not share the covariance of `{feature}`"));
                    };
                    bias += b;
                    let names = factor.columns.iter().map(|&column| self.schema.columns[column].name.clone());
                    weights.extend(names.zip(of_columns).map(|(feature, weight)| LinearWeight {
                        feature,
                        present: None,
                        weight,
                    }));
                    continue;
                }
                FamilyLikelihood::Text(_, text) => {
                    let log_odds = |logs: &[f64]| raised(logs[1] - logs[0], factor.exponent);
                    bias += log_odds(text.all_absent());
                    for (id, token) in text.tokens.names().enumerate() {
                        let weight = log_odds(&text.of_token(id, 1.0));
                        if !weight.is_finite() {
                            return refuse(format!(
                                "the weight of `{token}` in `{feature}` is infinite; choose a smoothing other than none"
                            ));
                        }
                        let present = Some(token.to_owned());
                        weights.push(LinearWeight { feature: feature.clone(), present, weight });
                    }
                    continue;
                }
                _ => return refuse(format!("`{feature}` is neither Boolean nor text nor in a group")),
            };
            let log_odds = |side: &str| {
                let (log_likelihood, _) = bernoulli.contribution(Some(side));
                raised(log_likelihood[1] - log_likelihood[0], factor.exponent)
            };
            let absent = log_odds(&bernoulli.sides.absent);
            let weight = log_odds(&bernoulli.sides.present) - absent;
            if !weight.is_finite() {
                return refuse(format!(
                    "the weight of `{feature}` is infinite; choose a smoothing other than none"
                ));
            }
            bias += absent;
            weights.push(LinearWeight { feature, present: Some(bernoulli.sides.present.clone()), weight });
        }
        Ok(LinearForm { first: first.clone(), second: second.clone(), bias, weights })
    }
}
