/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version of the UCT programming interface that these headers describe. It is
 * the interface's version, not that of the library or of any plugin.
 */
#ifndef UCT_API_VERSION_H_
#define UCT_API_VERSION_H_

/** Changes when programs have to be rewritten or recompiled. */
#define UCT_VERNO_MAJOR 1

/** Grows when something is added that older programs need not know. */
#define UCT_VERNO_MINOR 20

/** Grows when only mistakes were mended, and what stands behind that. */
#define UCT_VERNO_PATCH 0
#define UCT_VERNO_EXTRA ""

/** The numbers as text. */
#define UCT_VERNO_STRING "1.20"

/** From which bit on the numbers stand in one that compares in version order. */
#define UCT_MAJOR_BIT (24ul)
#define UCT_MINOR_BIT (16ul)

/** Packs two numbers so: `if UCT_API >= UCT_VERSION(1, 17)`. */
#define UCT_VERSION(_major, _minor) \
    (((_major) << UCT_MAJOR_BIT) | ((_minor) << UCT_MINOR_BIT))

/** The interface version of these headers, packed by UCT_VERSION(). */
#define UCT_API UCT_VERSION(UCT_VERNO_MAJOR, UCT_VERNO_MINOR)

/** Branch and revision of the sources; headers alone do not know them. */
#define UCT_SCM_BRANCH  "<unknown>"
#define UCT_SCM_VERSION "0000000"

#endif
