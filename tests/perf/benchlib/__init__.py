# SPDX-License-Identifier: BSD-3-Clause
"""What `compare` and `portable` are made of. Read stats.py first: it holds
what counts and what is judged; alternate.py and rounds.py take the figures."""
