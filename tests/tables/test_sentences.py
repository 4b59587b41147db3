"""Which columns are sentences: texts written by hand, and columns that only look long."""

import os
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from unflip import RobustClassifierCV
from unflip.audit import estimate_noise, find_suspects
from unflip.features import Tabular
from unflip.tables.sentences import example_of_sentences

THINGS = ["kettle", "lamp", "chair", "radio", "bicycle", "mirror", "carpet", "camera", "garden", "river"]
LIKED = ["fast", "broken", "cheap", "heavy", "lovely", "noisy", "green", "useless", "warm", "small"]
PAIRS = [(thing, how) for thing in THINGS for how in LIKED]
NAMES = ["Anna", "Bob", "Carla", "Dmitri", "Eva", "Farid", "Grace", "Hiro", "Ines", "Jan"]
TEXTS = [f"I bought the {thing} last week and it is rather {how}." for thing, how in PAIRS]

SENTENCES = {
    "reviews": TEXTS,
    "questions": [f"why is a {how} {thing} better than no {thing}?" for thing, how in PAIRS],
    "headlines": [
        f"Why The {how.title()} {thing.title()} Is On Sale In All Shops Of Town" for thing, how in PAIRS
    ],
    "German": [f"Das Paket kam nach {n} Tagen an und der Inhalt war leider kaputt." for n in range(100)],
    "Hindi": [f"यह फिल्म बहुत अच्छी है और मुझे {n} बार देखनी है" for n in range(100)],
    "Chinese": [f"这部电影真的非常好看,我看了{n}遍还是觉得很感动,推荐大家都去看一看" for n in range(100)],
    "repeated": 2
    * [f"{text} Would I buy it again, all in all?" for text in TEXTS + [t.upper() for t in TEXTS]],
    "capitals": [text.upper() for text in TEXTS],
    "labelled by three people": 3
    * [f"please bring back my {how} {thing} soon" for thing, how in PAIRS + PAIRS[:1]]
    + [f"please bring back my {how} {thing} at once" for thing, how in PAIRS],
    "short reviews": [f"this {thing} is so {how}" for thing, how in PAIRS[:70] + PAIRS[:30]],
    "with gaps": [text if n % 3 else None for n, text in enumerate(TEXTS)],
}
OTHERS = {
    "long categories": ["Some college, no degree", "Not in universe or children, or too young to work"] * 50,
    "a questionnaire": [
        f"of all that could be ticked in this long list, number {n % 19}" for n in range(100)
    ],
    "names": [f"{a}, Mrs. {b} ({a} {b} van der Berg)" for a in NAMES for b in NAMES],
    "names without capitals": [f"{a} {b} de la cruz".lower() for a in NAMES for b in NAMES],
    "addresses": [
        f"{n} Mill Street, Apt. {n % 7}, Springfield, IL {60000 + n}, United States" for n in range(100)
    ],
    "addresses without capitals": [f"{n} mill street, springfield, illinois {n}" for n in range(100)],
    "Chinese addresses": [f"广东省深圳市南山区高新南一道{n}号" for n in range(100)],
    "links": [
        f"https://example.org/how-to-use/the-{how}-{thing}?page={n}" for n, (thing, how) in enumerate(PAIRS)
    ],
    "e-mail": [f"{thing}.{how}@example.org" for thing, how in PAIRS],
    "paths": [f"C:\\Program Files\\{thing}\\my {how} files\\{n}.txt" for n, (thing, how) in enumerate(PAIRS)],
    "codes": [f"AB-{n:04d} rev {n % 7} lot x{n}" for n in range(100)],
    "UUIDs": [str(uuid.UUID(int=n * 7**40 % 2**128)) for n in range(100)],
    "job titles": [f"{how} {thing} supervisor" for thing, how in PAIRS[:70] + PAIRS[:30]],
    "products": [
        f"{how.title()} {thing.title()} of Oak, {n} cm x {n} cm" for n, (thing, how) in enumerate(PAIRS)
    ],
    "products without capitals": [f"{how} {thing} with usb cable" for thing, how in PAIRS],
    "dates": [f"Monday, the {n % 28 + 1}th of January {1900 + n}, {n % 12} pm" for n in range(100)],
    "short answers": [f"not sure: {how} {thing}?" for thing, how in PAIRS],
    "moves": [" ".join(f"{'abcdefgh'[(n + k) % 8]}{k % 8 + 1}" for k in range(30)) for n in range(100)],
    "pixels": [" ".join(str(n * k) for k in range(60)) for n in range(100)],
    "genes": ["acgt" * n for n in range(1, 100)],
    "few texts": TEXTS[:19] * 5,
}


def as_types(texts):
    yield np.array(texts, dtype=object)
    yield pd.Series(texts)
    yield pd.Series(texts, dtype="string")
    yield pl.Series(texts)


@pytest.mark.parametrize("kind", SENTENCES)
def test_sentences_are_seen(kind):
    for values in as_types(SENTENCES[kind]):
        assert example_of_sentences(values)


@pytest.mark.parametrize("kind", OTHERS)
def test_other_text_is_not_taken_for_sentences(kind):
    for values in as_types(OTHERS[kind]):
        assert example_of_sentences(values) is None


def test_what_somebody_has_made_a_category_is_one():
    for values in (pd.Series(TEXTS, dtype="category"), pl.Series(TEXTS, dtype=pl.Categorical)):
        assert example_of_sentences(values) is None
    assert example_of_sentences(pl.Series(TEXTS, dtype=pl.Enum(TEXTS))) is None


def test_numbers_and_dates_are_no_sentences():
    for values in (np.arange(100.0), np.arange(100).astype("datetime64[D]"), [[1, 2]] * 100, [None] * 100):
        assert example_of_sentences(values) is None


LABELS = np.arange(100) % 2
SIZES = np.random.default_rng(0).normal(size=100)
ASKED = {
    "Tabular": lambda X: Tabular().fit(X),
    "lenient": lambda X: Tabular.of_files().fit(X),
    "RobustClassifierCV": lambda X: RobustClassifierCV().fit(X, LABELS),
    "estimate_noise": lambda X: estimate_noise(X, LABELS),
    "find_suspects": lambda X: find_suspects(X, LABELS),
}


@pytest.mark.parametrize("asked", ASKED)
def test_one_column_of_sentences_beside_good_columns_is_refused_by_name(asked):
    frame = pd.DataFrame({"size": SIZES, "what they said": TEXTS, "kind": ["a", "b"] * 50})
    said = (
        r"^column 'what they said' of X holds sentences, such as 'I bought the kettle last week and it is…'"
        r", which unflip does not read; give embeddings .* TfidfVectorizer and TruncatedSVD .*, or leave "
        r"the column out \(--drop 'what they said' in the command; --category 'what they said' if it is "
        r"categories\)$"
    )
    for X in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=said):
            ASKED[asked](X)


def test_all_columns_of_sentences_are_named_at_once():
    frame = pd.DataFrame({"q": SENTENCES["questions"], "size": SIZES, "a": TEXTS})
    with pytest.raises(
        ValueError,
        match=r"columns 'q', 'a' of X hold sentences.*--drop q --drop a in the command; --category q ",
    ):
        Tabular().fit(frame)
    with pytest.raises(ValueError, match=r"columns 0, 2 of X hold sentences.*leave the columns out$"):
        Tabular().fit(frame.to_numpy())


def test_a_frame_of_names_only_says_that_they_were_left_out():
    with pytest.raises(ValueError, match="'name' is left out because nearly every row has"):
        Tabular(lenient=True).fit(pd.DataFrame({"name": OTHERS["names"]}))


@pytest.mark.parametrize(
    ("file", "columns"),
    [
        ("davidson_hate", ["text"]),
        ("imdb_errors", ["text"]),
        ("rte_crowd", ["text", "hypothesis"]),
        ("trec_weak", ["text"]),
        ("youtube_weak", ["text"]),
    ],
)
def test_real_texts_are_seen(file, columns):
    if "UNFLIP_REAL_LABELS" not in os.environ:
        pytest.skip("UNFLIP_REAL_LABELS names no folder with tables of real labels")
    frame = pd.read_csv(Path(os.environ["UNFLIP_REAL_LABELS"]) / f"{file}.csv.gz")
    assert [name for name in frame if example_of_sentences(frame[name])] == columns
