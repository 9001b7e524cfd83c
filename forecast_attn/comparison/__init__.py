"""Several attention mechanisms, each trained with several seeds on the same windows, and who forecasts best."""
