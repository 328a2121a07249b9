# SPDX-License-Identifier: BSD-3-Clause
"""`compare --best` and `compare --err-mode`: compares settings of this library
with each other."""

import statistics

from . import alternate, programs, stats, targets

NOTHING = "nothing set"
ALONE = "posix,self"
EXPLICIT = ["posix", "posix,cma", "sysv", "sysv,cma", "posix,sysv,cma", "tcp",
            "tcp,cma"]


def units(figures, variants, milliseconds):
    """Returns one unit for each figure: the hypervisor may move the virtual cores
    between figures, but seldom does between two variants of one figure."""
    return [alternate.Unit(name, ["--only", name + "$"], variants,
                           milliseconds) for name in figures]


def explicit_variants(sets, path, settings):
    names = [programs.with_self(tls) for tls in sets or EXPLICIT]
    return [alternate.Variant(NOTHING,
                              programs.environment("", settings, path))] + \
        [alternate.Variant(tls, programs.environment(tls, settings, path))
         for tls in names]


def error_variants(tls, path, settings):
    env = programs.environment(programs.with_self(tls), settings, path)
    return [alternate.Variant("peer", env, ["--err-mode", "peer"]),
            alternate.Variant("none", env, ["--err-mode", "none"])]


def lacks(unit):
    return any(unit.variants[0].name in entry["lacking"]
               for table in unit.tables.values()
               for entry in table.entries.values())


def row_of(name, unit, rival, bound, judged):
    """Returns a row of the result. rival: the result of furthest_behind(), or
    None."""
    row = {"name": name, "bound": bound, "target": "<= %.3g" % bound,
           "kept": 0, "verdict": stats.NO_JUDGEMENT}
    if lacks(unit):
        row["verdict"] = stats.NOT_OFFERED
    if rival is None:
        return row
    against, behind, kept = rival
    unit_text = unit.units_of()[unit.name]
    spread = [1 / stats.gain(one[0], unit_text) for one in kept]
    row.update(unit=unit_text, against=against, kept=len(kept),
               value=statistics.median(one[1] for one in kept),
               other=statistics.median(one[2] for one in kept),
               behind=behind, behind_min=min(spread), behind_max=max(spread),
               rounds=[list(one) for one in kept])
    if judged:
        row["verdict"] = "met" if behind <= bound else "missed"
    return row


def best_rows(taken, judged):
    """Returns a row for each figure, compared with the best of its rivals, and
    rows for 8 B that compare all plugins with posix alone."""
    rows = [row_of(unit.name, unit,
                   stats.furthest_behind(unit.tables, unit.name,
                                         unit.units_of().get(unit.name, "us")),
                   targets.BEST, judged) for unit in taken]
    for unit in taken:
        if unit.name in ("lat_8", "am_lat_8") and ALONE in unit.tables:
            alone = {ALONE: unit.tables[ALONE]}
            rows.append(row_of(unit.name + " to posix", unit,
                               stats.furthest_behind(alone, unit.name, "us"),
                               targets.EVERYTHING, judged))
    return rows


def error_rows(taken, judged):
    return [row_of(unit.name, unit,
                   stats.furthest_behind(unit.tables, unit.name,
                                         unit.units_of().get(unit.name, "us")),
                   targets.PEER_ERRORS, judged) for unit in taken]


def all_rivals(taken):
    """Returns the raw results: figure -> rival -> the medians of both."""
    found = {}
    for unit in taken:
        for rival, table in unit.tables.items():
            kept = table.kept(unit.name)
            if kept:
                found.setdefault(unit.name, {})[rival] = {
                    "value": statistics.median(one[1] for one in kept),
                    "other": statistics.median(one[2] for one in kept),
                    "behind": stats.behind(kept, unit.units_of()[unit.name]),
                    "kept": len(kept)}
    return found
