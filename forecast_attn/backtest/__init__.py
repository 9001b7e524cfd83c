"""Backtests: forecasts at many past cut-offs, beside the actual values and the baselines."""
