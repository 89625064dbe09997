"""Reading → Transcript: text lines and tables."""
