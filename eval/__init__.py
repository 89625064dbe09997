"""Per-field accuracy over repeated runs, and how often a field is wrong without a flag."""
