"""Strategies for the values of a configuration: anything that YAML can hold."""

from __future__ import annotations

from hypothesis import strategies as st

# YAML cannot hold lone surrogates, and no one writes them.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
