"""Draws heat.npy, the plate that heat.mlir cools down: python3 make_heat.py (needs numpy and nothing else).

150 x 200 temperatures from 0 to 1 as float32: the letters of symm, discs, a ring and a wedge, hot on a cold plate
whose lower edge is heated.
"""

from pathlib import Path

import numpy as np

HEIGHT, WIDTH = 150, 200
LETTERS = {
    "s": ["01111", "10000", "10000", "01110", "00001", "00001", "11110"],
    "y": ["10001", "10001", "10001", "01010", "00100", "01000", "10000"],
    "m": ["11011", "10101", "10101", "10101", "10001", "10001", "10001"],
}
PIXEL = 6

plate = np.full((HEIGHT, WIDTH), 0.05, dtype=np.float32)
plate[-1, :] = np.sin(np.linspace(0.0, np.pi, WIDTH)) ** 2
y, x = np.mgrid[0:HEIGHT, 0:WIDTH]

left = 20
for letter in "symm":
    for row, line in enumerate(LETTERS[letter]):
        for column, bit in enumerate(line):
            if bit == "1":
                top, start = 30 + PIXEL * row, left + PIXEL * column
                plate[top : top + PIXEL, start : start + PIXEL] = 1.0
    left += PIXEL * 7

for middle_y, middle_x, radius, heat in [(110, 30, 16, 0.9), (118, 72, 10, 0.7), (98, 92, 6, 1.0)]:
    plate[(y - middle_y) ** 2 + (x - middle_x) ** 2 <= radius**2] = heat
distance = np.hypot(y - 112, x - 128)
plate[(distance >= 14) & (distance <= 19)] = 0.8
plate[(y >= 92) & (y <= 132) & (x >= 160) & (x - 160 <= (y - 92) * 0.7)] = 0.6

np.save(Path(__file__).with_name("heat.npy"), plate)
