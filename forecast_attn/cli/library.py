"""The Python face as a command loads it."""

from forecast_attn.garbage import held_back

with held_back():
    from forecast_attn.forecaster import Forecaster as Forecaster
