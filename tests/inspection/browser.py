"""Reports in a browser: pictures to look at, and the document that Chromium makes of them.

`python tests/inspection/browser.py OUT_DIR` writes a PNG of each page in light, in dark, and in the colours that a dark
JupyterLab sets, and says how large the HTML is.

Strategy: Chromium is started once a page, without a display and with a profile of its own that is thrown away; the
page is a fragment in an otherwise empty document, so whatever else is in the document came from the payload.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import npser

__all__ = ["HOSTILE", "PAGES", "TITLE", "document_of", "find_browser", "page_of", "take_picture"]

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TITLE: Final = "quiet"
"""The title of every page; a script that runs would change it."""

SHOUT: Final = "document.title='loud'"
MARKUP: Final = (
    f"</span></div></details><script>{SHOUT}</script>",
    f"</style><script>{SHOUT}</script><style>",
    f'"><img src=x onerror="{SHOUT}">',
    f"' onmouseover='{SHOUT}' autofocus onfocus='{SHOUT}",
    f"<svg/onload={SHOUT}><iframe srcdoc='<script>parent.{SHOUT}</script>'></iframe>",
    f"--><!--<form><button formaction=javascript:{SHOUT}>&lt;script&gt;{SHOUT}&lt;/script&gt;",
    "</title></body></html>\x00\u202e\ufeff<plaintext>",
)


def named(name: str) -> object:
    """An object of a class with any name at all."""
    name = name.replace("\x00", "")
    return type(name, (), {"__module__": name, "__qualname__": name})()


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value, "x"]
    return value


def markup() -> bytes:
    objects: dict[str, object] = {}
    for i, text in enumerate(MARKUP):
        thing = named(text)
        vars(thing)[text] = i
        objects[text] = [thing, {text * 20: [text] * 40}]
    return npser.dumps(objects)


def orders() -> bytes:
    dice = random.Random(5)
    rows = [
        {
            "id": 10_000 + i,
            "customer": f"{dice.choice(['Ada', 'Grace', 'Linus', 'Guido'])} {i % 37}",
            "price": dice.randrange(99_999) / 100,
            "tags": dice.sample(["new", "sale", "gift", "xl"], i % 3),
            "paid": i % 5 > 0,
            "note": None if i % 4 else f"note {i * i}",
        }
        for i in range(2000)
    ]
    return npser.dumps({"orders": rows, "page": 3, "next": "/orders?page=4", "scores": [dice.random() for _ in rows]})


def php_orders() -> bytes:
    """The same, as far as PHP has it."""
    return npser.dumps(npser.loads(orders()), wire="phpser")


def wide() -> bytes:
    return npser.dumps({f"key {i}": [i] * 30 if i % 2 else i for i in range(250)})


def many() -> bytes:
    return npser.dumps({f"<b>{i}</b>": i if i % 3 else [i] for i in range(1_000_000)})


PAGES: Final[dict[str, Callable[[], bytes]]] = {
    "orders": orders,
    "wide": wide,
    "damaged": lambda: orders()[:-20_000],
    "phpser": php_orders,
    "sealed": lambda: npser.Codec(key=bytes(32), compress="zlib").dumps([f"row {i % 99}" for i in range(9999)]),
}
HOSTILE: Final[dict[str, Callable[[], bytes]]] = {
    "markup": markup,
    "deep": lambda: npser.dumps(nested(511)),
    "a million columns": many,
    "foreign": lambda: b"\x80\x05<script>" + SHOUT.encode() + b"</script>",
}

THEMES: Final = {"light": 1, "dark": 0}
JUPYTER_DARK: Final = (
    ":root{--jp-content-font-color1:#fff;--jp-content-font-color2:#ccc;--jp-border-color2:#616161;--jp-layout-color2:#424242}"
    "body{background:#111}"
)


def find_browser() -> str | None:
    """The command of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def page_of(html: str, style: str = "") -> str:
    """A document that has nothing but the fragment."""
    dark = "@media(prefers-color-scheme:dark){body{background:#111}}"
    return f'<!doctype html><meta charset="utf-8"><title>{TITLE}</title><style>{dark}{style}</style><body>{html}</body>'


def _run(html: str, *arguments: str) -> str:
    browser = find_browser()
    assert browser is not None, "no Chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder, "page.html")
        page.write_text(html, encoding="utf-8", errors="replace")
        alone = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [browser, "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile", *alone]
        done = subprocess.run(
            [*command, *arguments, page.as_uri()], capture_output=True, text=True, check=True, timeout=60, encoding="utf-8"
        )
    return done.stdout


def document_of(html: str) -> str:
    """The document as it is when all that could run has run."""
    return _run(html, "--virtual-time-budget=2000", "--dump-dom")


def take_picture(html: str, target: Path, theme: str, height: int = 900) -> None:
    """A PNG of the page, as a reader who prefers light or dark sees it."""
    _run(
        html,
        f"--blink-settings=preferredColorScheme={THEMES[theme]}",
        f"--window-size=1000,{height}",
        f"--screenshot={target}",
    )


def main(arguments: list[str]) -> int:
    """Write the pictures; 1 if there is no browser."""
    parser = argparse.ArgumentParser(description="Draw reports in Chromium, in light and in dark.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", nargs="*", choices=[*PAGES, *HOSTILE], default=[*PAGES, *HOSTILE])
    wanted = parser.parse_args(arguments)
    if find_browser() is None:
        print(f"none of {', '.join(NAMES)} is installed", file=sys.stderr)
        return 1
    wanted.folder.mkdir(parents=True, exist_ok=True)
    for name in wanted.pages:
        data = (PAGES | HOSTILE)[name]()
        html = npser.inspect(data)._repr_html_()
        file = name.replace(" ", "-")
        for theme in THEMES:
            take_picture(page_of(html), wanted.folder / f"{file}-{theme}.png", theme)
        print(f"{name}: {len(data):,} bytes, HTML {len(html.encode('utf-8', 'replace')):,} bytes")
        if name == "orders":
            take_picture(page_of(html, JUPYTER_DARK), wanted.folder / f"{file}-jupyter-dark.png", "light")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
