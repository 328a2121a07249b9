# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of `portable`: each operation over all sizes, with the
protocols that are selected by default, with those that variables force, and with
the distribution's UCX; and how many times worse the default is than the best."""

import statistics

from . import alternate, programs, protocols, stats, targets

SETS = ["posix", "posix,cma", "tcp"]
OPERATIONS = ["tag", "tag_bw", "am", "put", "get"]
LARGEST = 64 << 20
NEVER, ALWAYS = "1g", "1"  # thresholds above and below all measured sizes
LEAST_ROUNDS = 3
CHOSEN = "default"

MESSAGES = [
    ("buffered copy", ["UCX_RNDV_THRESH=inf", "UCX_ZCOPY_THRESH=" + NEVER]),
    ("zero-copy", ["UCX_RNDV_THRESH=inf", "UCX_ZCOPY_THRESH=" + ALWAYS]),
    ("rndv am", ["UCX_RNDV_THRESH=0", "UCX_RNDV_SCHEME=am"]),
    ("rndv get", ["UCX_RNDV_THRESH=0", "UCX_RNDV_SCHEME=get_zcopy"]),
    ("rndv put", ["UCX_RNDV_THRESH=0", "UCX_RNDV_SCHEME=put_zcopy"]),
]
MEMORY = [
    ("buffered copy", ["UCX_ZCOPY_THRESH=" + NEVER]),
    ("zero-copy", ["UCX_ZCOPY_THRESH=" + ALWAYS]),
]
WITHOUT = "without cma"
REFERENCE = "reference"
# From this size on, with several transports, the default protocol is selected by
# measurements at run time (core/ucp/learn): the output of UCX_PROTO_INFO shows
# only estimates.
LEARNT_FROM = 16384
ESTIMATED = ("estimated", ["UCX_PROTO_LEARN=n"])


class Setting:
    """One variant, before its protocols are compared with those of the others.
    `program`: the distribution's; None: ours."""

    def __init__(self, name, tls, settings, choices, program=None):
        self.name = name
        self.tls = tls
        self.settings = settings
        self.choices = choices
        self.program = program


class Sweep:
    """One operation over one set of transports."""

    def __init__(self, tls, op, settings, sizes):
        self.tls = tls
        self.op = op
        self.settings = settings  # the first is the default
        self.sizes = sizes
        self.unit = None

    def chosen(self):
        return self.settings[0]

    def differs(self, rival, size):
        """Returns whether the rival may use another protocol."""
        one = self.chosen().choices.at(self.op, size)
        other = rival.choices.at(self.op, size)
        return (rival.tls != self.tls or one is None or one != other or
                (learns(self.tls) and size >= LEARNT_FROM))


def learns(tls):
    return "," in tls


def settings_of(tls, op):
    """Returns [(name, tls, settings)]: the default and the forced protocols."""
    forced = MESSAGES if op in ("tag", "tag_bw", "tag_both", "am") else MEMORY
    found = [(name, tls, settings)
             for name, settings in [(CHOSEN, []), ESTIMATED] + forced]
    names = tls.split(",")
    if "cma" in names and learns(tls):
        rest = ",".join(name for name in names if name != "cma")
        found.append((WITHOUT, rest, []))
    return found


def sweep_args(op, sizes):
    return ["--sweep", op, "--sizes", ",".join(str(size) for size in sizes)]


def ask_choices(program, op, env):
    """Returns the protocols that the library selects, by UCX_PROTO_INFO."""
    env = dict(env, UCX_PROTO_INFO="y", UCX_LOG_FILE="stdout")
    text = programs.run_text([program, "--json", "--time", "1"] +
                             sweep_args(op, [8]), env)
    return protocols.parse(text)


def distinct(settings, op, sizes):
    """Removes settings that select the same protocols as an earlier one over the
    same transports. A default that is learnt at run time counts as different from
    all others."""
    kept = []
    for one in settings:
        others = kept[1:] if learns(one.tls) else kept
        if not any(one.tls == other.tls and protocols.same_everywhere(
                one.choices, other.choices, op, sizes) for other in others):
            kept.append(one)
    return kept


def plan(program, tls, op, path, extra, largest=LARGEST, reference=None):
    """Returns a sweep with its settings and sizes. `reference`: the program of
    the distribution's UCX, or None."""
    settings = []
    for name, names, forced in settings_of(tls, op):
        env = programs.environment(programs.with_self(names), extra + forced,
                                   path)
        settings.append(Setting(name, names, extra + forced,
                                ask_choices(program, op, env)))
    sizes = protocols.sizes_to_take(settings[0].choices, op, largest)
    settings = distinct(settings, op, sizes)
    if reference:
        settings.append(Setting(REFERENCE, tls, [], protocols.Choices({}),
                                reference))
    return Sweep(tls, op, settings, sizes)


def make_unit(sweep, path, settings, sizes, milliseconds):
    variants = [alternate.Variant(one.name, programs.environment(
        programs.with_self(one.tls), one.settings,
        "" if one.program else path), program=one.program)
        for one in settings]
    return alternate.Unit("%s %s" % (sweep.tls, sweep.op),
                          sweep_args(sweep.op, sizes), variants, milliseconds)


def rivals_at(sweep, unit, size):
    """Returns rival -> table for the rivals that may use another protocol at this
    size."""
    return {one.name: unit.tables[one.name] for one in sweep.settings[1:]
            if one.name in unit.tables and sweep.differs(one, size)}


def row_at(sweep, unit, size, judged):
    """Compares the default with the best rival for one size. None if no rival
    uses another protocol, or if too few rounds were kept."""
    name = "%s_%d" % (sweep.op, size)
    unit_text = unit.units_of().get(name)
    best = unit_text and stats.furthest_behind(
        rivals_at(sweep, unit, size), name, unit_text, LEAST_ROUNDS)
    if not best:
        return None
    rival, behind, kept = best
    against = next(one for one in sweep.settings if one.name == rival)
    way = against.choices.at(sweep.op, size)
    verdict = "met" if behind <= targets.PORTABLE else "missed"
    return {"tls": sweep.tls, "op": sweep.op, "size": size, "unit": unit_text,
            "chosen": sweep.chosen().choices.at(sweep.op, size) or "?",
            "against": rival if way is None else "%s: %s" % (rival, way),
            "rival": rival, "kept": len(kept), "behind": behind,
            "value": statistics.median(one[1] for one in kept),
            "other": statistics.median(one[2] for one in kept),
            "bound": targets.PORTABLE,
            "verdict": verdict if judged else stats.NO_JUDGEMENT,
            "rounds": [list(one) for one in kept]}


def rows_of(sweep, unit, sizes, judged):
    rows = (row_at(sweep, unit, size, judged) for size in sizes)
    return [row for row in rows if row]


def has_rival(sweep, size):
    return any(sweep.differs(one, size) for one in sweep.settings[1:])


def again(sweep, rows, path, milliseconds):
    """Returns a unit that measures the missed sizes once more, with the rivals
    that were better there; None if there are none. Of a thousand comparisons some
    miss by chance, so the second measurement decides."""
    missed = [row for row in rows if row["verdict"] == "missed"]
    if not missed:
        return None
    rivals = {row["rival"] for row in missed}
    settings = [one for number, one in enumerate(sweep.settings)
                if number == 0 or one.name in rivals]
    return make_unit(sweep, path, settings, [row["size"] for row in missed],
                     milliseconds)


def settle(rows, second):
    """Replaces rows by those of the second measurement, where there are any."""
    better = {(row["tls"], row["op"], row["size"]): row for row in second}
    return [better.get((row["tls"], row["op"], row["size"]), row)
            for row in rows]


def summary(sweep, rows):
    """Returns the summary of an operation: for how many sizes the default meets
    the target."""
    mine = [row for row in rows
            if row["tls"] == sweep.tls and row["op"] == sweep.op]
    worst = max(mine, key=lambda row: row["behind"], default=None)
    return {"tls": sweep.tls, "op": sweep.op, "sizes": len(sweep.sizes),
            "met": sum(row["verdict"] == "met" for row in mine),
            "missed": sum(row["verdict"] == "missed" for row in mine),
            "single": sum(not has_rival(sweep, size)
                          for size in sweep.sizes),
            "worst": worst["behind"] if worst else None,
            "worst_size": worst["size"] if worst else None}


def unjudged(sweep, rows):
    """Returns the sizes with several protocols but too few kept rounds."""
    seen = {row["size"] for row in rows
            if row["tls"] == sweep.tls and row["op"] == sweep.op}
    return [size for size in sweep.sizes
            if size not in seen and has_rival(sweep, size)]
