"""`forecast serve`: forecasts over HTTP, with the numbers of `forecast predict`."""
