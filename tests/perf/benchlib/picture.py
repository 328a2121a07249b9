# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of results, drawn by gnuplot as SVG.

Comparisons: for each figure a bar that shows how many times better the side
under test is, on a logarithmic axis around 1, with the range of the rounds and
the target; a column for each set of transports. Results of `portable`: a curve
for each operation, a panel for each set of transports."""

import math
import os
import shutil
import subprocess
from xml.sax import saxutils

from . import stats
from .command import output_folder
from .programs import Failure

GROUPS = [
    ("latency", ("lat_", "am_lat_", "uct_am_")),
    ("message rate", ("rate_", "am_rate_")),
    ("bandwidth", ("bw_",)),
    ("put and get", ("get_", "put_")),
    ("four processes", ("alltoall",)),
    ("memory", ("worker_memory", "ep_memory")),
    ("creation", ("init", "worker_create", "ep_create", "ep_first")),
    ("start-up", ("start_",)),
    ("commands", ("info_d", "plugins_list")),
    ("others", ("",)),
]
NO_GNUPLOT = "no picture: gnuplot is not installed (Debian: gnuplot-nox)"
LEFT_OUT = ("memcpy",)  # does not depend on a library
BETTER, PALE_BETTER, WORSE, PALE_WORSE = 0x2a8c82, 0xb4d9d5, 0xd1663d, 0xf0cbbd
LEAST, MOST = 1 / 64, 256  # bars with values outside end at the edge
LABELS, COLUMN, ROW, HEAD, GAP, LEGEND, PANEL = 150, 260, 17, 90, 70, 50, 250

PREAMBLE = """\
set terminal svg size %d,%d dynamic font "Helvetica,11" background "white"
set multiplot
set key off
set border 0
set tics scale 0
set grid x lc rgb "#d8dee4"
"""
TEXTS = """\
unset title
unset tics
unset grid
unset arrow
unset logscale
set key off
set label 1 "{/=15 %s}" at screen 0.02, screen 1 offset 0, -1.5
set label 2 "%s" at screen 0.02, screen 1 offset 0, -3
set label 3 "%s" at screen 0.02, screen 0 offset 0, 2.5
set xrange [0:1]
set yrange [0:1]
plot NaN notitle
"""
PANEL_BARS = """\
set title "%s"
set lmargin at screen %.5f
set rmargin at screen %.5f
set tmargin at screen %.5f
set bmargin at screen %.5f
set logscale x 2
set xrange [%.6g:%.6g]
set yrange [%d:-1]
%s
set arrow 1 from 1, graph 0 to 1, graph 1 nohead lc rgb "#24292f"
$bars << END
%s
END
plot $bars using 2:1:(1):2:($1-0.3):($1+0.3):6 with boxxyerror fill solid noborder lc rgb variable, \\
     $bars using 2:1:3:4 with xerrorbars pt 0 lc rgb "#24292f", \\
     $bars using 5:1 with points pt 11 ps 0.6 lc rgb "#24292f", \\
     $bars using (%.6g):1:7:8 with labels right font ",10" tc rgb variable
"""
LEGEND_TEXT = "Right of 1: %s better; left: %s. Bar: median of the ratios " \
    "of all rounds; line: their range.\\nTriangle: target; orange number: " \
    "missed. Pale: fewer than %d rounds, no verdict."
PANEL_CURVES = """\
set title "%s"
set rmargin 6
set format x "%%.0b%%B"
set tmargin at screen %.5f
set bmargin at screen %.5f
set key %s
set logscale x 2
set logscale y
set yrange [0.5:2]
set ytics (0.5, 0.7, 0.85, 1, 1.15, 1.5, 2)
%s
plot %s, %.6g with lines dt 2 lc rgb "#d1663d" notitle
"""


def plain(text):
    """Quotes text for gnuplot's enhanced mode and for XML, which gnuplot does not
    quote itself."""
    text = saxutils.escape(text)
    for mark in "\\_^@&~{}":
        text = text.replace(mark, "\\\\" + mark)
    return text.replace('"', '\\"').replace("\n", " ")


class Bar:
    """One bar. gain: how many times better the side under test is; pale: too few
    rounds for a verdict."""

    def __init__(self, row, gain, low, high, target):
        self.name = row["name"]
        self.gain, self.low, self.high = gain, low, high
        self.target = target
        self.missed = row["verdict"] == "missed"
        self.pale = row["kept"] < stats.MIN_ROUNDS

    def colour(self):
        if self.gain >= 1:
            return PALE_BETTER if self.pale else BETTER
        return PALE_WORSE if self.pale else WORSE

    def line(self, place):
        """Returns a line of gnuplot's data: place, gain, low, high, target,
        colour, text, colour of the text."""
        ends = [min(max(end, LEAST), MOST)
                for end in (self.gain, self.low, self.high)]
        return '%d %.6g %.6g %.6g %s %d "%s" %d' % (
            place, *ends, "%.6g" % self.target if self.target else "NaN",
            self.colour(), gain_text(self.gain), WORSE if self.missed else 0)


def gain_text(gain):
    if gain >= 9.95:
        return "%.0f×" % gain
    return "%.1f×" % gain if gain >= 1.95 else "%.2f×" % gain


def bar_of_ratio(row):
    """Makes a bar of a row that compares ours with theirs."""
    ends = sorted(stats.gain(row[end], row["unit"])
                  for end in ("ratio_min", "ratio_max"))
    bound = row.get("bound")
    return Bar(row, stats.gain(row["ratio"], row["unit"]), *ends,
               stats.gain(bound, row["unit"]) if bound else None)


def bar_of_behind(row):
    """Makes a bar of a row that compares a setting with the best of others."""
    return Bar(row, 1 / row["behind"], 1 / row["behind_max"],
               1 / row["behind_min"], 1 / row["bound"])


class Panel:
    def __init__(self, result, one):
        if result["kind"] in ("compare", "baseline"):
            self.title = "UCX_TLS=" + one["tls"] if one["tls"] \
                else "nothing set"
            if one["cores"] != "unknown":
                self.title += ", cores " + one["cores"].split(" in ")[0]
            make = bar_of_ratio
        else:
            self.title = one["title"]
            make = bar_of_behind
        self.bars = {row["name"]: make(row) for row in one["figures"]
                     if row["kept"] and not row["name"].startswith(LEFT_OUT)}

    def is_startup(self):
        return any(group_of(name) == "start-up" for name in self.bars)


def group_of(name):
    return next(title for title, starts in GROUPS if name.startswith(starts))


def rows_of(panels):
    """Returns the rows of all panels as (is_heading, text): for each group its
    name, then its figures."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.bars))
    rows = []
    for group, _ in GROUPS:
        members = [name for name in names if group_of(name) == group]
        if members:
            rows += [(True, group)] + [(False, name) for name in members]
    return rows


def axis_of(panels):
    """Returns the limits of the axis: powers of two around 1 that include all
    bars."""
    bars = [bar for panel in panels for bar in panel.bars.values()]
    ends = [end for bar in bars for end in (bar.low, bar.high, bar.target or 1)]
    first = math.floor(math.log2(max(min(ends), LEAST)))
    last = math.ceil(math.log2(min(max(ends), MOST)))
    return 2.0 ** min(first, -1), 2.0 ** max(last, 1)


def bars_script(panels, title, subtitle, sides):
    """Returns the script for bars. Panels of start-up have other figures than the
    rest and are placed below."""
    blocks = [block for block in ([p for p in panels if not p.is_startup()],
                                  [p for p in panels if p.is_startup()])
              if block]
    low, high = axis_of(panels)
    width = LABELS + COLUMN * max([len(block) for block in blocks] + [2])
    height = HEAD + LEGEND - 20 + sum(ROW * len(rows_of(block)) + GAP
                               for block in blocks)
    parts = [PREAMBLE % (width, height)]
    legend = LEGEND_TEXT % (*map(plain, sides), stats.MIN_ROUNDS)
    top = HEAD
    for block in blocks:
        rows = rows_of(block)
        for column, panel in enumerate(block):
            left = LABELS + COLUMN * column
            tics = "set ytics scale 0 (%s)" % ", ".join('"%s" %d' % (
                "{/:Bold %s}" % plain(text) if heading else plain(text), place)
                for place, (heading, text) in enumerate(rows)) \
                if column == 0 else "unset ytics"
            data = "\n".join(panel.bars[text].line(place)
                             for place, (heading, text) in enumerate(rows)
                             if not heading and text in panel.bars)
            parts.append(PANEL_BARS % (
                plain(panel.title), left / width, (left + COLUMN - 40) / width,
                1 - top / height, 1 - (top + ROW * len(rows)) / height,
                low, high * 2, len(rows), tics, data, high * 1.9))
        top += ROW * len(rows) + GAP
    return "".join(parts) + TEXTS % (plain(title), plain(subtitle), legend)


def curves_script(result, subtitle):
    rows = result["rows"]
    sets = list(dict.fromkeys(row["tls"] for row in rows))
    ops = list(dict.fromkeys(row["op"] for row in rows))
    height = HEAD + LEGEND - 20 + PANEL * len(sets)
    parts = [PREAMBLE % (820, height)]
    legend = "Time of the selected protocol / time of the best alternative, " \
        "by size in bytes; above the dashed line: %.0f %% worse or more" % (
            result["bound"] * 100 - 100)
    for number, tls in enumerate(sets):
        top = HEAD + PANEL * number
        blocks, lines = [], []
        for index, op in enumerate(ops):
            points = sorted((row["size"], row["behind"]) for row in rows
                            if row["tls"] == tls and row["op"] == op)
            if points:
                blocks.append("$c%d << END\n%s\nEND" % (index, "\n".join(
                    "%d %.6g" % point for point in points)))
                lines.append('$c%d with linespoints lw 2 pt 7 ps 0.4 title "%s"'
                             % (index, plain(op)))
        parts.append(PANEL_CURVES % (
            plain("UCX_TLS=" + tls), 1 - top / height, 1 - (top + PANEL - 60) / height,
            "top right horizontal" if number == 0 else "off",
            "\n".join(blocks), ", ".join(lines), result["bound"]))
    return "".join(parts) + TEXTS % (
        "The selected protocol compared with the best other one",
        plain(subtitle), legend)


def heading_of(result):
    """Returns the title and the names of the two sides."""
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


def script_of(found):
    """Returns the gnuplot script for one or several results of one kind."""
    kinds = {result["kind"] for result in found}
    if len(kinds) != 1:
        raise Failure("one picture shows one kind of result, not %s" %
                      " and ".join(sorted(kinds)))
    try:
        subtitle = "%(date)s, %(processor)s, %(cores)d cores, Linux " \
            "%(kernel)s" % found[-1]["machine"]
        if kinds == {"portable"}:
            return curves_script(found[-1], subtitle)
        panels = [panel for result in found
                  for panel in (Panel(result, one) for one in result["sets"])
                  if panel.bars]
        title, sides = heading_of(found[-1])
        if not panels:
            raise Failure("no figure has a round that was kept: there is "
                          "nothing to draw")
        return bars_script(panels, title, subtitle, sides)
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise Failure("the result is damaged (%s: %s); make it anew" % (
            type(error).__name__, error)) from None


def write(found, where):
    script = script_of(found)
    program = shutil.which("gnuplot")
    if program is None:
        raise Failure(NO_GNUPLOT)
    drawn = subprocess.run([program], input=script.encode(), check=False,
                           capture_output=True)
    if drawn.returncode != 0:
        raise Failure("gnuplot failed: %s" % drawn.stderr.decode().strip())
    try:
        with open(where, "wb") as file:
            file.write(drawn.stdout)
    except OSError as error:
        raise Failure("cannot write %s: %s" % (where,
                                               error.strerror)) from None


def show(found, options, name):
    """Draws one result to the file of the options, or to the build folder. If
    gnuplot is missing, this fails only if the options name a file."""
    where = options.picture or os.path.join(output_folder(options.build), name)
    words = "picture: %s" % where
    if options.picture or shutil.which("gnuplot"):
        write([found], where)
    else:
        words = NO_GNUPLOT
    if options.json != "-":
        print(words)
