//! The columns, those first that help most, each with its picture; and the words that tell most.

use super::Told;
use super::html::{Html, escaped, percent, plural, short};
use crate::plot::{Detail, svg};
use crate::report::{FeatureRank, FeatureSummary, Gain, TellingToken};
use crate::{Kind, Result};

/// Columns with pictures. The table has them all, up to a bound.
const MOST_PICTURES: usize = 24;
const MOST_ROWS: usize = 500;

impl Told<'_> {
    pub(super) fn columns(&self, body: &mut Html) -> Result<()> {
        let judgement = self.summary.judgement.as_ref();
        body.markup("<section aria-labelledby=\"columns\">");
        body.heading(2, "columns", "Which columns help");
        body.paragraph(
            "",
            &format!(
                "To know the class is worth {:.3} bits a row. The gain of a column is how many of these it gives by itself to a row that \
                 was not counted{}.",
                self.features.entropy,
                if judgement.is_some() { "; a judged model also knows what it would lose without the column, and what its word is worth" } else { "" }
            ),
        );
        let has_lost = self.features.ranked.iter().any(|rank| rank.lost.is_some());
        let mut head = vec!["column", "kind", "family", "gain in bits", "information"];
        head.extend(has_lost.then_some("lost without it"));
        head.extend(judgement.map(|_| "weight"));
        head.push("missing");
        let rows: Vec<Vec<String>> =
            self.features.ranked.iter().take(MOST_ROWS).map(|rank| self.row(rank, has_lost)).collect();
        body.table("The columns, those that help most first", &head, &rows);
        let more = self.features.ranked.len().saturating_sub(MOST_ROWS);
        if more > 0 {
            body.paragraph("soft", &format!("And {}.", plural(more as u64, "other column")));
        }
        body.markup("<div class=\"cards\">");
        for rank in self
            .features
            .ranked
            .iter()
            .filter(|rank| rank.used && rank.kind != Kind::Text)
            .take(MOST_PICTURES)
        {
            let drawn = match rank.kind {
                Kind::Joint => &rank.columns[..1],
                _ => &rank.columns[..],
            };
            for column in drawn {
                // What cannot be drawn, since it is too large or always the same, is in the table.
                let Ok(picture) = self.subject.one(std::slice::from_ref(column), Detail::PANEL) else {
                    continue;
                };
                body.markup("<div class=\"card\">");
                body.heading(3, "", &short(column));
                body.markup(&self.meter(rank));
                body.picture("", &svg::sheet(&picture, svg::NARROW));
                body.markup("</div>");
            }
        }
        body.markup("</div></section>");
        Ok(())
    }

    fn row(&self, rank: &FeatureRank, has_lost: bool) -> Vec<String> {
        let feature = self.summary.features.iter().find(|feature| feature.name == rank.name);
        let total: f64 = self.summary.classes.iter().map(|class| class.weight).sum();
        let missing = |feature: &FeatureSummary| percent(feature.missing.iter().sum::<f64>() / total);
        let used = if rank.used { "" } else { " (not used)" };
        let mut row = vec![
            format!("{}{used}", short(&rank.name)),
            rank.kind.name().to_owned(),
            rank.family.to_string(),
            gain(rank.gain),
            rank.information.map_or("–".to_owned(), |bits| format!("{bits:.4}")),
        ];
        if has_lost {
            row.push(gain(rank.lost));
        }
        if let Some(judgement) = &self.summary.judgement {
            let weight = judgement.columns.iter().find(|weights| weights.name == rank.name);
            row.push(weight.map_or("–".to_owned(), |weights| format!("{:.2}", weights.alone)));
        }
        row.push(
            feature.filter(|feature| feature.group.is_none() && total > 0.0).map_or("–".to_owned(), missing),
        );
        row
    }

    /// A bar of the gain against all that there is to know.
    fn meter(&self, rank: &FeatureRank) -> String {
        let share = rank.gain.map_or(0.0, |gain| (gain.bits / self.features.entropy).clamp(0.0, 1.0));
        let said = rank.gain.map_or("gain not known".to_owned(), |gain| {
            format!("gives {:.3} of {:.3} bits", gain.bits, self.features.entropy)
        });
        let (share, said) = (if share.is_finite() { share } else { 0.0 }, escaped(&said));
        format!(
            "<p class=\"gain\"><span class=\"bar\"><span style=\"width:{:.1}%\"></span></span> {said}</p>",
            100.0 * share
        )
    }

    /// The words that speak for each class.
    pub(super) fn words(&self, body: &mut Html) {
        let texts: Vec<&FeatureSummary> =
            self.summary.features.iter().filter(|feature| feature.text.is_some()).collect();
        if texts.is_empty() {
            return;
        }
        body.markup("<section aria-labelledby=\"words\">");
        body.heading(2, "words", "Words that tell");
        for feature in texts {
            let Some(text) = &feature.text else { continue };
            body.paragraph(
                "",
                &format!(
                    "Of “{}” the model knows {}.",
                    short(&feature.name),
                    plural(text.tokens as u64, "token")
                ),
            );
            body.markup("<div class=\"cards\">");
            for (class, telling) in self.summary.classes.iter().zip(text.telling.iter()) {
                let largest =
                    telling.iter().map(|token| token.evidence.abs()).fold(f64::MIN_POSITIVE, f64::max);
                body.markup("<div class=\"card\">");
                body.heading(3, "", &format!("For {}", short(&class.name)));
                body.markup("<ol class=\"words\">");
                telling.iter().for_each(|token| body.markup(&word(token, largest)));
                body.markup("</ol></div>");
            }
            body.markup("</div>");
        }
        body.markup("</section>");
    }
}

fn word(token: &TellingToken, largest: f64) -> String {
    let bits = token.evidence / std::f64::consts::LN_2;
    format!(
        "<li><span class=\"word\">{}</span> <span class=\"bar\"><span style=\"width:{:.1}%\"></span></span> <span class=\"soft\">{bits:+.2} bits</span></li>",
        escaped(&short(&token.token)),
        100.0 * (token.evidence.abs() / largest).min(1.0),
    )
}

fn gain(gain: Option<Gain>) -> String {
    match gain {
        None => "–".to_owned(),
        Some(Gain { bits, .. }) if bits == f64::NEG_INFINITY => "−∞".to_owned(),
        Some(Gain { bits, standard_error }) => format!("{bits:.4} ± {standard_error:.4}"),
    }
}
