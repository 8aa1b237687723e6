"""Answers: from a canonical query to cells, in order, as tables, JSON, Arrow or OEM text."""
