import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth import change, draw_chain, make_sheet
from synth.truth import glyph_mask


def _cross(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _inside(points, quad):
    """Which points lie in a convex quad."""
    q = np.asarray(quad)
    turn = np.sign(_cross(q[1] - q[0], q[2] - q[1]))
    sides = [turn * _cross(q[(i + 1) % 4] - q[i], points - q[i]) >= 0 for i in range(4)]
    return np.all(sides, axis=0)


def _area(quad):
    return float(cv2.contourArea(np.asarray(quad, np.float32)))


def runs_of(sheet):
    """For every run of a value: its glyph pixels in the stored page, and its glyphs' outline there.

    Both are drawn on the clean page and follow the geometry point by point; nothing here depends
    on the quads under test.
    """
    for drawing, plate in zip(sheet.drawings, sheet.pages, strict=True):
        labels = np.zeros(drawing.ink.shape, np.float32)
        runs = [r for r in drawing.runs if r.ref is not None]
        outlines = []
        for i, run in enumerate(runs, start=1):
            x0, y0, x1, y1 = (round(v * drawing.scale) for v in run.box)
            labels[y0:y1, x0:x1] = i
            ys, xs = np.nonzero(drawing.glyphs[y0:y1, x0:x1] > 127)
            corners = [
                np.column_stack([xs + x0 + dx, ys + y0 + dy]) for dx in (0, 1) for dy in (0, 1)
            ]
            hull = cv2.convexHull(np.vstack(corners).astype(np.float32))[:, 0]
            outlines.append(plate.geometry.points(hull / drawing.scale).astype(np.float32))
        x, y = plate.geometry.sources(plate.image.shape, drawing.scale)
        moved = cv2.remap(labels, x, y, cv2.INTER_NEAREST).astype(int)
        moved[~glyph_mask(drawing, plate)] = 0
        rows, columns = np.nonzero(moved)
        owner = moved[rows, columns]
        order = np.argsort(owner, kind="stable")
        cuts = np.searchsorted(owner[order], np.arange(1, len(runs) + 2))
        for i, (run, outline) in enumerate(zip(runs, outlines, strict=True)):
            mine = order[cuts[i] : cuts[i + 1]]
            yield plate, run, np.column_stack([columns[mine], rows[mine]]) + 0.5, outline


def measured(sheet):
    """(text, share of the ink in the quad, area of the quad by that of the outline) of each run.

    A box around a triangle is twice as large, and a short text may be one (4, 7, 本, リレー): up to
    three characters are compared with the smallest rectangle around their outline.
    """
    for plate, run, points, outline in runs_of(sheet):
        if len(points) == 0:
            continue
        candidates = [
            p for p in sheet.truth.prints[run.ref] if p.text == run.text and p.page == plate.number
        ]
        share, found = max(
            ((_inside(points, p.quad).mean(), p) for p in candidates), key=lambda pair: pair[0]
        )
        area = cv2.contourArea(cv2.convexHull(outline))
        if len(run.chars) <= 3:
            _, (width, height), _ = cv2.minAreaRect(outline)
            area = width * height
        yield run.text, share, _area(found.quad) / area


def check(sheet):
    for text, share, ratio in measured(sheet):
        assert share >= 0.99, text
        assert ratio <= 1.6, text
    for prints in sheet.truth.prints.values():
        for p in prints:
            assert "".join(c for c, _ in p.chars) == p.text.replace(" ", "").replace("　", "")
            for _, quad in p.chars:
                assert _inside(np.mean(quad, axis=0)[None, :], p.quad).all()


@settings(deadline=None, max_examples=4)
@given(seed=st.integers(0, 10**6), severity=st.integers(0, 5))
def test_the_ink_of_every_value_lies_in_its_quad(seed, severity):
    check(make_sheet(seed, severity=severity, lines=(3, 5)))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), severity=st.integers(0, 5), most=st.integers(3, 40))
def test_the_ink_of_every_value_lies_in_its_quad_on_many_sheets(seed, severity, most):
    check(make_sheet(seed, severity=severity, lines=(3, most)))


def test_ink_is_whole_on_a_clean_scan_and_falls_with_severity():
    means = []
    for severity in range(6):
        inks = []
        for seed in range(3):
            sheet = make_sheet(seed, severity=severity, lines=(3, 4))
            inks += [p.ink for ps in sheet.truth.prints.values() for p in ps]
        means.append(np.mean(inks))
        if severity == 0:
            assert min(inks) > 0.9995
    assert means[0] > means[3] > means[4] > means[5]
    assert means[5] < 0.95


def test_the_same_order_has_the_same_truth_at_every_severity():
    sheets = [make_sheet(11, severity=s, lines=(3, 4)) for s in (0, 2, 5)]
    assert sheets[0].truth.fields == sheets[1].truth.fields == sheets[2].truth.fields
    assert sheets[0].truth.rows == sheets[1].truth.rows == sheets[2].truth.rows
    assert sheets[0].truth.markdown == sheets[2].truth.markdown


def test_superfine_is_drawn_finer():
    chain = change(draw_chain(1, 3), "scan.dpi", (204.0, 391.0))
    sheet = make_sheet(3, chain=chain, layout="full_grid", lines=(3, 3))
    assert sheet.severity is None
    assert sheet.pages[0].image.shape[0] > 4500
    assert sheet.scale > make_sheet(3, severity=1, layout="full_grid", lines=(3, 3)).scale
    check(sheet)
