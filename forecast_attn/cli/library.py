"""The Python face as a command loads it: without looking for garbage meanwhile, a fifteenth of the time."""

import gc

gc.disable()
try:
    from forecast_attn.forecaster import Forecaster as Forecaster
finally:
    gc.freeze()  # all that was imported stays: no later search looks at it
    gc.enable()
