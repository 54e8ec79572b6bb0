"""Studies: papers reproduced, their published figures beside our own."""
