"""Pictures of forecasts: the forecast beside its series, the error by step, the reliability of the quantiles."""
