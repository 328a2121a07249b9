# SPDX-License-Identifier: BSD-3-Clause
"""The modules of `compare` and `portable`. "Ours" is this library, "theirs" the
distribution's UCX or an earlier build. A figure is one measured value. Read
stats.py first: it selects the valid rounds and compares with the targets;
alternate.py and rounds.py measure."""
