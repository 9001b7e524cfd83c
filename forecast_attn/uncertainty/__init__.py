"""From what a head says of a step to levels in the target's units, and their calibration."""
