"""The browser: watch a page being read, and look through what a batch wrote."""
