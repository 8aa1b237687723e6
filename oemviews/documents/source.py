"""Files as bytes and as text, with the place of every character.

Reading is bounded: a source hands out blocks, a window holds the few of them that a parser looks at.
Whatever is wrong with a document is said by `refusal`: file, line, column, found, wanted, what to do.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import zstandard

from oemviews.errors import DocumentError

BLOCK: Final = 1 << 22
"""Bytes read at a time, and the text that a parser tries to see as a whole."""

LONGEST: Final = 1 << 28
"""Characters in one string or number; a longer one is refused, for it must be held in memory."""

_COMPRESSED_BLOCK: Final = 1 << 16
_SHOWN: Final = 40
_MAGIC: Final = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
_BOMS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def refusal(
    path: Path, place: tuple[int, int] | None, found: str, wanted: str, hint: str = ""
) -> DocumentError:
    """
    >>> print(refusal(Path("a.json"), (3, 7), "'}'", "a value"))
    a.json, line 3, column 7: found '}', wanted a value
    """
    where = f"{path}" if place is None else f"{path}, line {place[0]}, column {place[1]}"
    text = f"{where}: found {found}, wanted {wanted}"
    return DocumentError(f"{text}\nhint: {hint}" if hint else text)


def shown(text: str) -> str:
    """`text` for a message: quoted, on one line, cut to a few words.

    >>> shown("tru]\\n")
    "'tru]'"
    """
    line = text.split("\n", 1)[0]
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + "…") if line else "the end of the line"


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or the bytes of it from `start` to `end`, a range that begins and ends at line ends.

    `line` is the number that the first line has in messages.
    """

    path: Path
    start: int = 0
    end: int | None = None
    line: int = 1


class Source:
    """The bytes of a piece, decompressed, block after block."""

    def __init__(self, piece: Piece, seen: Callable[[int], None] | None = None) -> None:
        self.path, self.line = piece.path, piece.line
        self.begins = piece.start == 0
        self._seen = seen
        self._left = None if piece.end is None else piece.end - piece.start
        try:
            self._raw = piece.path.open("rb")
            self._raw.seek(piece.start)  # a pipe cannot
        except OSError as error:
            raise _unreadable(piece.path, error) from error
        self._told = piece.start
        whole = self.begins and piece.end is None
        packed = compression(self._raw.peek(4)) if whole else ""
        self._file = _decompressed(self._raw, packed or piece.path.suffix.lower())

    def read(self, size: int = BLOCK) -> bytes:
        """The next block; empty at the end."""
        if self._left is not None:
            size = min(size, self._left)
        try:
            block = self._file.read(size) if size else b""
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            wanted = "a whole compressed file" if self._file is not self._raw else "a readable file"
            raise refusal(self.path, None, f"{error}", wanted) from error
        if self._left is not None:
            self._left -= len(block)
        if self._seen is not None:
            told = self._raw.tell()
            self._seen(told - self._told)
            self._told = told
        return block

    def close(self) -> None:
        self._file.close()
        self._raw.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unreadable(path: Path, error: OSError) -> DocumentError:
    if isinstance(error, FileNotFoundError):
        return refusal(path, None, "no such file", "a document", "check the path")
    return refusal(path, None, error.strerror or str(error), "a file that can be read")


def compression(head: bytes) -> str:
    """The suffix that goes with how a file begins, whatever it is called; "" if it is not compressed.

    >>> compression(gzip.compress(b"{}")), compression(b"{}")
    ('.gz', '')
    """
    return next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")


def _decompressed(raw: IO[bytes], suffix: str) -> IO[bytes]:
    match suffix:
        case ".gz":
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        case ".zst":
            return io.BufferedReader(_Zstandard(raw))
        case _:
            return raw


class _Zstandard(io.RawIOBase):
    """Frame after frame of a file; the package's own reader takes a frame that is cut off for a whole one."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._fed, self._text = b"", b""
        self._inside = True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._text:
            fed = self._fed or self._raw.read(_COMPRESSED_BLOCK)
            if not fed:
                if self._inside:
                    raise EOFError("the end of the file in the middle of compressed data")
                return 0
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
            self._text = self._frame.decompress(fed)
            self._fed, self._inside = self._frame.unused_data, not self._frame.eof
        size = min(len(buffer), len(self._text))
        buffer[:size], self._text = self._text[:size], self._text[size:]
        return size


class Window:
    """The part of a text that a parser looks at; `at` is the next character.

    `more` forgets what was read and fetches text; the lines and columns of what was forgotten are
    counted, so `place` is right for every index of `text`.
    """

    def __init__(self, source: Source) -> None:
        self.path, self._source = source.path, source
        self.text, self.at, self.ended = "", 0, False
        self._line, self._column = source.line, 1
        self._decoder = codecs.getincrementaldecoder("utf-8-sig" if source.begins else "utf-8")()
        self._first = True

    def more(self) -> bool:
        """Fetch text, at least doubling what is unread; False if there is none."""
        if self.ended:
            return False
        unread = len(self.text) - self.at
        if unread > LONGEST:
            hint = "split the document, or keep such data beside it and load its address"
            raise self.refusal(
                self.at, "a single value this long", f"one of at most {LONGEST:,} characters", hint
            )
        block = self._source.read(max(BLOCK, unread))
        self._forget()
        if self._first and block[:2] in _BOMS:
            raise refusal(self.path, (1, 1), "UTF-16 text", "UTF-8", "convert it: iconv -f UTF-16 -t UTF-8")
        self._first = False
        held = self._decoder.getstate()[0]
        try:
            self.text += self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            raise self._undecodable(error, held) from error
        self.ended = not block
        return bool(block)

    def _forget(self) -> None:
        self._line, self._column = self.place(self.at)
        self.text, self.at = self.text[self.at :], 0

    def _undecodable(self, error: UnicodeDecodeError, held: bytes) -> DocumentError:
        data = error.object
        self.text += data[: error.start].decode("utf-8", "replace")
        found = f"the byte 0x{data[error.start]:02x}, which is not UTF-8"
        return self.refusal(len(self.text), found, "text in UTF-8", "convert it: iconv -f ENCODING -t UTF-8")

    def place(self, index: int) -> tuple[int, int]:
        """Line and column of a character of `text`, both counted from 1."""
        newlines = self.text.count("\n", 0, index)
        if not newlines:
            return self._line, self._column + index
        return self._line + newlines, index - self.text.rindex("\n", 0, index)

    def refusal(self, index: int, found: str, wanted: str, hint: str = "") -> DocumentError:
        return refusal(self.path, self.place(index), found, wanted, hint)

    def found(self, index: int) -> str:
        """What stands at an index, for a message."""
        rest = self.text[index : index + _SHOWN + 1]
        return shown(rest) if rest or not self.ended else "the end of the file"
