"""Transcript → Order: typed fields, and which of them to trust."""
