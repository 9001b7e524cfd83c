"""The values of the next trial: a function of the seed, the trial's turn, and the trials before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

TURN = "turn"
"""Attribute of a trial that is begun again: the turn of the one that was cut short."""


def turn_of(study: Study, trial: FrozenTrial) -> int:
    """Return the number that a trial would have if none had been cut short."""
    if TURN in trial.user_attrs:
        return int(trial.user_attrs[TURN])
    trials = study.get_trials(deepcopy=False)
    return trial.number - sum(TURN in each.user_attrs for each in trials if each.number < trial.number)


class SampledByTurn(BaseSampler):
    """Tree-structured Parzen estimators (Bergstra et al. 2011), seeded anew for every trial.

    Optuna's own sampler begins its random numbers again in every process: one that goes on with a study, or joins it,
    would draw what the first one drew.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._sampler = TPESampler(seed=seed)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Seed the sampler for a trial."""
        (state,) = np.random.SeedSequence((self.seed, turn_of(study, trial))).generate_state(1)
        self._sampler = TPESampler(seed=int(state))
        self._sampler.before_trial(study, trial)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the options that are drawn together."""
        return self._sampler.infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Draw options together."""
        return self._sampler.sample_relative(study, trial, search_space)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draw one option by itself."""
        return self._sampler.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Any) -> None:
        """Note the end of a trial."""
        self._sampler.after_trial(study, trial, state, values)
