"""Charts as SVG text: scales, ticks, and a canvas that keeps labels inside.

Colours, widths and dashes are classes of the page's style sheet, so that dark mode and print apply.
"""
