# SPDX-License-Identifier: BSD-3-Clause
"""A table of the results on both libraries, as Markdown: a line for each program
and MPI, a column for each library. Failures are listed with their reasons."""

LIBRARIES = {"core": "ours", "reference": "reference"}


def shape(row):
    words = [f"{row.ranks} ranks"] if row.ranks else []
    return " ".join(words + ([row.transports] if row.transports else []))


def cell(results, library):
    """Returns the text for the rows of a program with one MPI and library."""
    outcomes = [(row, *outcome[library]) for row, outcome in results
                if library in outcome]
    if not outcomes:
        return "-"
    failed = [(row, why) for row, why, _ in outcomes if why is not None]
    count = f"{len(outcomes) - len(failed)} of {len(outcomes)}"
    if not failed:
        return count
    # list rows with the same reason together
    reasons = {}
    for row, why in failed:
        reasons.setdefault(why, []).append(shape(row))
    return count + ": " + "; ".join(
        f"{', '.join(filter(None, shapes))} **{why}**"
        for why, shapes in reasons.items())


def lines_of(results):
    groups    = list(dict.fromkeys(row.group for row, _ in results))
    programs  = list(dict.fromkeys(row.program for row, _ in results))
    libraries = [name for name in LIBRARIES
                 if any(name in outcome for _, outcome in results)]
    yield ("| program | MPI | "
           + " | ".join(LIBRARIES[name] for name in libraries) + " |")
    yield "|---" * (2 + len(libraries)) + "|"
    for program in programs:
        for group in groups:
            mine = [(row, outcome) for row, outcome in results
                    if (row.program, row.group) == (program, group)]
            if any(outcome for _, outcome in mine):
                yield f"| {program} | {group} | " + " | ".join(
                    cell(mine, name) for name in libraries) + " |"


def write(path, results):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines_of(results)) + "\n")
