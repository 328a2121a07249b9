# SPDX-License-Identifier: BSD-3-Clause
"""Results as bars: for each figure how many times better the asked side is,
on a logarithmic axis around 1, with the range of the rounds and the target.
A column for each set of transports, the figures grouped by what they are."""

import math

from . import picture_sizes, stats, svg
from .programs import Failure

GROUPS = [
    ("latency", ("lat_", "am_lat_", "uct_am_")),
    ("message rate", ("rate_", "am_rate_")),
    ("bandwidth", ("bw_",)),
    ("put and get", ("get_", "put_")),
    ("four processes", ("alltoall",)),
    ("memory", ("worker_memory", "ep_memory")),
    ("making things", ("init", "worker_create", "ep_create", "ep_first")),
    ("start-up", ("start_",)),
    ("commands", ("info_d", "plugins_list")),
    ("others", ("",)),
]
LEFT_OUT = ("memcpy",)  # no library is in it
LABELS, PLOT, VALUES, GAP = 142, 190, 52, 14
COLUMN = PLOT + VALUES + GAP
HEADING, TITLES, ROW, HEAD, BELOW, LEGEND = 56, 40, 17, 22, 24, 44
LEAST_WIDTH = 700
LEAST, MOST = 1 / 64, 256  # what lies beyond ends at the edge


class Bar:
    """gain: how many times better; pale: too few rounds to judge by."""

    def __init__(self, name, gain, low, high, target=None, missed=False,
                 pale=False):
        self.name = name
        self.gain = gain
        self.low = low
        self.high = high
        self.target = target
        self.missed = missed
        self.pale = pale


class Panel:
    def __init__(self, title, note, bars):
        self.title = title
        self.note = note
        self.bars = {bar.name: bar for bar in bars
                     if not bar.name.startswith(LEFT_OUT)}


def bar_of_ratio(row):
    """From a row of ours beside theirs."""
    unit = row["unit"]
    ends = sorted(stats.gain(row[end], unit)
                  for end in ("ratio_min", "ratio_max"))
    bound = row.get("bound")
    return Bar(row["name"], stats.gain(row["ratio"], unit), ends[0], ends[1],
               stats.gain(bound, unit) if bound else None,
               row["verdict"] == "missed", row["kept"] < stats.MIN_ROUNDS)


def bar_of_behind(row):
    """From a row of one setting against the best of others."""
    return Bar(row["name"], 1 / row["behind"], 1 / row["behind_max"],
               1 / row["behind_min"], 1 / row["bound"],
               row["verdict"] == "missed", row["kept"] < stats.MIN_ROUNDS)


def cores_note(cores):
    return "" if cores == "unknown" else "cores " + cores.split(" in ")[0]


def panels_of(result):
    if result["kind"] in ("compare", "baseline"):
        return [Panel("UCX_TLS=" + one["tls"] if one["tls"] else "nothing set",
                      cores_note(one["cores"]),
                      [bar_of_ratio(row) for row in one["figures"]
                       if row["kept"]]) for one in result["sets"]]
    return [Panel(one["title"], "", [bar_of_behind(row)
                                     for row in one["figures"] if row["kept"]])
            for one in result["sets"]]


def group_of(name):
    return next(title for title, starts in GROUPS if name.startswith(starts))


def grouped(panels):
    """[(group, [figure])] of all panels, in the order in which they came."""
    groups = {title: [] for title, _ in GROUPS}
    for panel in panels:
        for name in panel.bars:
            if name not in groups[group_of(name)]:
                groups[group_of(name)].append(name)
    return [(title, names) for title, names in groups.items() if names]


class Axis:
    """Powers of two around 1, wide enough for all bars."""

    def __init__(self, panels):
        bars = [bar for panel in panels for bar in panel.bars.values()]
        ends = [end for bar in bars
                for end in (bar.low, bar.high, bar.target or 1)] or [1]
        low = max(min(ends), LEAST)
        high = min(max(ends), MOST)
        self.first = min(math.floor(math.log2(low)), -1)
        self.last = max(math.ceil(math.log2(high)), 1)

    def x(self, gain):
        place = math.log2(min(max(gain, 2.0 ** self.first), 2.0 ** self.last))
        return (place - self.first) / (self.last - self.first) * PLOT

    def ticks(self):
        """(power, label or None); every second one where they are many."""
        step = 1 if self.last - self.first <= 7 else 2
        for power in range(self.first, self.last + 1):
            label = "1/%d" % 2 ** -power if power < 0 else "%d" % 2 ** power
            yield power, label if power % step == 0 else None


def gain_text(gain):
    if gain >= 9.95:
        return "%.0f×" % gain
    return "%.1f×" % gain if gain >= 1.95 else "%.2f×" % gain


def draw_bar(drawing, axis, left, y, bar):
    middle = y + ROW / 2
    one, end = left + axis.x(1), left + axis.x(bar.gain)
    drawing.rect(min(one, end), middle - 5, abs(end - one), 10,
                 svg.BETTER if bar.gain >= 1 else svg.WORSE,
                 0.35 if bar.pale else None)
    low, high = left + axis.x(bar.low), left + axis.x(bar.high)
    drawing.line(low, middle, high, middle, svg.INK, 1)
    for end in (low, high):
        drawing.line(end, middle - 3, end, middle + 3, svg.INK, 1)
    if bar.target:
        x = left + axis.x(bar.target)
        drawing.line(x, middle - 7, x, middle + 7, svg.INK, 1.5)
        drawing.polygon([(x - 3.5, middle - 8), (x + 3.5, middle - 8),
                         (x, middle - 3)], svg.INK)
    drawing.text(left + PLOT + VALUES - 6, middle + 4, gain_text(bar.gain),
                 "end", svg.WORSE if bar.missed else None, bold=bar.missed)


def draw_axis(drawing, axis, left, top, bottom):
    for power, label in axis.ticks():
        x = left + axis.x(2.0 ** power)
        drawing.line(x, top, x, bottom, svg.INK if power == 0 else svg.GRID,
                     1.2 if power == 0 else 0.8)
        if label:
            drawing.text(x, bottom + 14, label, "middle", svg.FAINT, 10)


def draw_legend(drawing, y, sides):
    drawing.text(16, y, "Right of 1: %s better; left: %s. Bar: median of the "
                 "ratios of all rounds; line: least to largest." % sides,
                 colour=svg.FAINT)
    drawing.text(16, y + 16, "Triangle: target; orange number: missed. Pale: "
                 "fewer than %d rounds kept, nothing is judged by it."
                 % stats.MIN_ROUNDS, colour=svg.FAINT)


class Block:
    """Panels side by side that show the same figures."""

    def __init__(self, panels):
        self.panels = panels
        self.groups = grouped(panels)
        self.body = sum(HEAD + ROW * len(names) for _, names in self.groups)
        self.height = TITLES + self.body + BELOW
        self.width = LABELS + COLUMN * len(panels) + 10

    def draw(self, drawing, axis, top, width):
        self.draw_labels(drawing, top + TITLES, width)
        for column, panel in enumerate(self.panels):
            self.draw_panel(drawing, axis, LABELS + COLUMN * column,
                            top + TITLES, panel)

    def draw_labels(self, drawing, y, width):
        for index, (group, names) in enumerate(self.groups):
            height = HEAD + ROW * len(names)
            if index % 2 == 0:
                drawing.rect(0, y, width, height, svg.BAND)
            drawing.text(16, y + 15, group, bold=True)
            for number, name in enumerate(names):
                drawing.text(LABELS - 10, y + HEAD + ROW * number + ROW / 2 + 4,
                             name, "end")
            y += height

    def draw_panel(self, drawing, axis, left, y, panel):
        drawing.text(left, y - 22, panel.title, size=12, bold=True)
        drawing.text(left, y - 8, panel.note, colour=svg.FAINT, size=10)
        draw_axis(drawing, axis, left, y, y + self.body)
        for _, names in self.groups:
            y += HEAD
            for name in names:
                if name in panel.bars:
                    draw_bar(drawing, axis, left, y, panel.bars[name])
                y += ROW


def blocks_of(panels):
    """What starts up stands below: it has other figures than the rest."""
    def starts(panel):
        return any(group_of(name) == "start-up" for name in panel.bars)

    parts = ([panel for panel in panels if not starts(panel)],
             [panel for panel in panels if starts(panel)])
    return [Block(part) for part in parts if part]


def draw(panels, title, subtitle, sides):
    axis = Axis(panels)
    blocks = blocks_of(panels)
    width = max([block.width for block in blocks] + [LEAST_WIDTH])
    height = HEADING + sum(block.height for block in blocks) + LEGEND
    drawing = svg.Drawing(width, height, title)
    drawing.text(16, 26, title, size=15, bold=True)
    drawing.text(16, 44, subtitle, colour=svg.FAINT)
    top = HEADING
    for block in blocks:
        block.draw(drawing, axis, top, width)
        top += block.height
    draw_legend(drawing, top + 16, sides)
    return drawing.xml()


def heading_of(result):
    """(title, the two sides)"""
    if result["kind"] == "compare":
        versions = result["versions"]
        return ("This library (%s) beside UCX %s" %
                (versions["ours"], versions["theirs"]), ("ours is", "theirs"))
    if result["kind"] == "baseline":
        return ("This build beside an earlier one", ("this build is",
                                                     "the earlier one"))
    if result["kind"] == "best":
        return ("Nothing set, beside the best that any UCX_TLS gives",
                ("nothing set is", "the best explicit choice"))
    return ("Peer error handling beside none", ("with it", "without"))


def subtitle_of(found):
    return "%(date)s, %(processor)s, %(cores)d cores, Linux %(kernel)s" % \
        found["machine"]


def draw_results(found):
    """SVG of one or several results of one kind."""
    kinds = {result["kind"] for result in found}
    if len(kinds) != 1:
        raise Failure("one picture shows one kind of result, not %s" %
                      " and ".join(sorted(kinds)))
    try:
        if kinds == {"thresholds"}:
            return picture_sizes.draw(found[-1], subtitle_of(found[-1]))
        panels = [panel for result in found for panel in panels_of(result)
                  if panel.bars]
        title, sides = heading_of(found[-1])
        if not panels:
            raise Failure("no figure has a round that was kept: there is "
                          "nothing to draw")
        return draw(panels, title, subtitle_of(found[-1]), sides)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise Failure("the result is damaged (%s: %s); make it anew" % (
            type(error).__name__, error)) from None


def write(found, where):
    text = draw_results(found)
    try:
        with open(where, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Failure("cannot write %s: %s" % (where,
                                               error.strerror)) from None
