"""Builds the page to try Lehr in a browser: target/try/index.html, with the engine in it, and the census beside it.

Usage: try_page.py

It needs Node.js, and the standard library of Rust for `wasm32-unknown-unknown` (`rustup target add`, which it does itself). The page is one file: it works from
a folder that a server sends, and from a disk. The engine is compiled twice: with the multiply-add that keeps the bits of other machines, and without it for
browsers that lack it.
"""

import base64
import gzip
import hashlib
import lzma
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MADE = ROOT / "target" / "try"
TARGET = "wasm32-unknown-unknown"
FEATURES = ["+simd128,+relaxed-simd", "+simd128"]
SAMPLES = {"penguins": "datasets/penguins/penguins.csv", "wine": "datasets/wine/wine.csv"}
CENSUS = "datasets/census/blocks_nv_ut_wv_2020.csv.gz"
#: The maximum size of the page in bytes, with both engines, as a server sends it, compressed by gzip. The aim is 900,000.
PAGE_MAX = 1_000_000
#: The filter that packs the engines best; web/src/try/lzma.ts unpacks them.
FILTERS = [{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 24, "lc": 4, "lp": 0, "pb": 0}]


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, **options)


def engine(features):
    """Builds the engine for a set of instructions."""
    # Each engine has its own folder. Otherwise cargo would compile everything again for the other one.
    folder = ROOT / "target" / ("wasm" + re.sub(r"\W", "", features))
    flags = f"-Ctarget-feature={features}"
    run("cargo", "build", "--quiet", "--profile", "web", "--target", TARGET, "-p", "lehr-web-engine", cwd=ROOT,
        env={**os.environ, "CARGO_TARGET_DIR": str(folder), "RUSTFLAGS": flags})
    return (folder / TARGET / "web" / "lehr_web_engine.wasm").read_bytes()


def hash_of(script):
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def policy(script):
    """Returns the content security policy: the page may run its own script, the engine and the script of reports, and load files beside it."""
    report = (ROOT / "web" / "dist" / "report.sha256").read_text().strip()
    return "; ".join([
        "default-src 'none'", f"script-src '{hash_of(script)}' 'sha256-{report}' 'wasm-unsafe-eval'", "worker-src blob: data:", "style-src 'unsafe-inline'",
        "img-src data: blob:", "frame-src 'self'", "connect-src 'self'", "form-action 'none'", "base-uri 'none'",
    ])


def tag(name, content, attributes=""):
    """Returns packed bytes as an element of the page."""
    return f'<script type="text/plain" id="{name}"{attributes}>{base64.b64encode(content).decode()}</script>\n'


def page(parts, engines, samples):
    """Returns the whole page as text."""
    script, style = (parts / "try.js").read_text(), (parts / "try.css").read_text()
    assert "</script" not in script.lower(), "the script would end itself"
    # Both engines are in one stream, since the second is mostly a copy of the first.
    packed = lzma.compress(b"".join(engines), format=lzma.FORMAT_ALONE, filters=FILTERS)
    data = tag("engines", packed, f' data-lengths="{" ".join(str(len(engine)) for engine in engines)}"')
    data += "".join(tag(name, gzip.compress((ROOT / path).read_bytes(), 9, mtime=0)) for name, path in samples.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>Lehr: find groups in a table, in your browser</title>\n'
        f"<style>{style}</style>\n</head>\n<body>\n<div id=\"app\"></div>\n<noscript>This page needs JavaScript.</noscript>\n{data}"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def main():
    if shutil.which("rustup"):
        run("rustup", "--quiet", "target", "add", TARGET)
    run("npm", "ci", "--silent", "--no-audit", "--no-fund", cwd=ROOT / "web")
    run("npx", "vite", "build", "--config", "vite.try.config.ts", "--logLevel", "warn", cwd=ROOT / "web")
    text = page(MADE / "parts", [engine(features) for features in FEATURES], SAMPLES)
    (MADE / "index.html").write_text(text, encoding="utf-8")
    shutil.copyfile(ROOT / CENSUS, MADE / "census.csv.gz")
    size = len(gzip.compress(text.encode(), 9))
    print(f"try: {MADE.relative_to(ROOT)}/index.html: {size:,} bytes compressed, both engines included")
    if size > PAGE_MAX:
        print(f"try: the limit is {PAGE_MAX:,} bytes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
