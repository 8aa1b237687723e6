"""Edit logs: both notations, batches, resuming, and lines that are no edits."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from oemviews.documents.edit_log import EditLog, LogBatch
from oemviews.documents.edit_text import BadEdit, Commit, edit_of
from oemviews.edits import Change, Delete, Edit, Insert, Name, New, Unname
from oemviews.errors import BadInput, EditError

INS = '{"op": "ins", "src": 10, "label": "Ingredient", "dst": 15}'
DEL = "<Del,&9,Ingredient,&15>"
COMMIT = '{"op": "commit"}'


def log_of(folder: Path, *lines: str, end: str = "\n", name: str = "log.jsonl") -> EditLog:
    path = folder / name
    path.write_bytes(("\n".join(lines) + end).encode())
    return EditLog(path, name)


def edits_of(batch: LogBatch) -> list[Edit]:
    return [edit for _, edit in batch.edits]


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        (INS, Insert(10, "Ingredient", 15)),
        ('{"op": "del", "src": 9, "label": "Ingredient", "dst": 15}', Delete(9, "Ingredient", 15)),
        ('{"op": "chg", "oid": 5, "new": "Hunan Wok"}', Change(5, "Hunan Wok")),
        ('{"op": "chg", "oid": 5, "new": null, "old": 1.0}', Change(5, None, 1.0)),
        (json.dumps({"op": "chg", "oid": 5, "new": 2**70}), Change(5, 2**70)),
        ('{"op": "new", "oid": "soup"}', New("soup")),
        ('{"op": "new", "oid": "n1", "value": "Lentil Soup"}', New("n1", "Lentil Soup")),
        ('{"op": "new", "oid": "n1", "value": null}', New("n1", None)),
        ('{"op": "ins", "src": 3, "label": "", "dst": "soup"}', Insert(3, "", "soup")),
        ('{"op": "name", "name": "Guide", "oid": 1}', Name("Guide", 1)),
        ('{"op": "unname", "name": "Old"}', Unname("Old")),
        ("<Ins,&10,Ingredient,&15>", Insert(10, "Ingredient", 15)),
        ("  <ins, &10, Ingredient , &15>  ", Insert(10, "Ingredient", 15)),
        ('<Ins,&10,"a, \\"b\\"",&15>', Insert(10, 'a, "b"', 15)),
        ("<Ins,&10,a,b,&15>", Insert(10, "a,b", 15)),
        (DEL, Delete(9, "Ingredient", 15)),
        ('<Chg,&5,"Thai City","Hunan Wok">', Change(5, "Hunan Wok", "Thai City")),
        ('<Chg,&5,"a > b, c",20.0>', Change(5, 20.0, "a > b, c")),
        (COMMIT, Commit()),
    ],
)
def test_a_line_is_an_edit(text: str, edit: Edit | Commit) -> None:
    assert edit_of(text) == edit


@pytest.mark.parametrize(
    ("text", "found", "wanted"),
    [
        ('{"op": "ins", "src": 10,', "the end of the line at column 25", "an edit in JSON"),
        ("hello", "'hello' at column 1", "an edit in JSON"),
        ("[1]", "'[1]'", "an edit such as"),
        ('{"op": "add"}', "the op 'add'", "one of ins, del"),
        ('{"src": 1}', "no op", "one of ins, del"),
        ('{"op": ["ins"]}', "the op ['ins']", "one of ins, del"),
        ('{"op": "ins", "src": 1, "label": "a"}', "'ins' without 'dst'", "the keys op, src, label, dst"),
        ('{"op": "chg", "oid": 1, "new": 2, "was": 1}', "the key 'was' in 'chg'", "op, oid, new, old"),
        ('{"op": "unname", "name": "a", "name": "b"}', "the key 'name' a second time", "an edit in JSON"),
        ('{"op": "ins", "src": true, "label": "a", "dst": 1}', "src 'true'", "an oid"),
        ('{"op": "ins", "src": 1, "label": 2, "dst": 1}', "label '2'", "a string"),
        ('{"op": "ins", "src": 1, "label": "\\ud800", "dst": 1}', "half a surrogate pair, U+D800", "whole"),
        ('{"op": "chg", "oid": 1, "new": [1]}', "the value '[1]'", "an atomic value"),
        ('{"op": "chg", "oid": 1, "new": NaN}', "NaN, which is not JSON", "an edit in JSON"),
        ('{"op": "chg", "oid": 1, "new": 1e999}', "a number beyond the range", "a finite number"),
        ("<Ins,&10,&15>", "'<Ins,&10,&15>'", "<Ins,&10,Label,&15>"),
        ("<Chg,&5,Thai,Hunan>", "'Thai,Hunan>'", "a string in double quotes"),
        ('<Chg,&5,"a">', "'>' after the old value", "the new value"),
        ('<Chg,&5,"a","b"', "the end of the line after the new value", "'>'"),
    ],
)
def test_a_line_that_is_no_edit_says_why(text: str, found: str, wanted: str) -> None:
    with pytest.raises(BadEdit) as caught:
        edit_of(text)
    assert found in caught.value.args[0]
    assert wanted in caught.value.args[1]


def test_without_commit_the_whole_log_is_one_batch(tmp_path: Path) -> None:
    (batch,) = log_of(tmp_path, INS, "", DEL).batches()
    assert [(str(place), type(edit)) for place, edit in batch.edits] == [
        ("log.jsonl, line 1", Insert),
        ("log.jsonl, line 3", Delete),
    ]
    assert (batch.first_line, batch.last_line) == (1, 3)


def test_commit_lines_end_batches_even_empty_ones(tmp_path: Path) -> None:
    log = log_of(tmp_path, INS, DEL, COMMIT, COMMIT, INS)
    assert [(len(b.edits), b.first_line, b.last_line) for b in log.batches()] == [
        (2, 1, 3),
        (0, 4, 4),
        (1, 5, 5),
    ]
    assert [len(b.edits) for b in log.batches(size=1)] == [2, 0, 1], "commit lines rule"


def test_batches_of_a_size(tmp_path: Path) -> None:
    log = log_of(tmp_path, INS, DEL, INS, INS, DEL)
    assert [(len(b.edits), b.last_line) for b in log.batches(size=2)] == [(2, 2), (2, 4), (1, 5)]


def test_an_empty_log_has_no_batch(tmp_path: Path) -> None:
    assert list(log_of(tmp_path, "", "").batches()) == []


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_logs_are_the_same_logs(tmp_path: Path, suffix: str) -> None:
    plain = log_of(tmp_path, INS, DEL)
    pack = gzip.compress if suffix == "gz" else zstandard.ZstdCompressor().compress
    packed = tmp_path / f"log.jsonl.{suffix}"
    packed.write_bytes(pack(plain.path.read_bytes()))
    assert list(EditLog(packed, plain.name).batches()) == list(plain.batches())
    packed.write_bytes(packed.read_bytes()[:-5])
    with pytest.raises(BadInput, match="a whole compressed file"):
        list(EditLog.of(packed).batches())


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_log_from_a_pipe(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    log = EditLog.of_stream(io.BytesIO(pack(f"{INS}\n{DEL}".encode())), tmp_path)
    (batch,) = log.batches()
    assert [str(place) for place, _ in batch.edits] == ["-, line 1", "-, line 2"]
    del log
    assert list(tmp_path.iterdir()) == [], "what was kept is gone with the log"


# ---- resuming ----


def recorded(log: EditLog, size: int | None = None) -> list[tuple[int, str]]:
    return [(batch.last_line, batch.hash) for batch in log.batches(size)]


def test_a_rerun_has_nothing_left(tmp_path: Path) -> None:
    log = log_of(tmp_path, INS, COMMIT, DEL, COMMIT, "")
    lines = log.resume(recorded(log))
    assert lines == 4
    assert list(log.batches(after=lines)) == []


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_grown_log_resumes_whatever_ended_its_last_line(tmp_path: Path, end: str) -> None:
    before = recorded(log_of(tmp_path, INS, COMMIT, DEL, end=end))
    grown = log_of(tmp_path, INS, COMMIT, DEL, INS)
    assert grown.resume(before) == 3
    (batch,) = grown.batches(after=3)
    assert (edits_of(batch), batch.first_line, batch.last_line) == ([Insert(10, "Ingredient", 15)], 4, 4)


def test_a_mended_log_resumes_before_the_mended_batch(tmp_path: Path) -> None:
    broken = log_of(tmp_path, INS, COMMIT, "<Del,&9,")
    reading = broken.batches()
    first = next(reading)
    with pytest.raises(EditError, match=r"log.jsonl, line 3: found '<Del,&9,', wanted"):
        next(reading)
    mended = log_of(tmp_path, INS, COMMIT, DEL)
    assert mended.resume([(first.last_line, first.hash)]) == 2


def test_another_log_starts_at_its_beginning(tmp_path: Path) -> None:
    before = recorded(log_of(tmp_path, INS, COMMIT, DEL))
    assert log_of(tmp_path, DEL, COMMIT, DEL).resume(before) == 0
    assert log_of(tmp_path, INS).resume(before) == 0, "a shorter log does not begin with a longer one"


LINES = st.lists(st.sampled_from([INS, DEL, COMMIT, ""]), max_size=12)


@given(st.data(), LINES, st.sampled_from([None, 1, 2, 3]))
def test_resuming_anywhere_gives_the_rest(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, lines: list[str], size: int | None
) -> None:
    log = log_of(tmp_path_factory.mktemp("log"), *lines)
    whole = list(log.batches(size))
    done = data.draw(st.integers(0, len(whole)))
    after = log.resume((b.last_line, b.hash) for b in whole[:done])
    assert list(log.batches(size, after=after)) == whole[done:]


# ---- faults ----


def test_a_log_cut_off_in_a_line_refuses_only_that_batch(tmp_path: Path) -> None:
    log = log_of(tmp_path, INS, DEL, INS[:20], end="")
    reading = log.batches(size=2)
    assert len(next(reading).edits) == 2
    with pytest.raises(
        EditError, match=r"(?s)line 3: found .* wanted an edit in JSON.*cut off in the middle"
    ):
        next(reading)


def test_wrong_encoding_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        f"{INS}\n".encode() + json.dumps({"op": "new", "oid": "é"}, ensure_ascii=False).encode("latin-1")
    )
    with pytest.raises(EditError, match="line 2: found the byte 0xe9, which is not UTF-8"):
        list(EditLog.of(path).batches())


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    assert len(next(log_of(tmp_path, "\ufeff" + INS).batches()).edits) == 1


def test_a_missing_log(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        list(EditLog.of(tmp_path / "none.jsonl").batches())
