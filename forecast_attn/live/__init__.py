"""`forecast ui`: the runs of a folder in a browser, as they train."""
