//! English function words: articles, pronouns, prepositions, auxiliaries. No negations, no numbers, nothing that
//! carries a subject or an opinion.

#[rustfmt::skip]
pub(super) static ENGLISH: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "doing",
    "during", "each", "for", "from", "had", "has", "have", "having", "he", "he's", "her", "here", "hers",
    "herself", "him", "himself", "his", "how", "i", "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is",
    "it", "it's", "its", "itself", "me", "more", "most", "my", "myself", "of", "on", "or", "other", "our",
    "ours", "ourselves", "own", "same", "she", "she's", "should", "so", "some", "such", "than", "that",
    "that's", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they", "they're",
    "they've", "this", "those", "through", "to", "until", "was", "we", "we're", "we've", "were", "what",
    "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "you'd",
    "you'll", "you're", "you've", "your", "yours", "yourself", "yourselves",
];
