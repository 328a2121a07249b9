# SPDX-License-Identifier: BSD-3-Clause
"""The targets. Figure -> (relation, target) for the ratio ours / theirs. CLOSE as
a third member: only rounds in which the two cores share a cache count, because
memory between other cores is too slow for the target."""

from .stats import CLOSE, less_is_better

TCP = {
    "lat_8": ("<=", 0.9),
    "rate_8": (">=", 20.0),
    "bw_64k": (">=", 1.5),
    "bw_1m": (">=", 1.2),
    "worker_create": ("<=", 0.25),
    "ep_create": ("<=", 0.5),
    "get_1m": ("<=", 1 / 3),
    "put_1m": ("<=", 1 / 3),
}
SHM = {
    "uct_am_8": ("<=", 1.6),  # ratio to the floor of the same run
    "lat_8": ("<=", 0.45),
    "am_lat_8": ("<=", 0.45),
    "lat_64": ("<=", 0.7),
    "lat_256": ("<=", 0.7),
    "lat_1k": ("<=", 0.7),
    "lat_4k": ("<=", 0.7),
    "rate_8": (">=", 1.5),
    "rate_8_unexpected": (">=", 1.5),
    "get_8": ("<=", 0.5),
    "put_8": ("<=", 0.5),
    "get_1m": ("<=", 0.4),
    "put_1m": ("<=", 0.4),
    "worker_memory": ("<=", 0.25),
    "ep_memory": ("<=", 0.125),
    "ep_create": ("<=", 1 / 3),
    "ep_first": ("<=", 1 / 3),
    "alltoall": ("<=", 1.0),
    "alltoall_spin": ("<=", 1.0),
}
RING = {
    "bw_64k": (">=", 3.2, CLOSE),
    "bw_1m": (">=", 2.3, CLOSE),
    "bw_16m": (">=", 1.6, CLOSE),
}
CMA = {
    "bw_1m": (">=", 1.9),
    "bw_16m": (">=", 1.9),
}
START = {
    "start_all": ("<=", 1 / 3),
    "info_d": ("<=", 1 / 3),
    "plugins_list": ("<=", 1 / 3),
}

BEST = 1.10        # nothing set, against the best explicit UCX_TLS
EVERYTHING = 1.10  # 8 B with every plugin, against posix alone
PEER_ERRORS = 1.05
PORTABLE = 1.10    # the default, against every forced protocol and the reference

BASELINE = 1.03    # this build, against an earlier one

# The figures of `compare --best` and `compare --err-mode`.
CORE_FIGURES = ["lat_8", "lat_1k", "lat_64k", "lat_1m", "am_lat_8", "rate_8",
                "bw_64k", "bw_1m", "bw_16m", "get_8", "put_8", "get_1m",
                "put_1m"]


def of_baseline(table):
    """Returns the targets against an earlier build: for each figure that it has,
    without memcpy, which does not depend on the library."""
    return {name: ("<=", BASELINE) if less_is_better(entry["unit"]) else
            (">=", 1 / BASELINE) for name, entry in table.entries.items()
            if "theirs" not in entry["lacking"] and
            not name.startswith("memcpy_")}


def transports(tls):
    """Returns the transports of a UCX_TLS, with aliases replaced by theirs."""
    names = set(tls.split(","))
    if names & {"shm", "sm"}:
        names |= {"posix", "sysv", "cma"}
    return names


def of_transports(tls):
    """Returns the targets of a set of transports; none for an unknown one."""
    names = transports(tls)
    if names & {"posix", "sysv"}:
        return dict(SHM, **(CMA if "cma" in names else RING))
    return TCP if "tcp" in names else {}
