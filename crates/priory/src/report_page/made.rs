//! How it was made: what was read, what the columns were taken as, the settings, and how to do it again.

use super::Told;
use super::html::{Html, count, escaped, short};

/// More columns are counted, not listed.
const MOST_COLUMNS: usize = 500;

impl Told<'_> {
    pub(super) fn made(&self, body: &mut Html) {
        let (page, summary) = (self.page, &self.summary);
        let (learnt, schema) = (page.learnt, page.learnt.statistics.schema());
        body.markup("<section aria-labelledby=\"made\">");
        body.heading(2, "made", "How it was made");
        let judged = match &summary.judgement {
            Some(judgement) => format!("{}, by {} rows", judgement.tier, judgement.rows),
            None => "no: the naive Bayes of the textbooks".to_owned(),
        };
        let mut facts = vec![
            ("Rows learnt", summary.rows.to_string()),
            (
                "Classes",
                summary
                    .classes
                    .iter()
                    .take(100)
                    .map(|class| format!("{} {}", short(&class.name), count(class.weight)))
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            ("Judged", judged),
            ("Tested", page.tested.map_or("no".to_owned(), |tested| tested.how.to_owned())),
            ("Files", page.made.files.join(", ")),
            ("Fingerprint of what was learnt", format!("{:016x}", learnt.fingerprint())),
            ("Made by", format!("priory {}", env!("CARGO_PKG_VERSION"))),
        ];
        facts.retain(|(_, fact)| !fact.is_empty());
        body.markup("<dl class=\"facts\">");
        for (name, fact) in facts {
            body.markup(&format!("<div><dt>{name}</dt><dd>{}</dd></div>", escaped(&fact)));
        }
        body.markup("</dl>");
        if !page.made.command.is_empty() {
            body.markup(&format!(
                "<p>To make it again:</p><pre tabindex=\"0\" aria-label=\"The command\">{}</pre>",
                escaped(&page.made.command)
            ));
        }
        body.details("What the columns were taken as", false, |body| {
            let rows = schema.columns.iter().take(MOST_COLUMNS).map(|column| {
                vec![
                    short(&column.name),
                    column.word().to_owned(),
                    if column.source() == column.name { String::new() } else { short(column.source()) },
                ]
            });
            let rows: Vec<Vec<String>> = rows.collect();
            body.table("The columns of the table", &["column", "taken as", "read from"], &rows);
            let weight = schema
                .weight
                .as_ref()
                .map_or(String::new(), |weight| format!(" Rows weigh as “{}” says.", short(weight)));
            let missing: Vec<String> =
                schema.missing.iter().map(|spelling| format!("“{spelling}”")).collect();
            body.paragraph("soft", &format!("Missing is written {}.{weight}", missing.join(", ")));
        });
        body.details("All settings", false, |body| {
            let settings = serde_json::to_string_pretty(&learnt.settings).unwrap_or_default();
            body.markup(&format!("<pre tabindex=\"0\" aria-label=\"Settings\">{}</pre>", escaped(&settings)));
        });
        body.markup("</section>\n</main>");
    }
}
