"""`Forecaster` as a command loads it: with garbage collection paused while it is imported."""

from forecast_attn.memory import collection_paused

with collection_paused():
    from forecast_attn.forecaster import Forecaster as Forecaster
