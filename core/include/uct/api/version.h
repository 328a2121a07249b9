/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version of the UCT programming interface that these headers describe. It is
 * independent of the versions of the library and of plugins.
 */
#ifndef UCT_API_VERSION_H_
#define UCT_API_VERSION_H_

/** Incremented when programs must be changed or recompiled. */
#define UCT_VERNO_MAJOR 1

/** Incremented when the interface is extended in a way that existing programs
 *  need not know. */
#define UCT_VERNO_MINOR 20

/** Incremented when a version only corrects errors. */
#define UCT_VERNO_PATCH 0
/** A suffix of the version, which may be empty. */
#define UCT_VERNO_EXTRA ""

/** The version as text. */
#define UCT_VERNO_STRING "1.20"

/** Positions of the numbers in a packed version; packed versions can be
 *  compared. */
#define UCT_MAJOR_BIT (24ul)
#define UCT_MINOR_BIT (16ul)

/** Packs a version for comparisons: `#if UCT_API >= UCT_VERSION(1, 17)`. */
#define UCT_VERSION(_major, _minor) \
    (((_major) << UCT_MAJOR_BIT) | ((_minor) << UCT_MINOR_BIT))

/** The interface version of these headers, packed by UCT_VERSION(). */
#define UCT_API UCT_VERSION(UCT_VERNO_MAJOR, UCT_VERNO_MINOR)

/** Branch and revision of the sources; unknown in the headers. */
#define UCT_SCM_BRANCH  "<unknown>"
#define UCT_SCM_VERSION "0000000"

#endif
