"""`Forecaster` as a command loads it: without a search for garbage among everything that is imported."""

from forecast_attn.garbage import held_back

with held_back():
    from forecast_attn.forecaster import Forecaster as Forecaster
