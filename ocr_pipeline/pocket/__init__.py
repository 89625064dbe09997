"""A miniature DiffusionGemma: the same classes, the same loading code, a few million parameters."""
