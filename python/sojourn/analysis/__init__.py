"""What sums up and judges results: the frames of runs, means over seeds, comparisons, and what is noted of runs."""
