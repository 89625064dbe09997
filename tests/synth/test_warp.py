import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ocr_pipeline.geometry import rotation, scaling, translation
from synth.warp import Affine, Geometry, Rows

knots = st.lists(st.floats(0.05, 3), min_size=3, max_size=12)


def geometry(degrees, steps, lost):
    before = np.arange(len(steps) + 1, dtype=float) * 5
    return Geometry(
        (
            Affine(scaling(3, 3)),
            Affine(rotation(degrees, (50, 40)) @ translation(2, -1)),
            Rows(before, np.concatenate([[0], np.cumsum(steps)])),
            Affine(scaling(1, 0.5)),
            Rows(np.array([0.0, lost, lost + 2]), np.array([0.0, lost, lost + 1])),
        )
    )


@settings(deadline=None, max_examples=50)
@given(st.floats(-5, 5), knots, st.floats(1, 20))
def test_back_undoes_forward(degrees, steps, lost):
    g = geometry(degrees, steps, lost)
    points = np.random.default_rng(0).uniform(-20, 90, (50, 2))
    np.testing.assert_allclose(g.back(g.points(points)), points, atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.floats(-5, 5), knots, st.floats(1, 20))
def test_the_raster_map_agrees_with_the_points(degrees, steps, lost):
    g = geometry(degrees, steps, lost)
    x, y = g.sources((12, 9), scale=2.0)
    for row, column in ((0, 0), (5, 8), (11, 3)):
        expected = g.back([(column + 0.5, row + 0.5)])[0] * 2 - 0.5
        np.testing.assert_allclose((x[row, column], y[row, column]), expected, rtol=1e-4, atol=1e-3)


def test_no_map_moves_nothing():
    assert Geometry().quad(((0, 0), (1, 0), (1, 1), (0, 1))) == ((0, 0), (1, 0), (1, 1), (0, 1))


def test_a_raster_map_of_parallel_maps_is_made_of_its_edges():
    x, y = Geometry((Affine(scaling(2, 4)),)).sources((3, 2))
    np.testing.assert_allclose(x[0], [-0.25, 0.25])
    np.testing.assert_allclose(y[:, 0], [-0.375, -0.125, 0.125])
