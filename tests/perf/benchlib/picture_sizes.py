# SPDX-License-Identifier: BSD-3-Clause
"""The thresholds as curves: how far the choice is behind the best alternative,
over the size; a panel for each set of transports, a line for each operation."""

import math

from . import svg
from .tables import size_text

LEFT, WIDTH, HEIGHT, GAP, TOP = 64, 720, 190, 54, 78
LOW, HIGH = 0.5, 2.0  # of the axis; what lies beyond ends at the edge
LEVELS = [0.5, 0.7, 0.85, 1.0, 1.15, 1.5, 2.0]


def place_x(size, largest):
    return LEFT + math.log2(size) / math.log2(largest) * WIDTH


def place_y(top, behind):
    part = math.log(min(max(behind, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return top + (1 - part) * HEIGHT


def draw_grid(drawing, top, largest, bound):
    for level in LEVELS:
        y = place_y(top, level)
        drawing.line(LEFT, y, LEFT + WIDTH, y,
                     svg.INK if level == 1 else svg.GRID, 0.8)
        drawing.text(LEFT - 8, y + 4, "%.2f" % level, "end", svg.FAINT, 10)
    y = place_y(top, bound)
    drawing.line(LEFT, y, LEFT + WIDTH, y, svg.WORSE, 1, "4 3")
    for power in range(0, int(math.log2(largest)) + 1, 2):
        x = place_x(2 ** power, largest)
        drawing.line(x, top, x, top + HEIGHT, svg.GRID, 0.6)
        drawing.text(x, top + HEIGHT + 14, size_text(2 ** power), "middle",
                     svg.FAINT, 10)


def draw_line(drawing, top, largest, rows, colour):
    points = [(place_x(row["size"], largest), place_y(top, row["behind"]))
              for row in sorted(rows, key=lambda row: row["size"])]
    if len(points) > 1:
        drawing.path(points, colour)
    for x, y in points:
        drawing.circle(x, y, 2.2, colour)


def draw(result, subtitle):
    rows = result["rows"]
    sets = list(dict.fromkeys(row["tls"] for row in rows))
    ops = list(dict.fromkeys(row["op"] for row in rows))
    largest = max([row["size"] for row in rows] + [2])
    height = TOP + len(sets) * (HEIGHT + GAP) + 30
    title = "How far the chosen protocol is behind the best other one"
    drawing = svg.Drawing(LEFT + WIDTH + 40, height, title)
    drawing.text(16, 26, title, size=15, bold=True)
    drawing.text(16, 44, subtitle, colour=svg.FAINT)
    for index, op in enumerate(ops):
        x = LEFT + WIDTH - 90 * (len(ops) - index)
        drawing.line(x, 40, x + 18, 40, svg.LINES[index % len(svg.LINES)], 2)
        drawing.text(x + 23, 44, op)
    for number, tls in enumerate(sets):
        top = TOP + number * (HEIGHT + GAP)
        drawing.text(LEFT, top - 8, "UCX_TLS=" + tls, size=12, bold=True)
        draw_grid(drawing, top, largest, result["bound"])
        for index, op in enumerate(ops):
            draw_line(drawing, top, largest,
                      [row for row in rows
                       if row["tls"] == tls and row["op"] == op],
                      svg.LINES[index % len(svg.LINES)])
    drawing.text(16, height - 14, "Time of the choice over that of the best "
                 "alternative, by size in bytes; 1: as good, above the dashed "
                 "line: %.0f %% worse or more." % (result["bound"] * 100 - 100),
                 colour=svg.FAINT)
    return drawing.xml()
