"""Line charts over the sizes of messages, as SVG: sizes and times are logarithmic, rates are not."""

import math
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 500, 70, 210, 40, 50
COLOURS = ("#185abc", "#d65414", "#34903f", "#7e57c2", "#c48c00", "#008c9e", "#a03c3c", "#606060")
UNITS = ("B", "KiB", "MiB", "GiB")


def size_text(nbytes):
    """Bytes in the largest unit that they are a multiple of: 64 KiB."""
    unit = min(len(UNITS) - 1, int(math.log2(max(nbytes, 1)) // 10))
    value = nbytes / 1024**unit
    return f"{value:.0f} {UNITS[unit]}" if value == int(value) else f"{value:.1f} {UNITS[unit]}"


class Scale:
    """Places of values on a logarithmic axis, between two ends in pixels."""

    def __init__(self, values, first, last):
        self.low, self.high = math.log(min(values)), math.log(max(values))
        if self.high - self.low < 0.1:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.first, self.last = first, last

    def __call__(self, value):
        part = (math.log(value) - self.low) / (self.high - self.low)
        return round(self.first + part * (self.last - self.first), 1)

    def ticks(self, base):
        """The powers of a base on the axis."""
        first, last = (end / math.log(base) for end in (self.low, self.high))
        return [base**power for power in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1)]


class LinearScale:
    """Places of values on an axis from zero to the largest one, between two ends in pixels."""

    def __init__(self, values, first, last):
        self.high, self.first, self.last = max(values), first, last

    def __call__(self, value):
        return round(self.first + value / self.high * (self.last - self.first), 1)

    def ticks(self):
        """Four to eight multiples of 1, 2 or 5 times a power of ten."""
        power = 10 ** math.floor(math.log10(self.high / 4))
        step = next(power * factor for factor in (1, 2, 5, 10) if self.high / (power * factor) < 9)
        return [step * number for number in range(int(self.high / step) + 1)]


def chart(title, lines):
    """The text of a chart of {name: [(bytes, microseconds), …]}."""
    y = Scale([value for line in lines.values() for _, value in line] or [1], HEIGHT - BOTTOM, TOP)
    return _chart(title, lines, "µs", y, y.ticks(10) or y.ticks(2))


def rates(title, lines):
    """The same as gigabytes per second."""
    lines = {name: [(size, size / value / 1e3) for size, value in line] for name, line in lines.items()}
    y = LinearScale([value for line in lines.values() for _, value in line] or [1], HEIGHT - BOTTOM, TOP)
    return _chart(title, lines, "GB/s", y, y.ticks())


def _chart(title, lines, unit, y, ticks):
    points = [point for line in lines.values() for point in line]
    if not points:
        raise ValueError("there is nothing to plot")
    x = Scale([size for size, _ in points], LEFT, WIDTH - RIGHT)
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
        f'font-size="13"><rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="16">{escape(title)}</text>',
        f'<text x="12" y="{TOP - 8}">{escape(unit)}</text>',
    ]
    for size in x.ticks(4):
        text.append(f'<line x1="{x(size)}" y1="{TOP}" x2="{x(size)}" y2="{HEIGHT - BOTTOM}" stroke="#e2e2e2"/>')
        label = f'text-anchor="middle" font-size="11">{size_text(size)}</text>'
        text.append(f'<text x="{x(size)}" y="{HEIGHT - 28}" {label}')
    for value in ticks:
        text.append(f'<line x1="{LEFT}" y1="{y(value)}" x2="{WIDTH - RIGHT}" y2="{y(value)}" stroke="#e2e2e2"/>')
        text.append(f'<text x="{LEFT - 8}" y="{y(value) + 4}" text-anchor="end">{value:g}</text>')
    names = sorted(lines, key=lambda name: y(lines[name][-1][1]))
    place = TOP
    for name in names:
        colour, line = COLOURS[list(lines).index(name) % len(COLOURS)], lines[name]
        path = " ".join(f"{x(size)},{y(value)}" for size, value in line)
        text.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        text += [f'<circle cx="{x(size)}" cy="{y(value)}" r="3" fill="{colour}"/>' for size, value in line]
        place = max(place, y(line[-1][1]) + 4)
        text.append(f'<text x="{WIDTH - RIGHT + 10}" y="{place}" fill="{colour}">{escape(name)}</text>')
        place += 16
    return "\n".join([*text, "</svg>\n"])


def plot(table):
    """The chart of a table: microseconds of each collective over the bytes of a message."""
    lines = {}
    for row in table["rows"]:
        elements = f", {row['element_bytes']}-byte elements" if row["element_bytes"] else ""
        line = lines.setdefault(f"{row['call']}{elements}, {row['ranks']} ranks", [])
        line.append((row["bytes"], row["microseconds"]))
    return chart(f"Collectives on {table['device']}", lines)
