"""Builds the page to try Lehr in a browser: target/try/index.html, with the engine in it, and the census beside it.

Usage: try_page.py

It needs Node.js, and the standard library of Rust for `wasm32-unknown-unknown` (`rustup target add`, which it does itself). The page is one file: it works from
a folder that a server sends, and from a disk. The engine is compiled twice: with the multiply-add that keeps the bits of other machines, and without it for
browsers that lack it.
"""

import base64
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MADE = ROOT / "target" / "try"
TARGET = "wasm32-unknown-unknown"
FEATURES = {"engine": "+simd128,+relaxed-simd", "engine-plain": "+simd128"}
SAMPLES = {"penguins": "datasets/penguins/penguins.csv", "wine": "datasets/wine/wine.csv"}
CENSUS = "datasets/census/blocks_nv_ut_wv_2020.csv.gz"
#: Bytes of the page as a server sends it, compressed: without the engine for browsers that lack an instruction. The aim is 900,000.
PAGE_MAX = 1_150_000


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, **options)


def engine(features):
    """The engine for a set of instructions, compressed."""
    # Each has a folder of its own: cargo would compile everything again for the other.
    folder = ROOT / "target" / ("wasm" + re.sub(r"\W", "", features))
    flags = f"-Ctarget-feature={features}"
    run("cargo", "build", "--quiet", "--profile", "web", "--target", TARGET, "-p", "lehr-web-engine", cwd=ROOT,
        env={**os.environ, "CARGO_TARGET_DIR": str(folder), "RUSTFLAGS": flags})
    wasm = (folder / TARGET / "web" / "lehr_web_engine.wasm").read_bytes()
    return gzip.compress(wasm, 9, mtime=0)


def hash_of(script):
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def policy(script):
    """What the page may do: run its own script, the engine and the script of reports; load what is beside it."""
    report = (ROOT / "web" / "dist" / "report.sha256").read_text().strip()
    return "; ".join([
        "default-src 'none'", f"script-src '{hash_of(script)}' 'sha256-{report}' 'wasm-unsafe-eval'", "worker-src blob: data:", "style-src 'unsafe-inline'",
        "img-src data: blob:", "frame-src 'self'", "connect-src 'self'", "form-action 'none'", "base-uri 'none'",
    ])


def page(parts, engines, samples):
    """The whole page as text."""
    script, style = (parts / "try.js").read_text(), (parts / "try.css").read_text()
    assert "</script" not in script.lower(), "the script would end itself"
    packed = {name: base64.b64encode(content).decode() for name, content in {**engines, **samples}.items()}
    data = "".join(f'<script type="text/plain" id="{name}">{text}</script>\n' for name, text in packed.items())
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
    engines = {name: engine(features) for name, features in FEATURES.items()}
    samples = {name: gzip.compress((ROOT / path).read_bytes(), 9, mtime=0) for name, path in SAMPLES.items()}
    text = page(MADE / "parts", engines, samples)
    (MADE / "index.html").write_text(text, encoding="utf-8")
    shutil.copyfile(ROOT / CENSUS, MADE / "census.csv.gz")
    rest = len(gzip.compress(text.encode(), 9)) - len(engines["engine-plain"])
    print(f"try: {MADE.relative_to(ROOT)}/index.html: {rest:,} bytes compressed, and {len(engines['engine-plain']):,} for browsers without fused multiply-adds")
    if rest > PAGE_MAX:
        print(f"try: the limit is {PAGE_MAX:,} bytes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
