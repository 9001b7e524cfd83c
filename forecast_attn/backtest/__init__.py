"""What a model would have forecast at many past cut-offs, beside what came and beside the baselines."""
