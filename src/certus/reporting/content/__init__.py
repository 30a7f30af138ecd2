"""Everything that a report shows, as frozen dataclasses of plain values.

A section computes its numbers and its sentences; ``render/`` lays them out as HTML, Markdown and
JSON. Numbers are unrounded here, and no value of a cell is held unless ``show_rows`` was requested.
"""
