"""Order → files: JSON record, Markdown, CSV, Excel."""
