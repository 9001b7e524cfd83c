"""Training: a panel and the options in, a run directory out. The only package that imports Lightning."""
