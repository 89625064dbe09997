"""Typefaces, and the guard that refuses one that would draw an empty box."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from fontTools.ttLib import TTFont
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from ocr_pipeline.errors import MissingExtraError, UsageError

_PACKAGED = (
    ("noto-gothic", "gothic", "pylopdf_fonts_jp", "NotoSansJP-Regular.otf"),
    ("noto-mincho", "mincho", "pylopdf_fonts_jp", "NotoSerifJP-Regular.otf"),
    ("ipaex-gothic", "gothic", "matplotlib_fontja", "fonts/ipaexg.ttf"),
)
_MINCHO = ("mincho", "serif", "明朝", "ming")


@dataclass(frozen=True, slots=True)
class Face:
    """One typeface.

    Attributes:
        name: how it is asked for.
        style: `gothic` or `mincho`.
        path: the font file.
        index: the face within a collection.
    """

    name: str
    style: str
    path: str
    index: int = 0

    def missing(self, text: str) -> str:
        """The characters of `text` that this face cannot draw: none mapped, or an empty outline."""
        have = _cmap(self.path, self.index)
        return "".join(
            c
            for c in sorted(set(text))
            if not c.isspace() and (ord(c) not in have or glyph(self, 32, c).ink.size == 0)
        )


@dataclass(frozen=True, eq=False, slots=True)
class Glyph:
    """A drawn character.

    Attributes:
        ink: h×w uint8, 255 is full ink; empty for a space.
        left: pixels from the pen position to the left of `ink`.
        top: pixels from the baseline to the top of `ink`, negative is above.
        advance: pixels to the next pen position.
        tight: (left, top, right, bottom) within `ink` of what is more than a faint edge.
    """

    ink: NDArray[np.uint8]
    left: int
    top: int
    advance: float
    tight: tuple[int, int, int, int] = (0, 0, 0, 0)


@cache
def _cmap(path: str, index: int) -> frozenset[int]:
    with TTFont(path, lazy=True, fontNumber=index) as font:
        return frozenset(font.getBestCmap() or {})


@lru_cache(maxsize=64)
def _font(path: str, index: int, pixels: int) -> ImageFont.FreeTypeFont:
    # The basic layout engine: raqm is not in every build, and would kern.
    return ImageFont.truetype(path, pixels, index=index, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=20000)
def glyph(face: Face, pixels: int, char: str, bold: int = 0) -> Glyph:
    """Draw one character `pixels` high; `bold` widens every stroke by that many pixels."""
    font = _font(face.path, face.index, pixels)
    advance = float(font.getlength(char))
    left, top, right, bottom = font.getbbox(char, anchor="ls", stroke_width=bold / 2)
    size = (int(right - left) + 4, int(bottom - top) + 4)
    image = Image.new("L", size, 0)
    pen = ImageDraw.Draw(image)
    pen.text((2 - left, 2 - top), char, font=font, fill=255, anchor="ls", stroke_width=bold / 2)
    box = image.getbbox()
    if box is None:
        return Glyph(np.empty((0, 0), np.uint8), 0, 0, advance)
    ink = np.asarray(image.crop(box))
    solid = image.crop(box).point(lambda v: 255 if v > 96 else 0).getbbox()
    tight = solid or (0, 0, ink.shape[1], ink.shape[0])
    return Glyph(ink, int(left) - 2 + box[0], int(top) - 2 + box[1], advance, tight)


@cache
def packaged() -> tuple[Face, ...]:
    """The faces that come with pip packages: the same bytes on every machine.

    Raises:
        MissingExtraError: the `synth` extra is not installed.
    """
    try:
        return tuple(Face(n, style, str(files(p) / f)) for n, style, p, f in _PACKAGED)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"the fonts of {error.name} are missing", extra="synth") from error


@cache
def installed() -> tuple[Face, ...]:
    """Japanese faces that fontconfig knows, sorted by path; none without fontconfig."""
    if shutil.which("fc-list") is None:
        return ()
    listing = subprocess.run(
        ["fc-list", ":lang=ja", "--format=%{file}\t%{index}\t%{family}\t%{style}\n"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    faces = []
    for line in sorted(set(listing.splitlines())):
        path, index, family, style = line.split("\t")
        # A collection of all East Asian forms matches ja with every face; only JP draws them so.
        foreign = "CJK" in family and "JP" not in family
        if (
            not foreign
            and "," not in index
            and "bold" not in style.lower()
            and int(index) < 0x10000
        ):
            serif = any(w in family.lower() for w in _MINCHO)
            name = f"{Path(path).stem.lower()}-{index}"
            faces.append(Face(name, "mincho" if serif else "gothic", path, int(index)))
    return tuple(faces)


def faces(pool: str = "packaged") -> tuple[Face, ...]:
    """The faces of a pool: `packaged`, or `any` for those of the system as well.

    Raises:
        UsageError: no such pool.
    """
    if pool == "packaged":
        return packaged()
    if pool == "any":
        return packaged() + installed()
    raise UsageError(f"no pool of fonts is called {pool!r}", remedy="use packaged or any")


def able(candidates: tuple[Face, ...], text: str) -> tuple[Face, ...]:
    """The faces that can draw all of `text`.

    Raises:
        UsageError: none can; the message names the characters.
    """
    good = tuple(f for f in candidates if not f.missing(text))
    if not good:
        lacks = ", ".join(f"{f.name}: {f.missing(text)}" for f in candidates[:3])
        raise UsageError(
            f"no font has every character ({lacks or 'no fonts at all'})",
            remedy="install a Japanese font, or use --fonts any",
        )
    return good
