"""`unflip export`: a model for places without Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unflip.cli.options import Delimiter, Quiet, model_of_sums, table_like, writable
from unflip.cli.refusal import Refusal, refusing
from unflip.cli.say import give, tell
from unflip.cli.show import privacy_in_words

if TYPE_CHECKING:
    from unflip.export import Agreement


def export(
    model: Annotated[Path, typer.Argument(help="A model that `unflip fit` wrote.")],
    onnx: Annotated[Path | None, typer.Option(help="Write an ONNX graph here (.onnx).")] = None,
    sql: Annotated[
        str | None, typer.Option(help="Write what to SELECT, scores and class, here; - for stdout.")
    ] = None,
    dialect: Annotated[str, typer.Option(help="Of the SQL: duckdb, postgres, spark, ...")] = "duckdb",
    json: Annotated[str | None, typer.Option(help="Write weights by column here; - for stdout.")] = None,
    check: Annotated[
        str | None, typer.Option(help="Compare on the rows of this file; on made-up rows if not given.")
    ] = None,
    delimiter: Delimiter = None,
    quiet: Quiet = False,
) -> None:
    """Write a model as ONNX, SQL or JSON, once it has been seen to say the same as the model.

    SQL is tried on DuckDB, whatever its dialect.
    """
    if onnx is None and sql is None and json is None:
        raise Refusal("say what to write: --onnx FILE, --sql FILE or --json FILE, or several of them")
    if sql == "-" and json == "-":
        raise Refusal("only one of --sql and --json can go to stdout")
    for path, ending in ((onnx, ".onnx"), (sql, ".sql"), (json, ".json")):
        if path is not None and path != "-":
            writable(Path(path), (ending,), f"--{ending[1:]}", inputs=(model, check))
    with refusing():
        from json import dumps

        from unflip import export as exports

        known = model_of_sums(model)
        if check is None:
            frame, rows = exports.made_up_rows(known), "made-up rows"
        else:
            frame, rows = table_like(check, known, labels=False, delimiter=delimiter), f"rows of {check}"
        said: list[tuple[str, bytes, Agreement]] = []  # all are made and checked before any is written
        if onnx is not None:
            graph = exports.onnx_model(known)
            said.append((str(onnx), graph, exports.check_onnx(known, graph, frame)))
        if sql is not None:
            listed = f"-- {known.learner} classifier of {known.target!r}: SELECT this FROM your table\n"
            listed += "" if known.privacy is None else f"-- {privacy_in_words(known.privacy)}\n"
            listed += exports.select_list(known, dialect) + "\n"
            said.append((sql, listed.encode(), exports.check_sql(known, frame)))
        if json is not None:
            facts = exports.as_json(known)
            text = dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
            said.append((json, text.encode(), exports.check_json(known, facts, frame)))
        for path, content, _ in said:
            _write(path, content)
    if not quiet:
        for path, _, agreement in said:
            tell(_sentence(path, agreement, rows), err="-" in (sql, json))


def _write(path: str, content: bytes) -> None:
    from unflip._atomic import write_atomically

    if path == "-":
        give(content)
        return

    def write(file: Any) -> None:
        file.write(content)

    write_atomically(path, write)


def _sentence(path: str, agreement: Agreement, rows: str) -> str:
    """
    >>> from unflip.export import Agreement
    >>> _sentence("model.onnx", Agreement(150, 2.2e-16, 0), "made-up rows")
    'model.onnx: scores of 150 made-up rows differ by at most 2.2e-16 from the model, classes are equal'
    """
    name = "stdout" if path == "-" else path
    ties = f" but for {agreement.ties} ties" if agreement.ties else ""
    return (
        f"{name}: scores of {agreement.rows} {rows} differ by at most {agreement.difference:.2g} from the "
        f"model, classes are equal{ties}"
    )
