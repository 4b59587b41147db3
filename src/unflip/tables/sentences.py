"""Which columns of a table hold sentences: text to be read, not names of groups and not names of rows.

As categories, sentences would be columns of zeros and hash buckets that say nothing of what is written.
So they are refused by name. Names of people, addresses, links and codes also differ from row to row; they
have few words, or words with capitals, and are left to those who look for identifiers.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from unflip.border.words import column_label

LOOKED_AT = 2000  # values of a column
LETTERS = 400  # of a value: enough to see that there are many words
SHOWN = 40  # letters of the example
FEWEST_TEXTS = 20  # different ones; with fewer, long names of categories look the same
WORDS, MOSTLY_DIFFERENT = 6.0, 1 / 2  # words on average, and the share of different texts
MANY_TEXTS = 100  # such texts may be repeated, as where several people label each
FEW_WORDS, NEARLY_ALL = 4.5, 0.9  # short texts, of which some come again; names and addresses hardly do
BY_CHOICE = ("categor", "enum")  # types of pandas and polars: somebody has decided that these are categories

# What stands between spaces, has two letters or more and no digits: its first letter.
WORD = re.compile(r"(?<!\S)[^\w\s]*([^\W\d_])[^\s\d]+(?!\S)")
# Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese.
UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0002fa1f]"
)
LETTERS_TO_A_WORD = 4  # in these scripts; fewer in Chinese, where addresses have 20 letters


def refuse_sentences(columns: Mapping[int, Any], names: Any) -> None:
    """Raise if some of these columns hold sentences, naming all that do.

    columns: values by the number of their column in X; names: of all columns of X, or None.

    >>> texts = [f"the {k} reasons why people like it" for k in "abcdefghijklmnopqrstu"]
    >>> refuse_sentences({3: texts}, None)
    Traceback (most recent call last):
    ValueError: column 3 of X holds sentences, such as 'the a reasons why people like it', which unflip does
    not read; give embeddings of them as columns of numbers (in Python, TfidfVectorizer and TruncatedSVD make
    some), or leave the column out
    """
    examples = {j: example_of_sentences(values) for j, values in columns.items()}
    found = [j for j, example in examples.items() if example is not None]
    if not found:
        return
    noun, verb = ("column", "holds") if len(found) == 1 else ("columns", "hold")
    it = "it is" if len(found) == 1 else "they are"
    leave = f"leave the {noun} out"
    if names is not None:
        quoted = [shlex.quote(str(names[j])) for j in found]
        leave += f" ({' '.join(f'--drop {name}' for name in quoted)} in the command; "
        leave += f"{' '.join(f'--category {name}' for name in quoted)} if {it} categories)"
    named = ", ".join(column_label(j, names) for j in found)
    raise ValueError(
        f"{noun} {named} of X {verb} sentences, such as {examples[found[0]]!r}, which unflip does not read; "
        "give embeddings of them as columns of numbers (in Python, TfidfVectorizer and TruncatedSVD make "
        f"some), or {leave}"
    )


def example_of_sentences(values: Any) -> str | None:
    """The beginning of a text of this column, if it holds sentences; None if not.

    >>> example_of_sentences([f"Please see my channel for {k} more videos!" for k in range(30)])
    'Please see my channel for 0 more videos!'
    >>> example_of_sentences(["Some college, no degree", "High school graduate or less"] * 30)
    >>> example_of_sentences([f"Braund, Mr. Owen Harris {k}" for k in range(30)])
    """
    if str(getattr(values, "dtype", "")).lower().startswith(BY_CHOICE):
        return None
    texts = [value for value in np.asarray(values, dtype=object) if isinstance(value, str)]
    texts = texts[:: 1 + len(texts) // LOOKED_AT]  # spread over the rows, which may be sorted
    different = len(set(texts))
    if different < FEWEST_TEXTS:
        return None
    words = sum(count_of_words(text[:LETTERS]) for text in texts) / len(texts)
    share = different / len(texts)
    long = words >= WORDS and (share > MOSTLY_DIFFERENT or different > MANY_TEXTS)
    short = words >= FEW_WORDS and MOSTLY_DIFFERENT < share < NEARLY_ALL
    if not long and not short:
        return None
    example = " ".join(texts[0].split())
    return example if len(example) <= SHOWN else example[:SHOWN].rstrip() + "…"


def count_of_words(text: str) -> float:
    """Words of a text; one with a capital counts half, for names, titles and addresses are made of these.

    Where all letters are capitals they say nothing.

    >>> count_of_words("who killed gandhi ?"), count_of_words("12 Oak Street, Springfield")
    (3.0, 1.5)
    >>> count_of_words("WHO KILLED GANDHI ?")
    3.0
    >>> count_of_words("今天天气很好"), count_of_words("550e8400-e29b-41d4-a716-446655440000")
    (1.5, 0.0)
    """
    text = text.lower() if text.isupper() else text
    first = [letter for letter in WORD.findall(text) if not UNSPACED.match(letter)]
    halves = sum(letter.isupper() for letter in first) / 2
    return len(first) - halves + len(UNSPACED.findall(text)) / LETTERS_TO_A_WORD
