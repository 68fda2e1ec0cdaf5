//! What can be typed. The doc comments are the help texts.

use std::path::PathBuf;

use crate::text::TextArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use priory::judgement::Judging;
use priory::settings::{Discriminant, NumberFamily, Selection, Smoothing, VarianceFloor};
use priory::written::DecimalMark;
use priory_input::{Dialect, InputFormat};

use crate::choices::{
    AsChoice, ColumnSmoothing, CostChoice, NumbersChoice, PriorChoice, TextChoice, TypedRow, parse_amount,
    parse_as, parse_bins, parse_cost, parse_decimal, parse_delimiter, parse_discriminant, parse_exponent,
    parse_floor, parse_half_life, parse_ham_loss, parse_level, parse_numbers_or_auto, parse_part,
    parse_prior, parse_probability, parse_row, parse_select, parse_set, parse_smoothing, parse_text_model,
    parse_threads, parse_threshold,
};

/// Naive Bayes for anything that can be counted.
///
/// DATA is a CSV or TSV file with a header, or `-` for standard input. Results go to standard output, everything
/// else to standard error. Exit codes: 0 done, 1 failed, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "priory", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Example:\n  priory evaluate examples/penguins.csv --target species")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How many threads to use, for example `--threads 1`; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = parse_threads)]
    pub(crate) threads: Option<usize>,
}

/// One file in `commands/` for each.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what the columns of a table are taken as, and why
    Schema(SchemaArgs),
    /// Learn a model from data and write it to a file
    Train(TrainArgs),
    /// Print a query that has a database count the columns of a table, for `priory train --counts`
    Sql(SqlArgs),
    /// Classify rows: CSV with the column `prediction` to standard output
    Predict(PredictArgs),
    /// Say how well a model predicts rows that it has not learnt: one of your own, or such as follow from a table
    Evaluate(EvaluateArgs),
    /// Show how single rows come to their prediction, feature by feature
    Explain(ExplainArgs),
    /// Write a page for a browser: how good a model is, which columns help, and how it was made
    Report(ReportArgs),
    /// Print what a model has counted and what it concludes
    Show(ShowArgs),
    /// Rank the columns by how much each tells about the class
    Features(FeaturesArgs),
    /// Draw what a model makes of a column, or of two, in the terminal or as SVG
    Plot(PlotArgs),
    /// Weigh what the columns of a model say, by the rows that it has learnt
    Judge(JudgeCommandArgs),
    /// Say which class a model answers: costs, thresholds, and when it is unsure
    Decide(DecideArgs),
    /// Add rows to a model
    Learn(LearnArgs),
    /// Take rows out of a model, as if it had never seen them
    Forget(ForgetArgs),
    /// Add several models together: the same as one trained on all their data
    Merge(MergeArgs),
    /// Filter mail: verdicts where it is delivered, and lessons that are never lost
    Mail(MailArgs),
    /// Answer over HTTP: predict, explain, learn and forget, and a page in the browser
    #[cfg(feature = "serve")]
    Serve(crate::commands::serve::ServeArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  priory completions bash > ~/.local/share/bash-completion/completions/priory"
    )]
    Completions {
        /// The shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages to a folder
    #[command(after_help = "Example:\n  priory manual ~/.local/share/man/man1")]
    Manual {
        /// The folder, which must exist
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

impl Command {
    /// Whether it does not end at once when it is told to.
    pub(crate) fn ends_by_itself(&self) -> bool {
        #[cfg(feature = "serve")]
        return matches!(self, Command::Serve(_));
        #[cfg(not(feature = "serve"))]
        false
    }
}

/// What the columns of the data are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct TableArgs {
    /// The column to predict, for example `--target species`
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// A file that says what all columns are, as `priory schema -o FILE` writes it, for example `--schema table.json`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) schema: Option<PathBuf>,
    /// A column that says how much each row counts, for example `--weight copies`
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// A column that says which rows depend on each other, for example `--group customer`
    ///
    /// Rows of one customer, thread or patient know of each other, and a model that is tested on some of them after it has learnt
    /// others looks better than it is. Whole groups are held out of the fit of a judgement, and put into the folds of an evaluation.
    /// The column is no feature. `--group folder` groups documents by the folder above that of their class.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) group: Option<String>,
    /// Columns to leave out, for example `--ignore id,name`
    ///
    /// A column with a comma in its name is named by itself: `--ignore "name, first" --ignore id`
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) ignore: Vec<String>,
    /// What a column is: number, category, categorical, bernoulli, date, text, joint, group, ignore, or a family of numbers as
    /// `--numbers` takes it; `*` stands for all columns
    ///
    /// All columns called joint share one table of all their combinations; all called group are numbers that follow one
    /// normal distribution, see `--discriminant`. date, date:dmy, date:mdy, date:ymd, date:seconds and date:milliseconds are dates;
    /// date+weekday+month+hour counts parts of them as categories as well. What is not said is inferred from the first rows. Example: `--as age=number,zip=category,id=ignore`
    #[arg(long = "as", value_name = "COLUMN=KIND", value_parser = parse_as, value_delimiter = ',')]
    pub(crate) kinds: Vec<AsChoice>,
    /// The spellings of a missing value, separated by commas, for example `--missing "?,n/a,"`
    ///
    /// [default: an empty field, ?, NA, NaN, null]
    #[arg(long, value_name = "SPELLINGS", value_delimiter = ',')]
    pub(crate) missing: Option<Vec<String>>,
    /// The decimal mark of numbers, comma or point, where the values leave it open, for example `--decimal comma` reads 1,234 as
    /// a little more than one [default: what the columns say]
    #[arg(long, value_name = "MARK", value_parser = parse_decimal)]
    pub(crate) decimal: Option<DecimalMark>,
    /// Cut a target of numbers into so many classes of about as many rows each, for example `--target price --bins 4`
    #[arg(long, value_name = "N", value_parser = parse_bins)]
    pub(crate) bins: Option<usize>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) text: TextArgs,
}

/// How tables are written.
#[derive(Debug, Args)]
#[command(next_help_heading = "How DATA is written")]
pub(crate) struct InputArgs {
    /// The character between fields, for example `--delimiter ';'` [default: what the header and the first rows say]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Lines that begin with this character are skipped, for example `--comment '#'`
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) comment: Option<u8>,
    /// The first line is a row; the columns are called 1, 2, 3, …, for example `--no-header --target 5`
    #[arg(long)]
    pub(crate) no_header: bool,
    /// What the bytes of a text mean: utf8 or latin1, for example `--encoding latin1` [default: utf8]
    #[arg(long, value_name = "ENCODING", hide_possible_values = true)]
    pub(crate) encoding: Option<EncodingChoice>,
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, value_parser = input_format(), help = input_format_help())]
    pub(crate) input_format: Option<InputFormat>,
    /// How many columns a table in svmlight format has, if its beginning does not show all of them, for example
    /// `--columns 54`
    #[arg(long, value_name = "COUNT")]
    pub(crate) columns: Option<usize>,
    /// The sheet of a spreadsheet, by its name or its number, for example `--sheet "Orders 2024"` [default: the first]
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Option<String>,
    /// DATA is a folder, or a tar archive, with a folder for each class and a file for each document in it, for example
    /// `train --documents mails/`; the columns are called class and text
    #[arg(long, conflicts_with = "input_format")]
    pub(crate) documents: bool,
    /// DATA is mail: `CLASS=PATH`, where PATH is a message, an mbox, a Maildir, an MH folder, a folder or archive of these, for
    /// example `train --mail spam=Mail/Junk ham=Mail/Archive`; without a class, the folder of each message is its class
    #[arg(long, conflicts_with_all = ["input_format", "documents"])]
    pub(crate) mail: bool,
    /// What to do with a word in a column of numbers: stop with an error, or take it as missing and say how many,
    /// for example `--on-bad-value missing` [default: error]
    #[arg(long, value_name = "WHAT", hide_possible_values = true)]
    pub(crate) on_bad_value: Option<BadValueChoice>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingChoice {
    #[value(alias = "utf-8")]
    Utf8,
    #[value(alias = "latin-1")]
    Latin1,
}

/// The formats are those that the library has.
fn input_format() -> impl TypedValueParser<Value = InputFormat> {
    let find = |word: String| InputFormat::ALL.iter().copied().find(|format| format.name() == word);
    let words = InputFormat::ALL.iter().map(|format| format.name());
    PossibleValuesParser::new(words).try_map(move |word| find(word).ok_or("not a format"))
}

fn input_format_help() -> String {
    let words: Vec<&str> = InputFormat::ALL.iter().map(|format| format.name()).collect();
    let (last, others) = words.split_last().expect("there are formats");
    let others = others.join(", ");
    format!("{others} or {last}, for example `--input-format jsonl` [default: what name and contents say]")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BadValueChoice {
    Error,
    Missing,
}

/// How a model is estimated from what was counted.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Model")]
pub(crate) struct SettingsArgs {
    /// none, laplace, lidstone:A, background:L or dirichlet:FILE; `COLUMN=…` for a single column. For text also
    /// lidstone:auto and pseudocounts:PRESENT,ABSENT
    ///
    /// FILE is a CSV with the columns `column,value,beta` (Dirichlet parameters; the estimate is the posterior's
    /// mode) or `column,value,pseudocount` (what is added to each count). Example: `--smoothing lidstone:0.5
    /// --smoothing color=none` [default: laplace, and lidstone:auto for text, or what the model was trained with]
    #[arg(long, value_name = "SMOOTHING", value_parser = parse_smoothing)]
    pub(crate) smoothing: Vec<ColumnSmoothing>,
    /// The model of text: multinomial, bernoulli, presence, complement, complement-presence, complement-normalized or
    /// auto, for example `--text-model multinomial`
    ///
    /// auto is presence between two classes and for characters, and complement-presence for words and more classes.
    /// [default: auto, or what the model was trained with]
    #[arg(long = "text-model", alias = "text", value_name = "MODEL", value_parser = parse_text_model, help_heading = "Text")]
    pub(crate) text: Option<TextChoice>,
    /// Tokens in fewer documents are taken as never met, for example `--min-documents 2`
    #[arg(long, value_name = "N", value_parser = parse_amount, help_heading = "Text")]
    pub(crate) min_documents: Option<f64>,
    /// Keep only the tokens that tell most about the class, at most so many, for example `--most-tokens 20000`
    #[arg(long, value_name = "N", help_heading = "Text")]
    pub(crate) most_tokens: Option<u64>,
    /// How much a column counts: its P(x | class) is raised to this power, for example `--exponent comment=0.2`
    #[arg(long, value_name = "COLUMN=POWER", value_parser = parse_exponent)]
    pub(crate) exponent: Vec<(String, f64)>,
    /// empirical, uniform, smoothed:L, given:CLASS=P,… or estimate
    ///
    /// estimate, in `predict` and in `evaluate` of a model, finds the shares of the classes in the very rows that are to be
    /// predicted, without knowing their classes. Example: `--prior given:ham=0.3,spam=0.7` [default: empirical, or what the
    /// model was trained with]
    #[arg(long, value_name = "PRIOR", value_parser = parse_prior)]
    pub(crate) prior: Option<PriorChoice>,
    /// What a missing value says: nothing, or as much as any other value, for example `--when-missing counted`
    /// [default: skipped, or what the model was trained with]
    #[arg(long = "when-missing", alias = "missing-values", value_name = "HOW", hide_possible_values = true)]
    pub(crate) missing_values: Option<MissingChoice>,
    /// The family of all columns of numbers, for example `--numbers gaussian`; auto gives each column its own
    #[arg(long, value_name = "FAMILY", value_parser = parse_numbers_or_auto, long_help = numbers_help())]
    pub(crate) numbers: Option<NumbersChoice>,
    /// The least variance of a Gaussian: relative:R, absolute:A, added:A, sklearn or sklearn:R
    ///
    /// A share of the column's variance, an amount, an amount that is added, or scikit-learn's rule: R times the largest
    /// variance of any column is added. Example: `--numbers gaussian --variance-floor sklearn` [default: relative:1e-9]
    #[arg(long, value_name = "FLOOR", value_parser = parse_floor)]
    pub(crate) variance_floor: Option<VarianceFloor>,
    /// Take the columns of numbers together: linear, quadratic, regularized or regularized:L,G, for example `--discriminant linear`
    ///
    /// Gaussian discriminant analysis. In training all columns of numbers are meant, or those that `--as COLUMN=group`
    /// names. linear: one covariance for all classes; quadratic: one for each; regularized: L of the way (0 to 1) from
    /// quadratic to linear, and covariances cut by a share G, both chosen unless given. linear:unbiased and
    /// quadratic:unbiased divide by the degrees of freedom. [default: linear for columns called group, or what the
    /// model was trained with]
    #[arg(long, value_name = "HOW", value_parser = parse_discriminant)]
    pub(crate) discriminant: Option<Discriminant>,
    /// How many columns to use, the best by `priory features`; or auto: all that help; or all
    ///
    /// All columns are counted. If the model is judged, which are used is decided then; else it follows from the counts, each
    /// time a model is loaded. With `evaluate`, each fold chooses for itself. Example: `--select 5` [default: all, or what the
    /// model was trained with]
    #[arg(long, value_name = "K", value_parser = parse_select)]
    pub(crate) select: Option<Selection>,
}

/// Which class is answered.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Decisions")]
pub(crate) struct DecisionArgs {
    /// The class that is looked for, for example `--positive spam`
    #[arg(long, value_name = "CLASS", allow_hyphen_values = true)]
    pub(crate) positive: Option<String>,
    /// What mistakes cost: the answer is the class of the least expected cost, for example `--cost spam:ham=1,ham:spam=20`
    ///
    /// TRUE:PREDICTED=COST for every pair of classes; `*` stands for all that are not named. An answer that is right costs
    /// nothing unless that is said; `*:unsure=0.5` says what it costs not to answer. Or a file: CSV with the columns
    /// `true,predicted,cost`, or a matrix with a row for each true class and a column for each that is predicted.
    #[arg(long, value_name = "COSTS", value_parser = parse_cost, allow_hyphen_values = true)]
    pub(crate) cost: Option<CostChoice>,
    /// Answer a class if its probability reaches P, and otherwise the most probable of the others, for example
    /// `--threshold spam=0.9`; P alone is for the class that `--positive` names
    #[arg(long, value_name = "CLASS=P", value_parser = parse_threshold, value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "cost")]
    pub(crate) threshold: Vec<(Option<String>, f64)>,
    /// Answer `unsure` where no class has at least this probability, for example `--unsure 0.8`
    #[arg(long, value_name = "P", value_parser = parse_probability)]
    pub(crate) unsure: Option<f64>,
    /// Answer the most probable class, whatever the model was told before
    #[arg(long, conflicts_with_all = ["cost", "threshold", "unsure"])]
    pub(crate) most_probable: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum MissingChoice {
    Skipped,
    Counted,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory train examples/tennis.csv --target play
  priory train january.csv february.csv --target churned --ignore id -o churn.priory
  priory train --counts counts.csv --target play
  priory train examples/tennis.csv --target play --smoothing none --as '*=joint'")]
pub(crate) struct TrainArgs {
    /// One or more tables; each has the columns of the first
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    /// DATA has no rows but counts: the columns column, class, value and weight say how much each value of a column weighs in
    /// each class, for example `train --counts counts.csv --target play`
    ///
    /// `priory sql` prints a query that makes such a table in a database. A row without a column says what a class weighs. The
    /// model is the one that the rows would give with `--judge none`, to the last bit. [default target: class]
    #[arg(help_heading = "How DATA is written", long, conflicts_with = "documents")]
    pub(crate) counts: bool,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Rows count half after so many more rows, as with `priory learn`, for example `--half-life 10000`
    #[arg(help_heading = "Model", long, value_name = "ROWS", value_parser = parse_half_life)]
    pub(crate) half_life: Option<u64>,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Where to write the model, for example `-o churn.priory` [default: the first DATA's name with .priory]
    #[arg(help_heading = "Output", short, long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory sql days.csv --target play --table days --dialect sqlite
  priory sql --schema days.json --query 'SELECT * FROM days WHERE year > 2020' --dialect postgresql > counts.sql
  sqlite3 -csv -header days.db < counts.sql | priory train --counts - --schema days.json")]
pub(crate) struct SqlArgs {
    /// Rows like those in the database, to see what the columns are; none are needed with `--schema`
    #[arg(required_unless_present = "schema", value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    /// The table in the database, for example `--table shop.orders`
    ///
    /// The parts of the name are separated by points; a name with a point in it is given part by part: `--table shop --table
    /// orders.2024`
    #[arg(
        help_heading = "The database",
        long,
        value_name = "NAME",
        required_unless_present = "query",
        conflicts_with = "query"
    )]
    pub(crate) table: Vec<String>,
    /// A query that gives the rows, for example `--query 'SELECT * FROM orders WHERE paid'`
    #[arg(help_heading = "The database", long, value_name = "SQL")]
    pub(crate) query: Option<String>,
    /// How the database writes SQL: duckdb, postgresql, sqlite, or standard for others, for example `--dialect sqlite`
    #[arg(help_heading = "The database", long, value_name = "NAME", default_value_t, value_parser = str::parse::<Dialect>)]
    pub(crate) dialect: Dialect,
    #[command(flatten)]
    pub(crate) columns: TableArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory schema examples/penguins.csv --target species
  priory schema big.csv --target y --as zip=category -o table.json && priory train big.csv --schema table.json")]
pub(crate) struct SchemaArgs {
    /// One or more tables; the first rows are looked at
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    /// Write the schema to a file that `--schema` reads, for example `-o table.json`
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// How to print the schema
    #[arg(help_heading = "Output", long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory predict tennis.priory examples/tennis.csv
  priory predict tennis.priory examples/tennis.csv --keep outlook,play
  priory predict tennis.priory new.csv --probabilities -o predicted.parquet
  priory predict mails.priory --document new.eml")]
pub(crate) struct PredictArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The rows to classify
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath, required_unless_present = "document")]
    pub(crate) data: Option<String>,
    /// Files that are one document each, for example `predict mails.priory --document new.eml other.eml`; `-` is the standard
    /// input
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "data", value_hint = ValueHint::FilePath, help_heading = "Text")]
    pub(crate) document: Vec<String>,
    /// Add a column `P(class)` for each class, for example `predict m.priory new.csv --probabilities`
    #[arg(help_heading = "Output", long)]
    pub(crate) probabilities: bool,
    /// Add columns `low(class)` and `high(class)` between which P(class) lies with this probability, and `P(class)`, for example
    /// `--interval 0.9`
    ///
    /// Only so many rows were seen: another table of as many rows would have given other probabilities. The interval says how far
    /// they could be off because of that. It takes for granted that the model is right.
    #[arg(help_heading = "Output", long, value_name = "PROBABILITY", value_parser = parse_level)]
    pub(crate) interval: Option<f64>,
    /// Add the column `log_evidence`: log P(x), which is lowest for rows unlike all that were learnt
    #[arg(help_heading = "Output", long)]
    pub(crate) log_evidence: bool,
    /// Answer each row as soon as it has come, for example `tail -f log.csv | priory predict m.priory - --stream`
    ///
    /// A pipe that gives nothing for a fiftieth of a second is answered as far as it has come, also without this flag; with it
    /// there is no wait at all.
    #[arg(help_heading = "Output", long)]
    pub(crate) stream: bool,
    /// Columns of DATA to carry through as they are, before the prediction, for example `--keep id,name`
    ///
    /// Any columns will do, whether the model knows them or not, the target as well. A column with a comma in its name is
    /// named by itself: `--keep "name, first" --keep id`
    #[arg(help_heading = "Output", long, value_name = "COLUMNS")]
    pub(crate) keep: Vec<String>,
    /// How to write the predictions: csv, jsonl or, to a file, parquet, for example `--format jsonl` [default: what the
    /// output's name says, or csv]
    #[arg(help_heading = "Output", long, value_enum, hide_possible_values = true)]
    pub(crate) format: Option<PredictionFormat>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Write to a file instead of standard output, for example `-o predicted.csv`
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory evaluate examples/penguins.csv --target species
  priory evaluate examples/tennis.csv --target play --leave-one-out
  priory evaluate train.csv --target y --test test.csv --format json
  priory evaluate churn.priory march.csv
  priory evaluate mails.priory june.csv --positive spam --cost spam:ham=1,ham:spam=20")]
pub(crate) struct EvaluateArgs {
    /// A model and one or more tables to test it on; or tables, to test models of some of their rows on the others
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Show how good predictions are without and with a judgement, and whether their probabilities can be believed
    #[arg(help_heading = "Output", long)]
    pub(crate) compare: bool,
    /// Draw how sure predictions are against how often they are right, for example `--reliability believe.svg`
    #[arg(help_heading = "Output", long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) reliability: Option<PathBuf>,
    /// Write all that was found, and the model, as a page for a browser, for example `--report report.html`
    #[arg(help_heading = "Output", long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) split: SplitArgs,
    /// Another number gives other folds, for example `--seed 7` [default: 0]
    #[arg(help_heading = "What is tested on what", long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Say what cut-offs of the probability of the positive class are worth, for example `--cut-offs 0.2,0.5,0.8`
    ///
    /// Also without this flag where `--positive`, `--cost` or `--threshold` is given and it is clear which class is meant.
    /// [default: 0.1, 0.2, … 0.9]
    #[arg(long, value_name = "P,…", value_delimiter = ',', help_heading = "Decisions")]
    pub(crate) cut_offs: Vec<f64>,
    /// How to print the report
    #[arg(help_heading = "Output", long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory report examples/penguins.csv --target species -o penguins.html
  priory report churn.priory march.csv
  priory report churn.priory")]
pub(crate) struct ReportArgs {
    /// A model, and tables to test it on if there are any; or tables, to train a model of all rows and to test models of some of
    /// their rows on the others
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    #[command(flatten)]
    pub(crate) split: SplitArgs,
    /// Another number gives other folds, for example `--seed 7` [default: 0]
    #[arg(help_heading = "What is tested on what", long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Where to write the page, for example `-o report.html` [default: the first DATA's name with .html]
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Judgement")]
pub(crate) struct JudgeArgs {
    /// How far to judge what the columns say: auto, none, weights, pairs, full or later, for example `--judge none`
    ///
    /// Columns repeat each other, and naive Bayes takes their evidence at face value: its probabilities exaggerate. A judgement
    /// predicts every row from all others, and weighs by that what each column says (weights), what it says together with each
    /// other (pairs), and what all say together (full). none is the naive Bayes of the textbooks. auto is full, or none where
    /// rows are few or the settings are those of a textbook. later keeps the rows to judge by in the model file: parts of a
    /// table that were trained apart are judged when they are merged. [default: auto]
    #[arg(long, value_name = "TIER", value_parser = str::parse::<Judging>)]
    pub(crate) judge: Option<Judging>,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
#[command(next_help_heading = "What is tested on what")]
pub(crate) struct SplitArgs {
    /// Test on each of K parts what was learnt from the others, for example `--folds 5` [default: 10]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(crate) folds: Option<u32>,
    /// Test on a random share of the rows what was learnt from the rest, for example `--holdout 0.3`
    #[arg(long, value_name = "SHARE", value_parser = parse_part)]
    pub(crate) holdout: Option<f64>,
    /// Test on every row what was learnt from all others, for example `evaluate small.csv --target y --leave-one-out`
    #[arg(long)]
    pub(crate) leave_one_out: bool,
    /// Test on another table, for example `--test test.csv`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) test: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory explain tennis.priory --set outlook=S,temperature=C,humidity=H,wind=S --fractions
  priory explain tennis.priory examples/tennis.csv --bits | less
  priory explain tennis.priory examples/tennis.csv --row 3 -o why.svg")]
pub(crate) struct ExplainArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The rows to explain
    #[arg(value_name = "DATA", required_unless_present = "set", conflicts_with = "set", value_hint = ValueHint::FilePath)]
    pub(crate) data: Option<String>,
    /// A row typed in, for example `--set wind=S,outlook=O`; columns that are not named are missing
    ///
    /// A value with a comma in it stands in quotes: `--set 'name="Braund, Mr. Owen",age=22'`
    #[arg(help_heading = "Rows", long, value_name = "COLUMN=VALUE", value_parser = parse_set)]
    pub(crate) set: Vec<TypedRow>,
    /// Explain only these rows of DATA, counted from 1, for example `--row 17`
    #[arg(help_heading = "Rows", long, value_name = "N", value_parser = parse_row, value_delimiter = ',', conflicts_with = "set")]
    pub(crate) row: Vec<u64>,
    /// Explain this many rows of DATA, the first ones, for example `--rows 5`
    #[arg(help_heading = "Rows", long, value_name = "COUNT", conflicts_with_all = ["set", "row"])]
    pub(crate) rows: Option<u64>,
    /// Explain only rows whose class in DATA is not the one that is predicted, for example `--where-wrong --rows 5`
    #[arg(help_heading = "Rows", long, conflicts_with = "set")]
    pub(crate) where_wrong: bool,
    /// Show probabilities as fractions of whole numbers: `show tennis.priory --fractions` prints 9/14
    #[arg(help_heading = "Output", long)]
    pub(crate) fractions: bool,
    /// List every word that a document lacks with its own factor, for example `explain mails.priory --set "text=buy book" --absent`
    ///
    /// Only the Bernoulli model of text (`--text-model bernoulli`) looks at words that are not there.
    #[arg(long, help_heading = "Text")]
    pub(crate) absent: bool,
    /// Measure logarithms in bits instead of nats, for example `explain m.priory new.csv --bits`
    #[arg(help_heading = "Output", long)]
    pub(crate) bits: bool,
    /// Show between which numbers the probabilities lie with this probability, for example `explain m.priory new.csv --interval 0.9`
    ///
    /// The interval says how far a probability could be off because only so many rows were seen.
    #[arg(help_heading = "Output", long, value_name = "PROBABILITY", value_parser = parse_level, conflicts_with = "fractions")]
    pub(crate) interval: Option<f64>,
    /// How many terms of a judged model and tokens of a document to list, for example `explain mails.priory new.csv --top 50`
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Draw how the log-odds of the answer move from the prior to the posterior, term by term, below the numbers
    #[arg(help_heading = "Output", long)]
    pub(crate) waterfall: bool,
    /// Write that as a picture of one row instead, for example `explain m.priory new.csv --row 17 -o why.svg`
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["format", "waterfall"])]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// How to print the explanation
    #[arg(help_heading = "Output", long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory show tennis.priory --fractions
  priory show emails.priory --linear-form")]
pub(crate) struct ShowArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// Show probabilities as fractions of whole numbers: `show tennis.priory --fractions` prints 9/14
    #[arg(help_heading = "Output", long)]
    pub(crate) fractions: bool,
    /// Show the decision between two classes as b + Σ w x, for example `show emails.priory --linear-form`; all features
    /// must be Boolean, or text, or numbers in a group with a linear discriminant
    #[arg(help_heading = "Output", long = "linear-form", alias = "weights")]
    pub(crate) weights: bool,
    /// How many of the most telling tokens of each class to list, for example `show mails.priory --top 20`
    #[arg(long, value_name = "N", default_value_t = priory::report::TOP_TOKENS, help_heading = "Text")]
    pub(crate) top: usize,
    /// List the words that speak most for a class, 20 or as many as asked for, for example `show mails.priory --words spam 30`
    #[arg(long, num_args = 1..=2, value_names = ["CLASS", "N"], help_heading = "Text", conflicts_with_all = ["weights", "fractions"])]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// How to print the model
    #[arg(help_heading = "Output", long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory features tennis.priory
  priory features churn.priory --select auto --format json")]
pub(crate) struct FeaturesArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// How to print the ranking
    #[arg(help_heading = "Output", long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory plot penguins.priory flipper_length_mm
  priory plot penguins.priory bill_length_mm bill_depth_mm -o bills.svg
  priory plot penguins.priory -o all.svg
  priory plot penguins.priory --nomogram --class Gentoo -o worth.svg")]
pub(crate) struct PlotArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// A column; or two columns of numbers, the first across and the second up [default: the most telling column, or
    /// with -o all of them]
    #[arg(value_name = "COLUMN", num_args = 0..=2)]
    pub(crate) columns: Vec<String>,
    /// Draw by how many bits each value of each column speaks for a class, for example `plot tennis.priory --nomogram`
    ///
    /// Between two classes what a row holds adds up, with the prior, to the log-odds of the class. Of more classes it is one
    /// against all others.
    #[arg(help_heading = "Output", long, conflicts_with = "columns")]
    pub(crate) nomogram: bool,
    /// The class that the nomogram is about, for example `--nomogram --class Gentoo` [default: the positive class if the model
    /// was told one, else the last of two, else the most frequent]
    #[arg(
        help_heading = "Output",
        long,
        value_name = "CLASS",
        requires = "nomogram",
        allow_hyphen_values = true
    )]
    pub(crate) class: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Draw the rows of tables as points over a map of two columns, a part of them if they are many, for example
    /// `-o bills.svg --points examples/penguins.csv`
    #[arg(help_heading = "Output", long, value_name = "DATA", value_hint = ValueHint::FilePath, requires = "output")]
    pub(crate) points: Vec<String>,
    /// Write an SVG file instead, for example `-o picture.svg`
    #[arg(help_heading = "Output", short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory decide mails.priory
  priory decide mails.priory --cost spam:ham=1,ham:spam=20
  priory decide mails.priory --most-probable")]
pub(crate) struct DecideArgs {
    /// The model, which is replaced once all is well; without any flag it is only asked
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) decision: DecisionArgs,
    /// Leave the model as it is, and write another
    #[arg(help_heading = "Output", short, long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// How to print what the model answers
    #[arg(help_heading = "Output", long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory learn churn.priory march.csv
  priory learn mails.priory today.csv --half-life 10000")]
pub(crate) struct LearnArgs {
    #[command(flatten)]
    pub(crate) update: UpdateArgs,
    /// From here on rows count half after so many more rows, a quarter after twice as many, and so on, for example
    /// `--half-life 10000`; the model remembers it
    ///
    /// Rows that the model has learnt before are as old as the first row now. Age is counted in whole half-lives, so that
    /// everything stays exact. A row counts for at least 16 half-lives, and is let go before 32 have passed.
    #[arg(help_heading = "What changes", long, value_name = "ROWS", value_parser = parse_half_life)]
    pub(crate) half_life: Option<u64>,
    /// Say what would change, and change nothing
    #[arg(help_heading = "What changes", long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory forget churn.priory customer-4711.csv
  priory forget mails.priory monday.csv --learnt-at 20001")]
pub(crate) struct ForgetArgs {
    #[command(flatten)]
    pub(crate) update: UpdateArgs,
    /// Where rows age: when the first of these was learnt, as `priory learn` said, the others one after the other, for
    /// example `--learnt-at 20001`; 0 stands for rows from before the half-life
    #[arg(help_heading = "What changes", long, value_name = "ROW")]
    pub(crate) learnt_at: Option<u64>,
    /// Also remove the weights of the judgement, which were fitted with these rows
    #[arg(help_heading = "What changes", long)]
    pub(crate) drop_judgement: bool,
    /// Say what would change, and change nothing
    #[arg(help_heading = "What changes", long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory judge churn.priory churn.csv
  priory judge part.priory
  priory judge country.priory north.csv south.csv --judge pairs")]
pub(crate) struct JudgeCommandArgs {
    /// The model, which is replaced once all is well
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// All rows that the model has learnt; none need be named if it keeps them, as `train --judge later` has it
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    /// Leave the model as it is, and write another, for example `-o judged.priory`
    #[arg(help_heading = "Output", short, long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// Rows to learn or to forget.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The model, which is replaced once all is well
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The rows, with the target and every feature of the model
    #[arg(required_unless_present = "document", value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    /// Files that are one document each, all of the class that `--class` names, for example `learn mails.priory --document
    /// new.eml --class spam`; `-` is the standard input
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "data", requires = "class", value_hint = ValueHint::FilePath, help_heading = "Text")]
    pub(crate) document: Vec<String>,
    /// The class of the documents that `--document` names, for example `--class spam`
    #[arg(long, value_name = "CLASS", requires = "document", help_heading = "Text")]
    pub(crate) class: Option<String>,
    /// Leave the model as it is, and write another, for example `-o march.priory`
    #[arg(help_heading = "What changes", short, long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  priory merge north.priory south.priory -o country.priory
  priory merge 'parts/*.priory' -o all.priory
  find parts -name '*.priory' | priory merge --list - -o all.priory")]
pub(crate) struct MergeArgs {
    /// The models, which may be patterns such as 'parts/*.priory'; the settings are those of the first
    #[arg(required_unless_present = "list", value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) models: Vec<String>,
    /// A file with the path of a model in each line, or `-` for standard input, for example `--list parts.txt`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) list: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Where to write the sum, for example `-o country.priory`
    #[arg(help_heading = "Output", short, long, value_name = "MODEL", value_hint = ValueHint::FilePath, required_unless_present = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Say what the sum would be, and write nothing
    #[arg(help_heading = "Output", long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 spam or done, 1 another class, 2 unsure, 3 failed.

Examples:
  priory mail learn spam Mail/Junk
  priory mail check < message
  priory mail filter < message | sendmail -oi me")]
pub(crate) struct MailArgs {
    /// The folder in which lessons are kept, for example `mail --store /var/lib/priory/alice status`
    /// [default: $PRIORY_MAIL, or priory/mail in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, global = true, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) store: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: MailCommand,
}

/// When a mail is spam.
#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// The class that is spam, for example `mail check --spam junk < message`
    #[arg(long, value_name = "CLASS", default_value = "spam")]
    pub(crate) spam: String,
    /// How many spams let through are as bad as one wanted mail lost, for example `mail check --ham-loss 1000 < message`: spam is
    /// what has at least the probability 1000/1001
    #[arg(long, value_name = "SPAMS", default_value_t = 99.0, value_parser = parse_ham_loss)]
    pub(crate) ham_loss: f64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// Say what a mail is: the verdict and the probability of spam; the exit code says it too
    #[command(after_help = "Example:\n  priory mail check < message")]
    Check {
        /// The message, or the first of a mailbox [default: standard input]
        #[arg(value_hint = ValueHint::FilePath)]
        message: Option<PathBuf>,
        #[command(flatten)]
        rule: RuleArgs,
        /// How to print the verdict
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Pass a mail from standard input to standard output, with the verdict in its header
    ///
    /// `X-Priory: spam 0.9983 (…)` and `X-Priory-Id` are added, and such fields of others taken out. If anything fails, the mail
    /// passes unchanged, and the exit code is 3.
    #[command(after_help = "Example, for procmail:\n  :0fw\n  | priory mail filter")]
    Filter {
        #[command(flatten)]
        rule: RuleArgs,
        /// End with exit code 75 if something fails, so that the mail is delivered later: `mail filter --tempfail`
        #[arg(long)]
        tempfail: bool,
    },
    /// Learn that mails are of a class; what is known already counts once, and what was of another class is moved
    #[command(
        after_help = "Examples:\n  priory mail learn spam Mail/Junk\n  priory mail learn ham < message"
    )]
    Learn {
        /// The class: spam, ham, or any other word
        class: String,
        /// Messages, mbox files, Maildirs, MH folders, or folders or archives of them [default: one message on standard input]
        #[arg(value_hint = ValueHint::AnyPath)]
        mailboxes: Vec<String>,
    },
    /// Take back what was learnt of mails, as if it had never been
    #[command(after_help = "Example:\n  priory mail forget < message")]
    Forget {
        /// Where the mails are [default: one message on standard input]
        #[arg(value_hint = ValueHint::AnyPath)]
        mailboxes: Vec<String>,
    },
    /// Move mails that were learnt to another class
    #[command(after_help = "Example:\n  priory mail move ham < message")]
    Move {
        /// The class that they are of after all
        class: String,
        /// Where the mails are [default: one message on standard input]
        #[arg(value_hint = ValueHint::AnyPath)]
        mailboxes: Vec<String>,
    },
    /// Show what speaks for and against spam in a mail, in bits that add up
    #[command(after_help = "Example:\n  priory mail explain < message")]
    Explain {
        /// The message, or the first of a mailbox [default: standard input]
        #[arg(value_hint = ValueHint::FilePath)]
        message: Option<PathBuf>,
        /// How many tokens to list, for example `mail explain --top 50 < message`
        #[arg(long, value_name = "N", default_value_t = 20)]
        top: usize,
        /// The class that is spam, for example `mail explain --spam junk < message`
        #[arg(long, value_name = "CLASS", default_value = "spam")]
        spam: String,
    },
    /// Say how many mails of each class were learnt
    #[command(after_help = "Example:\n  priory mail status")]
    Status {
        /// How to print it
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Write the lessons anew without what was forgotten, and judge the model anew
    #[command(after_help = "Example:\n  priory mail compact")]
    Compact,
    /// Write the model to a file that `predict`, `explain`, `show` and the other commands read
    #[command(after_help = "Example:\n  priory mail export mail.priory")]
    Export {
        /// The file
        #[arg(value_hint = ValueHint::FilePath)]
        model: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictionFormat {
    Csv,
    Jsonl,
    Parquet,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// The families are those that the library has.
fn numbers_help() -> String {
    format!(
        "The family of all columns of numbers, for example `--numbers gaussian`; auto gives each column its own\n\n{} or \
         auto. For single columns: `--as age=gaussian`. In training, gaussian keeps only sums, which is faster; all others can \
         be changed afterwards. [default: auto, or what the model was trained with]",
        NumberFamily::words()
    )
}

/// What the words for the smoothing stand for before files are read.
#[derive(Debug, Clone)]
pub(crate) enum SmoothingChoice {
    Ready(Smoothing),
    DirichletFile(PathBuf),
}

/// Ends the program as it does when something was typed that cannot be meant.
pub(crate) fn wrong_usage(message: &str) -> ! {
    Cli::command().error(ErrorKind::MissingRequiredArgument, message).exit()
}

#[cfg(test)]
mod tests {
    use clap::{Args, CommandFactory};

    #[test]
    fn verify_cli() {
        super::Cli::command().debug_assert();
    }

    /// What can be typed about models and text is what the library says can be chosen, so that Python offers no less.
    #[test]
    fn what_can_be_typed_is_what_can_be_chosen() {
        fn names(args: clap::Command) -> Vec<String> {
            args.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
        }
        let settings = super::SettingsArgs::augment_args(clap::Command::new("settings"));
        assert_eq!(names(settings), priory::settings::Choices::NAMES);
        let decision = super::DecisionArgs::augment_args(clap::Command::new("decision"));
        assert_eq!(names(decision), priory::decide::DecisionChoices::NAMES);
        let text = super::TextArgs::augment_args(clap::Command::new("text"));
        assert_eq!(names(text), priory_input::text::TextChoices::NAMES);
    }
}
