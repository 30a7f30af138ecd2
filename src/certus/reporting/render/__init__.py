"""One content as HTML, Markdown and JSON."""
