from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ocr_pipeline.geometry import (
    box_along,
    box_of,
    identity,
    quad_of_box,
    rotation,
    scaling,
    slice_quad,
    transform,
    translation,
    union,
)

coordinate = st.floats(-3000, 3000)
angle = st.one_of(st.sampled_from([0.0, 90.0, 180.0, 270.0]), st.floats(-360, 360))
fraction = st.floats(0, 1)


@st.composite
def boxes(draw):
    left, top = draw(coordinate), draw(coordinate)
    return left, top, left + draw(st.floats(1, 900)), top + draw(st.floats(1, 300))


@st.composite
def affines(draw):
    """Turned, sheared, stretched and shifted: whatever lies between upright and stored pixels."""
    shear = identity()
    shear[0, 1] = draw(st.floats(-0.5, 0.5))
    factor = st.floats(0.25, 4)
    stretch = scaling(draw(factor), draw(factor))
    return translation(draw(coordinate), draw(coordinate)) @ rotation(draw(angle)) @ shear @ stretch


def close(expected, tolerance=1e-6):
    return pytest.approx(np.asarray(expected, dtype=float), abs=tolerance)


def near(quad, expected, tolerance=1e-6):
    return np.asarray(quad) == close(expected, tolerance)


def holds(quad, point, slack=1e-6):
    """Whether a convex quad, clockwise on screen, holds a point."""
    corners = np.asarray(quad)
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.maximum(np.linalg.norm(edges, axis=1), 1e-12)
    to_point = np.asarray(point) - corners
    signed = (edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0]) / lengths
    return bool((signed >= -slack).all())


class TestMatrices:
    def test_rotation_turns_x_towards_y(self):
        x_axis = ((1.0, 0.0),) * 4
        assert near(transform(x_axis, rotation(90)), [(0, 1)] * 4)

    @given(degrees=angle, x=coordinate, y=coordinate)
    def test_the_centre_of_a_rotation_stays(self, degrees, x, y):
        assert near(transform(((x, y),) * 4, rotation(degrees, (x, y))), [(x, y)] * 4)

    def test_scaling_and_translation(self):
        quad = quad_of_box((1, 2, 3, 5))
        assert transform(quad, scaling(2, 0.5)) == quad_of_box((2, 1, 6, 2.5))
        assert transform(quad, translation(10, -2)) == quad_of_box((11, 0, 13, 3))

    def test_identity_moves_nothing(self):
        quad = quad_of_box((1, 2, 3, 5))
        assert transform(quad, identity()) == quad


class TestTransform:
    @settings(deadline=None)
    @given(box=boxes(), matrix=affines())
    def test_the_inverse_brings_a_quad_back(self, box, matrix):
        quad = quad_of_box(box)
        assert near(transform(transform(quad, matrix), np.linalg.inv(matrix)), quad, 1e-4)

    @given(box=boxes(), first=affines(), second=affines())
    def test_one_after_the_other_is_their_product(self, box, first, second):
        quad = quad_of_box(box)
        in_steps = transform(transform(quad, first), second)
        assert near(transform(quad, second @ first), in_steps, 1e-4)

    def test_a_perspective_divides(self):
        matrix = identity()
        matrix[2, 0] = 0.001
        assert transform(quad_of_box((0, 0, 1000, 10)), matrix)[1] == pytest.approx((500.0, 0.0))

    def test_plain_floats_come_back(self):
        assert all(
            type(v) is float for p in transform(quad_of_box((0, 0, 1, 1)), identity()) for v in p
        )


class TestBoxes:
    @given(box=boxes())
    def test_the_box_of_a_box_is_itself(self, box):
        assert box_of(quad_of_box(box)) == box

    @given(points=st.lists(st.tuples(coordinate, coordinate), min_size=1))
    def test_a_box_is_tight(self, points):
        left, top, right, bottom = box_of(points)
        assert {left, right} <= {x for x, _ in points}
        assert {top, bottom} <= {y for _, y in points}
        assert all(left <= x <= right and top <= y <= bottom for x, y in points)

    def test_points_may_come_from_a_generator(self):
        assert box_of((float(i), float(-i)) for i in range(3)) == (0, -2, 2, 0)

    def test_no_points_have_no_box(self):
        with pytest.raises(ValueError, match="at least one point"):
            box_of([])


class TestSliceQuad:
    @given(box=boxes(), matrix=affines())
    def test_the_whole_is_the_quad(self, box, matrix):
        quad = transform(quad_of_box(box), matrix)
        assert near(slice_quad(quad, 0, 1), quad)

    @given(box=boxes(), matrix=affines(), at=fraction)
    def test_two_parts_abut(self, box, matrix, at):
        quad = transform(quad_of_box(box), matrix)
        first, second = slice_quad(quad, 0, at), slice_quad(quad, at, 1)
        assert first[0] == quad[0]
        assert first[3] == quad[3]
        assert near((first[1], first[2]), (second[0], second[3]))

    @given(box=boxes(), matrix=affines(), start=fraction, end=fraction)
    def test_a_part_moves_with_the_whole(self, box, matrix, start, end):
        quad = quad_of_box(box)
        moved = slice_quad(transform(quad, matrix), start, end)
        assert near(transform(slice_quad(quad, start, end), matrix), moved, 1e-4)

    def test_the_direction_is_that_of_the_text(self):
        upside_down = transform(quad_of_box((0, 0, 100, 20)), rotation(180, (50, 10)))
        assert box_of(slice_quad(upside_down, 0, 0.25)) == pytest.approx((75, 0, 100, 20))


class TestUnion:
    def test_of_nothing_is_nothing(self):
        assert union([]) is None

    def test_of_one_is_itself(self):
        skewed = transform(quad_of_box((0, 0, 10, 5)), rotation(3))
        assert union([skewed]) is skewed

    def test_of_boxes_is_their_box(self):
        assert union([quad_of_box((0, 0, 10, 5)), quad_of_box((20, 1, 30, 8))]) == pytest.approx(
            np.asarray(quad_of_box((0, 0, 30, 8)))
        )

    @settings(deadline=None, max_examples=60)
    @given(parts=st.lists(boxes(), min_size=2, max_size=6), degrees=angle, noise=st.floats(-2, 2))
    def test_it_holds_every_part(self, parts, degrees, noise):
        turns = [degrees + noise * (-1) ** i for i in range(len(parts))]
        quads = [transform(quad_of_box(b), rotation(t)) for b, t in zip(parts, turns, strict=True)]
        whole = union(quads)
        assert all(holds(whole, p, 1e-4) for q in quads for p in q)

    @settings(deadline=None, max_examples=60)
    @given(
        parts=st.lists(boxes(), min_size=2, max_size=6),
        degrees=angle,
        x=coordinate,
        y=coordinate,
    )
    def test_it_turns_with_its_parts(self, parts, degrees, x, y):
        motion = translation(x, y) @ rotation(degrees)
        quads = [quad_of_box(b) for b in parts]
        expected = transform(quad_of_box(box_of(p for q in quads for p in q)), motion)
        assert near(union([transform(q, motion) for q in quads]), expected, 1e-4)

    def test_the_longest_part_gives_the_direction(self):
        line = transform(quad_of_box((0, 0, 400, 20)), rotation(5))
        comma = quad_of_box((395, 50, 399, 58))
        for quads in ([line, comma], [comma, line]):
            tl, tr, *_ = np.asarray(union(quads))
            assert np.degrees(np.arctan2(*(tr - tl)[::-1])) == pytest.approx(5)

    def test_points_without_extent_have_a_union_too(self):
        assert box_of(union([((1.0, 2.0),) * 4, ((5.0, 4.0),) * 4])) == pytest.approx((1, 2, 5, 4))


class TestBoxAlong:
    @settings(deadline=None)
    @given(box=boxes(), frame=boxes(), degrees=angle)
    def test_a_turned_page_reads_like_an_upright_one(self, box, frame, degrees):
        turn = rotation(degrees)
        quad, seen_from = (transform(quad_of_box(b), turn) for b in (box, frame))
        assert box_along(quad, seen_from) == pytest.approx(box, abs=1e-4)

    @pytest.mark.parametrize("degrees", [0, 90, 180, 270])
    @pytest.mark.parametrize("skew", [-4.0, 0.0, 2.5])
    @settings(deadline=None, max_examples=15)
    @given(scale=st.sampled_from([(1.0, 1.0), (1.0, 0.5), (0.5, 1.0)]), x=coordinate, y=coordinate)
    def test_right_of_and_below_mean_what_a_reader_means(self, degrees, skew, scale, x, y):
        label, beside, under = (10, 10, 90, 40), (120, 10, 300, 40), (10, 60, 200, 90)
        stored = translation(x, y) @ scaling(*scale) @ rotation(degrees + skew)
        frame = transform(quad_of_box((0, 0, 1700, 2300)), stored)
        a, b, c = (
            box_along(transform(quad_of_box(q), stored), frame) for q in (label, beside, under)
        )
        assert b[0] > a[2]
        assert b[1] == pytest.approx(a[1], abs=1e-4)
        assert b[3] == pytest.approx(a[3], abs=1e-4)
        assert c[1] > a[3]
        assert c[0] == pytest.approx(a[0], abs=1e-4)

    def test_pixels_keep_their_stored_size(self):
        stored = rotation(90) @ scaling(1.0, 0.5)
        frame = transform(quad_of_box((0, 0, 1000, 1000)), stored)
        left, top, right, bottom = box_along(transform(quad_of_box((0, 0, 80, 40)), stored), frame)
        assert (right - left, bottom - top) == pytest.approx((80, 20))

    @example(frame=quad_of_box((7, 7, 7, 7)))
    @given(frame=st.builds(lambda x, y: ((x, y),) * 4, coordinate, coordinate))
    def test_a_frame_without_extent_leaves_the_axes_of_the_page(self, frame):
        assert box_along(quad_of_box((1, 2, 30, 8)), frame) == pytest.approx((1, 2, 30, 8))
