"""Writes cellular.csv: 60 s of a cellular link after the model of Sprout.

Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks",
NSDI 2013, section 3.1: the rate of a link does a Brownian motion of 200 packets of 1500 bytes a second per square root of a
second, between 0 and 1000 packets a second. At 0 it is in an outage, which ends at a rate of 1 a second.

    python cellular-trace.py > cellular.csv
"""

import math
import random

SIGMA, OUTAGE_ESCAPE_RATE, MAXIMUM = 200.0, 1.0, 1000.0
PACKET_BITS = 1500 * 8
STEP, DURATION = 0.1, 60.0

draws = random.Random(2013)
rate = MAXIMUM / 2
print("time_s,rate_mbit_s")
for step in range(round(DURATION / STEP) + 1):
    print(f"{step * STEP:.1f},{rate * PACKET_BITS / 1e6:.3f}")
    stays_in_outage = rate == 0 and draws.random() < math.exp(-OUTAGE_ESCAPE_RATE * STEP)
    moved = rate + draws.gauss(0, SIGMA * math.sqrt(STEP))
    if rate == 0:
        moved = abs(moved)
    rate = 0.0 if stays_in_outage else min(max(moved, 0.0), MAXIMUM)
