"""A report's content as HTML, Markdown and JSON. No renderer computes a result.

    ReportContent ─► tables, charts ─► html.render, markdown.render
                  └► as_json.render

Every rendering is a function of the content alone: the same content gives the same bytes.
"""
