"""Errors as a notebook shows them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True, repr=False)
class Fault:
    """An error of a statement, with its caret."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """
        >>> Fault("no <x>")._repr_html_()
        '<pre style="color: #b00">no &lt;x&gt;</pre>'
        """
        return f'<pre style="color: #b00">{escape(self.text)}</pre>'
