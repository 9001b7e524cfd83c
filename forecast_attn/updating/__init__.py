"""`forecast update`: a run continued on new rows."""
