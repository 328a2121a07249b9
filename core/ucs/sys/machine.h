/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of the machine: they are the conditions of sections in ucx.conf,
 * and "ucx_info -s" prints them. For devices see ucs/host/topo.h.
 */
#ifndef UCS_MACHINE_H
#define UCS_MACHINE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

#define UCS_MACHINE_TEXT_MAX 128

typedef enum ucs_machine_fact {
    UCS_MACHINE_CPU_VENDOR,   /* "Intel", "AMD", "Nvidia", ... */
    UCS_MACHINE_CPU_MODEL,    /* family of processors: "Skylake", "Grace" */
    UCS_MACHINE_PRODUCT_NAME, /* of the computer, from its firmware */
    UCS_MACHINE_LAST,
} ucs_machine_fact_t;

/** Names of the properties ("CPU vendor"), indexed by ucs_machine_fact_t and
 *  terminated by NULL. */
extern const char *const ucs_machine_labels[];

/** Returns the property as text; "unknown" or "Generic" if it cannot be
 *  determined. */
const char *ucs_machine_get(ucs_machine_fact_t fact);

/**
 * Returns whether the property matches a pattern with *, ? and [...]. For
 * UCS_MACHINE_CPU_MODEL, the pattern may also match the full name of the
 * processor in /proc/cpuinfo ("*EPYC 9*").
 */
int ucs_machine_matches(ucs_machine_fact_t fact, const char *pattern);

END_C_DECLS

#endif
