"""Published protocols, run with what a user has: `Forecaster`, its options, and a table. See docs/accuracy.md."""
