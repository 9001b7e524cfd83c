"""A run as one file for other runtimes: raw values in, forecasts, quantiles and attention weights out."""
