"""Steps that were not observed, and categories, all the way through the network."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from forecast_attn.nn.inputs import CategoryEmbedding, last_observed, observed_deviation, observed_mean
from forecast_attn.nn.window_normalisation import SMALLEST_SCALE, WindowNormalisation

from .small_networks import EVERY_ATTENTION, EVERY_MECHANISM, SIZES, Batch, make_batch, make_network

WITH_HOLES = replace(SIZES, may_have_holes=True)
WITH_CATEGORIES = replace(SIZES, past_codes=(4, 3), future_codes=(6,), static_codes=(2, 9))


@pytest.mark.slow
@EVERY_MECHANISM
@pytest.mark.parametrize("decoding", ["direct", "autoregressive"])
def test_what_was_not_observed_cannot_matter(name: str, decoding: str) -> None:
    """The unobserved target may be anything: window arrays put 0 there, and nothing may depend on that."""
    network, batch = make_network(name, WITH_HOLES, decoding=decoding), make_batch(WITH_HOLES)
    other = torch.where(batch.past_observed, batch.past_target, torch.randn_like(batch.past_target) * 1e6)
    torch.testing.assert_close(
        network(batch._replace(past_target=other)).prediction, network(batch).prediction, rtol=0, atol=0
    )


@EVERY_ATTENTION
@pytest.mark.parametrize("normaliser", ["softmax", "sparsemax", "entmax15"])
@pytest.mark.slow
def test_unobserved_steps_have_no_weight(name: str, normaliser: str) -> None:
    batch = make_batch(WITH_HOLES)
    weights = make_network(name, WITH_HOLES, normaliser=normaliser)(batch).weights
    assert (weights[~batch.past_observed[:, None, None].expand_as(weights)] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


@EVERY_ATTENTION
def test_declining_the_weights_changes_no_forecast_with_holes(name: str) -> None:
    network, batch = make_network(name, WITH_HOLES), make_batch(WITH_HOLES)
    without = network(batch, need_weights=False).prediction
    torch.testing.assert_close(without, network(batch).prediction, rtol=0, atol=1e-9)


@EVERY_MECHANISM
def test_whether_a_step_was_observed_is_an_input(name: str) -> None:
    """A value that was observed to be the level of its window is another thing than no value."""
    network, batch = make_network(name, WITH_HOLES), make_batch(WITH_HOLES)
    all_seen = batch._replace(past_observed=torch.ones_like(batch.past_observed))
    assert not torch.allclose(network(all_seen).prediction, network(batch).prediction)


@pytest.mark.parametrize("kind", ["none", "standard", "last-season"])
def test_normalisation_knows_observed_values_only(kind: str) -> None:
    values = torch.randn(20, 12, dtype=torch.float64) * 5 + 3
    observed = torch.rand(20, 12) < 0.5
    observed[0], observed[1] = False, False
    observed[1, 2] = True  # none in the last season
    scale = WindowNormalisation(kind, 4)(values, observed)
    for row in range(20):
        seen = values[row][observed[row]].numpy()
        recent = values[row, -4:][observed[row, -4:]].numpy()
        level = recent.mean() if kind == "last-season" and len(recent) else seen.mean() if len(seen) else 0.0
        expected = (0.0, 1.0) if kind == "none" else (level, max(seen.std() if len(seen) else 0.0, SMALLEST_SCALE))
        np.testing.assert_allclose([scale.loc[row, 0].item(), scale.scale[row, 0].item()], expected, rtol=1e-12)


def test_statistics_of_fully_observed_values_are_the_plain_ones() -> None:
    values, everywhere = torch.randn(5, 9, dtype=torch.float64), torch.ones(5, 9, dtype=torch.bool)
    for function in (observed_mean, observed_deviation, last_observed):
        torch.testing.assert_close(function(values, everywhere), function(values, None))


def test_the_last_observed_value() -> None:
    values = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    observed = torch.tensor([[True, True, False], [True, False, False], [False, False, True]])
    assert last_observed(values, observed).tolist() == [2.0, 4.0, 9.0]


@EVERY_MECHANISM
def test_categories_are_covariates_once_embedded(name: str) -> None:
    """A network with tables is the same network over covariates that hold the tables' rows."""
    network, batch = make_network(name, WITH_CATEGORIES), make_batch(WITH_CATEGORIES)
    past_only, shared, per_series = (
        [table.weight.detach() for table in embedding.tables]
        for embedding in (network.embeddings.past_only, network.embeddings.shared, network.embeddings.per_series)
    )

    def looked_up(tables: list[torch.Tensor], codes: torch.Tensor) -> list[torch.Tensor]:
        return [table[codes[..., column]] for column, table in enumerate(tables)]

    plain_batch = Batch(
        past_target=batch.past_target,
        past_covariates=torch.cat([batch.past_covariates, *looked_up(past_only + shared, batch.past_categories)], -1),
        future_covariates=torch.cat([batch.future_covariates, *looked_up(shared, batch.future_categories)], -1),
        static_covariates=torch.cat([batch.static_covariates, *looked_up(per_series, batch.static_categories)], -1),
        future_target=batch.future_target,
        past_observed=None,
        past_categories=batch.past_categories[..., :0],
        future_categories=batch.future_categories[..., :0],
        static_categories=batch.static_categories[..., :0],
    )
    plain = make_network(
        name,
        replace(
            SIZES,
            num_past_inputs=plain_batch.past_covariates.shape[-1],
            num_future_inputs=plain_batch.future_covariates.shape[-1],
            num_static=plain_batch.static_covariates.shape[-1],
        ),
    )
    without_tables = {key: value for key, value in network.state_dict().items() if not key.startswith("embeddings.")}
    plain.load_state_dict(without_tables)
    torch.testing.assert_close(plain(plain_batch).prediction, network(batch).prediction, rtol=0, atol=0)


@pytest.mark.slow
@EVERY_MECHANISM
@pytest.mark.parametrize("field", ["past_categories", "future_categories", "static_categories"])
def test_every_category_counts(name: str, field: str) -> None:
    network, batch = make_network(name, WITH_CATEGORIES), make_batch(WITH_CATEGORIES)
    codes = getattr(batch, field)
    before = network(batch._replace(**{field: torch.ones_like(codes)})).prediction
    for column in range(codes.shape[-1]):
        changed = torch.ones_like(codes)
        changed[..., column] = 0
        after = network(batch._replace(**{field: changed})).prediction
        assert ((after - before).abs() > 1e-9).any(dim=1).all()


def test_the_unknown_category_is_zero_and_stays_it() -> None:
    embedding = CategoryEmbedding((5, 3))
    vectors = embedding(torch.zeros(2, 7, 0), torch.zeros(2, 7, 2, dtype=torch.int64))
    assert vectors.shape == (2, 7, embedding.size)
    assert (vectors == 0).all()
    embedding(torch.zeros(4, 0), torch.tensor([[0, 1], [4, 2], [0, 0], [1, 0]])).sum().backward()
    assert all((table.weight.grad[0] == 0).all() for table in embedding.tables)


@pytest.mark.parametrize(("codes", "size"), [(2, 1), (3, 1), (8, 4), (400, 16)])
def test_vectors_are_half_as_wide_as_their_column_has_categories(codes: int, size: int) -> None:
    assert CategoryEmbedding((codes,)).size == size
