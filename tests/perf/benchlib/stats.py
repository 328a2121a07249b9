# SPDX-License-Identifier: BSD-3-Clause
"""Selects the rounds that count and compares figures with targets. This module
measures nothing.

A figure is a dictionary as ucp_bench prints it: value (< 0: not offered), unit,
floors (latencies of a cache line between the two cores, before and after). A
kept round is (ratio, value, other value, floor): `value` of the side under test,
`other` of the side that it is compared with. The ratio is value / other;
`gain` inverts it if less is better."""

import statistics

CLOSE = "close"
CLOSE_FLOOR = 0.1     # us; between cores without a common cache it is longer
FLOORS_AGREE = 1.25   # largest floor over smallest
MIN_ROUNDS = 5        # fewer kept rounds are no basis for a judgement
NO_JUDGEMENT = "no judgement"
NOT_OFFERED = "missed, not offered"


def less_is_better(unit):
    return not unit.endswith("/s")


def gain(ratio, unit):
    """Returns how many times better the side under test is: 2 is twice as
    good."""
    return 1 / ratio if less_is_better(unit) else ratio


def floors_agree(figures):
    """Returns whether the distance between the cores stayed the same; True for
    figures without floors, which do not depend on it."""
    floors = [floor for figure in figures for floor in figure.get("floors", ())]
    return not floors or max(floors) <= FLOORS_AGREE * min(floors)


def kept_round(mine, other):
    """Returns the round, or None if one side lacks the figure, or if the distance
    between the cores has changed."""
    if mine["value"] <= 0 or other["value"] <= 0 or \
            not floors_agree([mine, other]):
        return None
    floors = mine.get("floors")
    return (mine["value"] / other["value"], mine["value"], other["value"],
            statistics.mean(floors) if floors else None)


def median_ratio(kept):
    return statistics.median(row[0] for row in kept)


class Table:
    """Figures in the order in which they were added, with their rounds."""

    def __init__(self):
        self.entries = {}

    def add(self, mine, other, counts=True, sides=("ours", "theirs")):
        entry = self.entries.setdefault(
            mine["name"], {"unit": mine["unit"], "kept": [], "lacking": set()})
        for side, figure in zip(sides, (mine, other)):
            if figure["value"] < 0:
                entry["lacking"].add(side)
        row = kept_round(mine, other) if counts else None
        if row:
            entry["kept"].append(row)

    def kept(self, name):
        return self.entries[name]["kept"] if name in self.entries else []


def is_met(target, ratio):
    return ratio <= target[1] if target[0] == "<=" else ratio >= target[1]


def judge(target, entry, judged, first="ours"):
    """Returns a verdict, and the rounds on which it is based."""
    kept = entry["kept"]
    if target is None:
        return None, kept
    if first in entry["lacking"]:
        return NOT_OFFERED, kept
    if CLOSE in target:
        kept = [row for row in kept
                if row[3] is not None and row[3] <= CLOSE_FLOOR]
    if len(kept) < MIN_ROUNDS or not judged:
        return NO_JUDGEMENT, kept
    return "met" if is_met(target, median_ratio(kept)) else "missed", kept


def target_text(target):
    return "%s %.3g%s" % (target[0], target[1],
                          ", close" if CLOSE in target else "")


def summarise_one(name, entry, judged, target):
    verdict, kept = judge(target, entry, judged)
    row = {"name": name, "unit": entry["unit"], "kept": len(kept),
           "verdict": verdict, "lacking": sorted(entry["lacking"])}
    if kept:
        ratios, ours, theirs, floors = map(list, zip(*kept))
        row.update(ours=statistics.median(ours), ours_min=min(ours),
                   theirs=statistics.median(theirs), theirs_min=min(theirs),
                   ratio=statistics.median(ratios), ratio_min=min(ratios),
                   ratio_max=max(ratios))
        floors = [floor for floor in floors if floor is not None]
        if floors:
            row.update(floor=statistics.median(floors), close=sum(
                floor <= CLOSE_FLOOR for floor in floors))
        row["rounds"] = [list(one) for one in kept]
    if target:
        row["target"] = target_text(target)
        row["bound"] = target[1]
    return row


def summarise(table, judged, targets):
    """Returns a row for each figure, for the tables and for the result file."""
    return [summarise_one(name, entry, judged, targets.get(name))
            for name, entry in table.entries.items()]


def cores_text(rows):
    """Returns whether the cores were close or far in the kept rounds."""
    rows = [row for row in rows if "close" in row]
    kept = sum(row["kept"] for row in rows)
    close = sum(row["close"] for row in rows)
    if kept == 0:
        return "unknown"
    if close in (0, kept):
        return "close" if close else "far"
    return "close in %.0f %% of the figures, far in the others" % (
        close * 100 / kept)


def behind(kept, unit):
    """Returns how many times worse than the other side the median is. 1.2: the
    other side's value is 1.2 times better."""
    return statistics.median(1 / gain(row[0], unit) for row in kept)


def furthest_behind(tables, name, unit, least=MIN_ROUNDS):
    """Returns (rival, behind, kept) of the best rival. tables: rival -> Table.
    None if no rival has enough rounds. It compares medians, so that a single good
    round of one of many rivals does not decide."""
    found = [(rival, behind(table.kept(name), unit), table.kept(name))
             for rival, table in tables.items()
             if len(table.kept(name)) >= least]
    return max(found, key=lambda one: one[1]) if found else None
