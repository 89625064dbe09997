"""Watching a model denoise, in the terminal."""
