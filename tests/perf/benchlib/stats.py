# SPDX-License-Identifier: BSD-3-Clause
"""What counts and what is judged. Nothing here measures anything.

A figure is a dictionary as ucp_bench prints it: value (< 0: not offered), unit,
floors. A kept round is (ratio, value, other value, floor): `value` of the side
that is asked about, `other` of the one it is set against. Ratios are what the
two were, whichever is better; `gain` turns them so that more is better."""

import statistics

CLOSE = "close"
CLOSE_FLOOR = 0.1     # us; a cache line between far cores takes longer
FLOORS_AGREE = 1.25   # largest floor over smallest
MIN_ROUNDS = 5        # fewer kept rounds are no basis for a judgement
NO_JUDGEMENT = "no judgement"
NOT_OFFERED = "missed, not offered"


def less_is_better(unit):
    return not unit.endswith("/s")


def gain(ratio, unit):
    """How many times better than the other side: 2 is twice as good."""
    return 1 / ratio if less_is_better(unit) else ratio


def floors_agree(figures):
    """True if the cores stayed as near to each other as they were; figures
    without floors do not depend on that."""
    floors = [floor for figure in figures for floor in figure.get("floors", ())]
    return not floors or max(floors) <= FLOORS_AGREE * min(floors)


def kept_round(mine, other):
    """The round, or None if one side lacks the figure, or conditions were not
    equal."""
    if mine["value"] <= 0 or other["value"] <= 0 or \
            not floors_agree([mine, other]):
        return None
    floors = mine.get("floors")
    return (mine["value"] / other["value"], mine["value"], other["value"],
            statistics.mean(floors) if floors else None)


def median_ratio(kept):
    return statistics.median(row[0] for row in kept)


class Table:
    """Figures in the order in which they came, with their rounds."""

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
    """A verdict, and the rounds that it rests on."""
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
    """A row for each figure: what people and programs are shown."""
    return [summarise_one(name, entry, judged, targets.get(name))
            for name, entry in table.entries.items()]


def cores_text(rows):
    """Where the cores were while the kept figures were taken."""
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
    """How many times worse than the other side in the median: 1.2 is a fifth
    longer, or a fifth less than there could be."""
    return statistics.median(1 / gain(row[0], unit) for row in kept)


def furthest_behind(tables, name, unit, least=MIN_ROUNDS):
    """(rival, behind, kept) of the rival that does best against us, from rival
    -> Table; None if none has enough rounds. Medians are compared, so that one
    lucky round of many rivals does not decide."""
    found = [(rival, behind(table.kept(name), unit), table.kept(name))
             for rival, table in tables.items()
             if len(table.kept(name)) >= least]
    return max(found, key=lambda one: one[1]) if found else None
