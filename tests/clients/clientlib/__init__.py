# SPDX-License-Identifier: BSD-3-Clause
"""What `run` is made of. Read rows.py first: what is run; job.py runs one and
judges it; namespaces.py is what surrounds it."""
