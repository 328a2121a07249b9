# SPDX-License-Identifier: BSD-3-Clause
"""The modules of `run`. Read rows.py first: it has the list of jobs; job.py runs
one and checks its result; namespaces.py isolates it."""
