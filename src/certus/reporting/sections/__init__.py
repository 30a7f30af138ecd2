"""One module a section: from prepared rows and the procedure's result to the section's content."""
