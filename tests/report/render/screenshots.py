"""Pictures of the page for the README, from the report on the demo's red wines.

    certus report --demo --out DIR && python -m tests.report.render.screenshots DIR/report.html

writes docs/figures/report.png (light) and report-dark.png, each at most 300 kB.
"""

import sys
from pathlib import Path

from tests.house.source import REPOSITORY
from tests.report.render.browser import launched, opened

FIGURES = REPOSITORY / "docs" / "figures"
HEIGHT = 1120  # pixels: the answer, and the models that were compared
MAX_BYTES = 300_000


def main(page: Path) -> None:
    with launched() as browser:
        for scheme, name in (("light", "report.png"), ("dark", "report-dark.png")):
            with opened(browser, page, scheme=scheme) as found:
                found.page.set_viewport_size({"width": 1280, "height": HEIGHT})
                picture = FIGURES / name
                found.page.screenshot(path=str(picture))
                size = picture.stat().st_size
                assert size <= MAX_BYTES, f"{name} has {size:,} bytes"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
