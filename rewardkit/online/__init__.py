"""Scoring during training in any trainer: rows as they arrive, the limits that stop a run, and the record.

Adapters for trainers that pass one completion at a time, and the reward server, use `RowScorer`.
"""
