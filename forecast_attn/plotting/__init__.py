"""Pictures of forecasts: forecasts with their series, the error by step, the calibration of quantiles."""
