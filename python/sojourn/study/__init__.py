"""Studies: papers reproduced, their published values beside our own."""
