"""Pictures of groups and of two files: what is drawn is the numbers of the inspection."""

import numpy as np
import pytest

from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.differences import compare_attention
from forecast_attn.inspection.side_by_side import MOST_TILES, draw_comparison, draw_groups

pytest.importorskip("matplotlib")


def profiles_of(axes):
    """The outlines of an axes: that of the group, and that of all windows."""
    return [patch.get_data().values for patch in axes.patches]


def test_a_tile_is_the_profile_of_its_group_before_that_of_all(make_dump):
    inspection = inspect_attention(make_dump(items=("a", "b", "c")), by="item")
    shown = [axes for axes in draw_groups(inspection).axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == ["a", "b", "c"]
    for axes, group in zip(shown, inspection.groups, strict=True):
        profiles, mean = profiles_of(axes)
        np.testing.assert_array_equal(profiles, group.profile)
        np.testing.assert_array_equal(mean, inspection.profile)
        assert f"unlike {group.distance:.2f}" == axes.get_title(loc="right")
        edges = axes.patches[0].get_data().edges
        assert (edges[0], edges[-1]) == (167.5, -0.5)


@pytest.mark.slow
def test_of_very_many_groups_the_most_unlike_are_drawn(make_dump):
    names = tuple(f"series {number:02}" for number in range(MOST_TILES + 6))
    inspection = inspect_attention(make_dump(items=names, windows=1, horizon=2, lookback=48), by="item")
    figure = draw_groups(inspection)
    drawn = {axes.get_title(loc="left") for axes in figure.axes if axes.get_visible()}
    unlike = sorted(inspection.groups, key=lambda group: -group.distance)[:MOST_TILES]
    assert drawn == {group.name for group in unlike}
    assert f"the {MOST_TILES} of {len(names)} most unlike" in " ".join(text.get_text() for text in figure.texts)


def test_a_comparison_draws_both_in_one_scale_and_the_distances(make_dump):
    first, second = (make_dump(windows=2, horizon=6, lookback=lookback) for lookback in (48, 48))
    compared = compare_attention(first, second.select(step=None), names=("one", "two"))
    figure = draw_comparison(compared)
    panels = {axes.get_label(): axes for axes in figure.axes}
    images = [panels[f"weights {sign}"].images[0] for sign in "AB"]
    for image, inspection in zip(images, compared.inspections, strict=True):
        np.testing.assert_array_equal(image.get_array(), inspection.mean_weights)
    highest = max(inspection.mean_weights.max() for inspection in compared.inspections)
    assert [image.norm.vmax for image in images] == [highest, highest]
    bars = [bar.get_width() for bar in panels["distances"].patches]
    assert bars == [step.distance for step in compared.steps]
    assert compared.sentence.split(":")[0] in " ".join(text.get_text() for text in figure.texts)
