# SPDX-License-Identifier: BSD-3-Clause
"""What the command lines of `compare` and `portable` have in common."""

import os

from . import machine, programs
from .programs import EXIT_NO_JUDGEMENT, Failure


def add_common(parser, here):
    parser.add_argument("--build", default=os.path.join(here, "../../build"),
                        help="build folder, configured with buildtype release"
                        " or debugoptimized (build)")
    parser.add_argument("--plugins", metavar="PATH", help="where ours finds "
                        "plugins (those of the build folder)")
    parser.add_argument("--env", action="append", default=[],
                        metavar="NAME=VALUE", help="for ours; may be repeated."
                        " Nothing else of UCX_ is passed on")
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE",
                        help="all results to FILE, or instead of the tables "
                        "to standard output")
    parser.add_argument("--picture", metavar="FILE", help="the picture, as "
                        "SVG (in the build folder, under tests/perf)")
    parser.add_argument("--force", action="store_true",
                        help="a first look on a busy machine, without verdicts")


def plugins_of(options):
    """Returns the plugin path of this library."""
    return options.plugins or os.environ.get("UCX_PLUGIN_PATH") or \
        programs.plugin_path(options.build)


def output_folder(build):
    return os.path.normpath(os.path.join(build, "tests", "perf"))


def check_machine(force):
    """Raises Failure if other programs use the machine (unless force), or if
    there are fewer than two cores."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Failure("two cores are needed", EXIT_NO_JUDGEMENT)
    load = machine.load()
    if load > machine.FOREIGN_LIMIT and not force:
        raise Failure("other work uses %.0f %% of the machine; figures would "
                      "mean nothing. Stop it, or use --force for a first look."
                      % (load * 100), EXIT_NO_JUDGEMENT)
