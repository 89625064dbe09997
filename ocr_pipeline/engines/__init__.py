"""Page → Reading: the models that look at a page."""
