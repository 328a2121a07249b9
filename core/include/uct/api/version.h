/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Version of the UCT programming interface that these headers describe. It is
 * the interface's version, not that of the library or of any plugin.
 */
#ifndef UCT_API_VERSION_H_
#define UCT_API_VERSION_H_

/** Changes when programs have to be rewritten or recompiled. */
#define UCT_VERNO_MAJOR  1

/** Grows when something is added that older programs need not know. */
#define UCT_VERNO_MINOR  20

/** Both numbers as text. */
#define UCT_VERNO_STRING "1.20"

#endif
