# SPDX-License-Identifier: BSD-3-Clause
"""Prints results as tables."""

from . import stats


def why_none(row):
    if row.get("lacking"):
        return "not offered by " + " and ".join(row["lacking"])
    if "close" in row.get("target", ""):
        return "no round kept: cores far, other work, or floors that differ"
    return "no round kept: other work, or floors that differ"


def verdict_text(row):
    return "%s: %s" % (row["target"], row["verdict"]) \
        if "target" in row else ""


def set_heading(one, versions):
    cores = "; cores " + one["cores"] if one["cores"] != "unknown" else ""
    return "ours %s, %s %s, %s: %d rounds, %d of them disturbed%s" % (
        versions["ours"], versions.get("other", "theirs"), versions["theirs"],
        "UCX_TLS=" + one["tls"] if one["tls"] else "nothing set",
        one["rounds"], one["disturbed"], cores)


def set_lines(one, versions):
    """Returns the lines that compare ours with theirs, for one UCX_TLS."""
    yield set_heading(one, versions)
    yield "%-19s %10s %10s %-5s %7s  %-17s %4s %6s  %s" % (
        "figure", "ours", versions.get("other", "theirs"), "", "ratio",
        "min .. max", "kept", "floor", "target")
    for row in one["figures"]:
        if not row["kept"]:
            yield "%-19s %s  %s" % (row["name"], why_none(row),
                                    verdict_text(row))
            continue
        yield ("%-19s %10.3f %10.3f %-5s %7.3f  %-17s %4d %6s  %s" % (
            row["name"], row["ours"], row["theirs"], row["unit"],
            row["ratio"], "%.3f .. %.3f" % (row["ratio_min"],
                                            row["ratio_max"]),
            row["kept"], "%.3f" % row["floor"] if "floor" in row else "-",
            verdict_text(row))).rstrip()


def startup_lines(one, versions):
    """Returns the lines for start-up, with the shortest time beside the
    median."""
    yield set_heading(one, versions)
    yield "%-13s %9s %9s %-3s %6s  %-15s %9s %9s %6s %4s  %s" % (
        "start-up", "ours", versions.get("other", "theirs"), "", "ratio",
        "min .. max", "shortest", versions.get("other", "theirs"), "ratio",
        "kept", "target")
    for row in one["figures"]:
        if not row["kept"]:
            yield "%-13s %s  %s" % (row["name"], why_none(row),
                                    verdict_text(row))
            continue
        yield ("%-13s %9.2f %9.2f %-3s %6.3f  %-15s %9.2f %9.2f %6.3f %4d  %s"
               % (row["name"], row["ours"], row["theirs"], row["unit"],
                  row["ratio"], "%.3f .. %.3f" % (row["ratio_min"],
                                                  row["ratio_max"]),
                  row["ours_min"], row["theirs_min"],
                  row["ours_min"] / row["theirs_min"], row["kept"],
                  verdict_text(row))).rstrip()


def behind_lines(heading, first, rows):
    """Returns the lines that compare the first variant with the best of the
    others."""
    yield heading
    yield "%-18s %10s %10s %-5s %7s  %-15s %4s  %-20s %s" % (
        "figure", first[:10], "best other", "", "behind", "min .. max", "kept",
        "which", "target")
    for row in rows:
        if not row["kept"]:
            yield "%-18s %s  %s" % (
                row["name"], "not offered" if row["verdict"] ==
                stats.NOT_OFFERED else "too few rounds kept: other work, or "
                "floors that differ", verdict_text(row))
            continue
        yield ("%-18s %10.3f %10.3f %-5s %7.3f  %-15s %4d  %-20s %s" % (
            row["name"], row["value"], row["other"], row["unit"],
            row["behind"], "%.3f .. %.3f" % (row["behind_min"],
                                             row["behind_max"]),
            row["kept"], row["against"], verdict_text(row))).rstrip()


def size_text(size):
    for limit, name in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= limit and size % limit == 0:
            return "%d%s" % (size // limit, name)
    return str(size)


def portable_lines(rows):
    """Returns the lines for the rows of `portable`, which are sorted."""
    yield "%-14s %-9s %8s  %-24s %10s  %-27s %10s %-4s %7s %4s  %s" % (
        "UCX_TLS", "operation", "size", "default", "", "better", "", "",
        "behind", "kept", "within %.2f" % rows[0]["bound"] if rows else "")
    for row in rows:
        yield ("%-14s %-9s %8s  %-24s %10.3f  %-27s %10.3f %-4s %7.3f %4d  %s" % (
            row["tls"], row["op"], size_text(row["size"]), row["chosen"][:24],
            row["value"], row["against"][:27], row["other"], row["unit"],
            row["behind"],
            row["kept"], "yes" if row["verdict"] == "met" else "no" if
            row["verdict"] == "missed" else "?")).rstrip()


def portable_summary(groups):
    yield "%-14s %-9s %6s %6s %6s %8s  %s" % (
        "UCX_TLS", "operation", "sizes", "within", "not", "one way", "worst")
    for group in groups:
        worst = "%.3f at %s" % (group["worst"],
                                size_text(group["worst_size"])) \
            if group["worst"] else "-"
        yield "%-14s %-9s %6d %6d %6d %8d  %s" % (
            group["tls"], group["op"], group["sizes"], group["met"],
            group["missed"], group["single"], worst)


def print_all(lines):
    for line in lines:
        print(line)
    print()
