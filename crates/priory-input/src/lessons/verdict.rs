//! From probabilities to a verdict: by what it costs to lose a mail that was wanted.

use crate::lessons::Opinion;

/// What to do with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is spam.
    Spam,
    /// It is of this class.
    Other(String),
    /// Nobody should act on it: too little is known, or too much is at stake.
    Unsure,
}

/// When a message is spam.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The class that is spam.
    pub spam: String,
    /// How many spams let through are as bad as one wanted mail lost.
    pub ham_loss: f64,
}

impl Rule {
    /// The least probability of what is spam: where losing the mail costs on average as much as letting it through.
    pub fn cut_off(&self) -> f64 {
        self.ham_loss / (1.0 + self.ham_loss)
    }

    /// The verdict on a message, and the probability that it is spam. A store that was not judged has too few lessons for one.
    pub fn verdict(&self, opinion: Option<&Opinion>) -> (Verdict, f64) {
        let Some(opinion) = opinion else { return (Verdict::Unsure, 0.5) };
        let spam = opinion.of(&self.spam);
        let verdict = match opinion.best() {
            _ if !opinion.is_judged => Verdict::Unsure,
            _ if spam >= self.cut_off() => Verdict::Spam,
            Some(best) if best != self.spam && opinion.of(best) > 0.5 => Verdict::Other(best.to_owned()),
            _ => Verdict::Unsure,
        };
        (verdict, spam)
    }
}

impl Verdict {
    /// The word for it.
    pub fn word<'a>(&'a self, rule: &'a Rule) -> &'a str {
        match self {
            Verdict::Spam => &rule.spam,
            Verdict::Other(class) => class,
            Verdict::Unsure => "unsure",
        }
    }
}
