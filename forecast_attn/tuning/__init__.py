"""`forecast tune`: a search for the options that forecast a table best."""
