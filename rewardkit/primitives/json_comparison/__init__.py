"""The engine of ``rk.json_match``: the leaves of a document, the pairing of items, and the credit of an answer."""
