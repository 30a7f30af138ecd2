"""The report: from a table to a page that answers whether its target can be predicted.

    table ─► plan ─► procedure (outer folds score the whole choice) ─► sections ─► content ─► pages

``content/`` holds the frozen dataclasses of everything that a page shows. HTML, Markdown and JSON
are three renderings of one ``ReportContent``; no renderer computes a number.
"""
