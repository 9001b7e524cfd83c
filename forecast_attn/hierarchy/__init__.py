"""Forecasts of series that are sums of each other, made to add up."""
