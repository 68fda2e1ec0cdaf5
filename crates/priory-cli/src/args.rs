//! What can be typed. The doc comments are the help texts.

use std::path::PathBuf;

use crate::text::TextArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use priory::judgement::Judging;
use priory::settings::{Discriminant, NumberFamily, Prior, Selection, Smoothing, VarianceFloor};
use priory_input::InputFormat;

use crate::choices::{
    AsChoice, ColumnSmoothing, NumbersChoice, TextChoice, parse_amount, parse_as, parse_delimiter,
    parse_discriminant, parse_exponent, parse_floor, parse_half_life, parse_level, parse_numbers_or_auto,
    parse_part, parse_prior, parse_select, parse_set, parse_smoothing, parse_text_model, parse_threads,
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
    /// Classify rows: CSV with the column `prediction` to standard output
    Predict(PredictArgs),
    /// Say how well such a model predicts, without training on what it is tested on
    Evaluate(EvaluateArgs),
    /// Show how single rows come to their prediction, feature by feature
    Explain(ExplainArgs),
    /// Print what a model has counted and what it concludes
    Show(ShowArgs),
    /// Rank the columns by how much each tells about the class
    Features(FeaturesArgs),
    /// Draw what a model makes of a column, or of two, in the terminal or as SVG
    Plot(PlotArgs),
    /// Weigh what the columns of a model say, by the rows that it has learnt
    Judge(JudgeCommandArgs),
    /// Add rows to a model
    Learn(LearnArgs),
    /// Take rows out of a model, as if it had never seen them
    Forget(ForgetArgs),
    /// Add several models together: the same as one trained on all their data
    Merge(MergeArgs),
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

/// What the columns of the data are.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// The column to predict, for example `--target species`
    #[arg(long, value_name = "COLUMN", required_unless_present_any = ["schema", "documents", "input_format"])]
    pub(crate) target: Option<String>,
    /// A file that says what all columns are, as `priory schema -o FILE` writes it, for example `--schema table.json`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) schema: Option<PathBuf>,
    /// A column that says how much each row counts, for example `--weight copies`
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,
    /// A column to leave out, for example `--ignore id --ignore name`
    #[arg(long, value_name = "COLUMN")]
    pub(crate) ignore: Vec<String>,
    /// What a column is: number, category, categorical, bernoulli, text, joint, group, ignore, or a family of numbers as
    /// `--numbers` takes it; `*` stands for all columns
    ///
    /// All columns called joint share one table of all their combinations; all called group are numbers that follow one
    /// normal distribution, see `--discriminant`. What is not said is inferred from the first rows. Example: `--as age=number,zip=category,id=ignore`
    #[arg(long = "as", value_name = "COLUMN=KIND", value_parser = parse_as, value_delimiter = ',')]
    pub(crate) kinds: Vec<AsChoice>,
    /// The spellings of a missing value, separated by commas, for example `--missing "?,n/a,"`
    ///
    /// [default: an empty field, ?, NA, NaN, null]
    #[arg(long, value_name = "SPELLINGS", value_delimiter = ',')]
    pub(crate) missing: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) text: TextArgs,
}

/// How tables are written.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The character between fields, for example `--delimiter ';'` [default: a comma, or a tab where it fits]
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
    /// DATA is a folder, or a tar archive, with a folder for each class and a file for each document in it, for example
    /// `train --documents mails/`; the columns are called class and text
    #[arg(long, conflicts_with = "input_format")]
    pub(crate) documents: bool,
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
    /// auto, for example `--text multinomial`
    ///
    /// auto is presence between two classes and for characters, and complement-presence for words and more classes.
    /// [default: auto, or what the model was trained with]
    #[arg(long, value_name = "MODEL", value_parser = parse_text_model, help_heading = "Text")]
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
    /// empirical, uniform, smoothed:L or given:CLASS=P,…
    ///
    /// Example: `--prior given:ham=0.3,spam=0.7` [default: empirical, or what the model was trained with]
    #[arg(long, value_name = "PRIOR", value_parser = parse_prior)]
    pub(crate) prior: Option<Prior>,
    /// What a missing value says: nothing, or as much as any other value, for example `--missing-values counted`
    /// [default: skipped, or what the model was trained with]
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
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
    /// All columns are counted; which are used follows from the counts, each time a model is loaded. With `evaluate`,
    /// each fold chooses for itself. Example: `--select 5` [default: all, or what the model was trained with]
    #[arg(long, value_name = "K", value_parser = parse_select)]
    pub(crate) select: Option<Selection>,
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
  priory train examples/tennis.csv --target play --smoothing none --as '*=joint'")]
pub(crate) struct TrainArgs {
    /// One or more tables; each has the columns of the first
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Rows count half after so many more rows, as with `priory learn`, for example `--half-life 10000`
    #[arg(long, value_name = "ROWS", value_parser = parse_half_life)]
    pub(crate) half_life: Option<u64>,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Where to write the model, for example `-o churn.priory` [default: the first DATA's name with .priory]
    #[arg(short, long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
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
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// How to print the schema
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory predict tennis.priory examples/tennis.csv
  priory predict tennis.priory examples/tennis.csv --keep outlook,play
  priory predict tennis.priory new.csv --probabilities -o predicted.parquet")]
pub(crate) struct PredictArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The rows to classify
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: String,
    /// Add a column `P(class)` for each class, for example `predict m.priory new.csv --probabilities`
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Add columns `low(class)` and `high(class)` between which P(class) lies with this probability, and `P(class)`, for example
    /// `--interval 0.9`
    ///
    /// Only so many rows were seen: another table of as many rows would have given other probabilities. The interval says how far
    /// they could be off because of that. It takes for granted that the model is right.
    #[arg(long, value_name = "PROBABILITY", value_parser = parse_level)]
    pub(crate) interval: Option<f64>,
    /// Columns of DATA to carry through as they are, before the prediction, for example `--keep id,name`
    ///
    /// Any columns will do, whether the model knows them or not, the target as well. A column with a comma in its name is
    /// named by itself: `--keep "name, first" --keep id`
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) keep: Vec<String>,
    /// How to write the predictions: csv, jsonl or, to a file, parquet, for example `--format jsonl` [default: what the
    /// output's name says, or csv]
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) format: Option<PredictionFormat>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Write to a file instead of standard output, for example `-o predicted.csv`
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory evaluate examples/penguins.csv --target species
  priory evaluate examples/tennis.csv --target play --leave-one-out
  priory evaluate train.csv --target y --test test.csv --format json")]
pub(crate) struct EvaluateArgs {
    /// One or more tables
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) table: TableArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Show how good predictions are without and with a judgement, and whether their probabilities can be believed
    #[arg(long)]
    pub(crate) compare: bool,
    /// Draw how sure predictions are against how often they are right, for example `--reliability believe.svg`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) reliability: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) split: SplitArgs,
    /// Another number gives other folds, for example `--seed 7`
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// How far to judge what the columns say: auto, none, weights, pairs or full, for example `--judge none`
    ///
    /// Columns repeat each other, and naive Bayes takes their evidence at face value: its probabilities exaggerate. A judgement
    /// predicts every row from all others, and weighs by that what each column says (weights), what it says together with each
    /// other (pairs), and what all say together (full). none is the naive Bayes of the textbooks. auto is full, or none where
    /// rows are few or the settings are those of a textbook. [default: auto]
    #[arg(long, value_name = "TIER", value_parser = str::parse::<Judging>, default_value = "auto", hide_default_value = true)]
    pub(crate) judge: Judging,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
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
  priory explain tennis.priory examples/tennis.csv --bits | less")]
pub(crate) struct ExplainArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The rows to explain
    #[arg(value_name = "DATA", required_unless_present = "set", conflicts_with = "set", value_hint = ValueHint::FilePath)]
    pub(crate) data: Option<String>,
    /// A row typed in, for example `--set wind=S,outlook=O`; columns that are not named are missing
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = parse_set, value_delimiter = ',')]
    pub(crate) set: Vec<String>,
    /// Show probabilities as fractions of whole numbers: `show tennis.priory --fractions` prints 9/14
    #[arg(long)]
    pub(crate) fractions: bool,
    /// Measure logarithms in bits instead of nats, for example `explain m.priory new.csv --bits`
    #[arg(long)]
    pub(crate) bits: bool,
    /// Show between which numbers the probabilities lie with this probability, for example `explain m.priory new.csv --interval 0.9`
    ///
    /// The interval says how far a probability could be off because only so many rows were seen.
    #[arg(long, value_name = "PROBABILITY", value_parser = parse_level, conflicts_with = "fractions")]
    pub(crate) interval: Option<f64>,
    /// How many terms of a judged model and tokens of a document to list, for example `explain mails.priory new.csv --top 50`
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// How to print the explanation
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory show tennis.priory --fractions
  priory show emails.priory --weights")]
pub(crate) struct ShowArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// Show probabilities as fractions of whole numbers: `show tennis.priory --fractions` prints 9/14
    #[arg(long)]
    pub(crate) fractions: bool,
    /// Show the decision between two classes as b + Σ w x, for example `show emails.priory --weights`; all features
    /// must be Boolean, or numbers in a group with a linear discriminant
    #[arg(long)]
    pub(crate) weights: bool,
    /// How many of the most telling tokens of each class to list, for example `show mails.priory --top 20`
    #[arg(long, value_name = "N", default_value_t = priory::report::TOP_TOKENS, help_heading = "Text")]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// How to print the model
    #[arg(long, value_enum, default_value_t)]
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
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory plot penguins.priory flipper_length_mm
  priory plot penguins.priory bill_length_mm bill_depth_mm -o bills.svg
  priory plot penguins.priory -o all.svg")]
pub(crate) struct PlotArgs {
    /// The model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// A column; or two columns of numbers, the first across and the second up [default: the most telling column, or
    /// with -o all of them]
    #[arg(value_name = "COLUMN", num_args = 0..=2)]
    pub(crate) columns: Vec<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Write an SVG file instead, for example `-o picture.svg`
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
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
    #[arg(long, value_name = "ROWS", value_parser = parse_half_life)]
    pub(crate) half_life: Option<u64>,
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
    #[arg(long, value_name = "ROW")]
    pub(crate) learnt_at: Option<u64>,
    /// Also remove the weights of the judgement, which were fitted with these rows
    #[arg(long)]
    pub(crate) drop_judgement: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  priory judge churn.priory churn.csv
  priory judge country.priory north.csv south.csv --judge pairs")]
pub(crate) struct JudgeCommandArgs {
    #[command(flatten)]
    pub(crate) update: UpdateArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// Rows to learn or to forget, or all that were learnt, to judge by.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The model, which is replaced once all is well
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,
    /// The rows, with the target and every feature of the model
    #[arg(required = true, value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  priory merge north.priory south.priory -o country.priory")]
pub(crate) struct MergeArgs {
    /// The models; the settings are those of the first
    #[arg(required = true, num_args = 2.., value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) models: Vec<PathBuf>,
    /// Where to write the sum, for example `-o country.priory`
    #[arg(short, long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
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
        let text = super::TextArgs::augment_args(clap::Command::new("text"));
        assert_eq!(names(text), priory_input::text::TextChoices::NAMES);
    }
}
