"""`Forecaster` as a command loads it, with torch: garbage collection is paused while they are imported."""

from forecast_attn.memory import collection_paused, reserve_working_memory

reserve_working_memory()
with collection_paused():
    import forecast_attn.forecasting.inference  # noqa: F401 - with torch, which nearly every command needs
    from forecast_attn.forecaster import Forecaster as Forecaster
