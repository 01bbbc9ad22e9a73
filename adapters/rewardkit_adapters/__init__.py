"""Trainers and other libraries: each adapter imports its library only when it is used."""
