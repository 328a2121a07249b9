/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of the machine, as sections of ucx.conf and listings name them.
 * For devices see topo.h.
 */
#ifndef UCS_MACHINE_H
#define UCS_MACHINE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

#define UCS_MACHINE_TEXT_MAX 128

typedef enum ucs_machine_fact {
    UCS_MACHINE_CPU_VENDOR,   /* "Intel", "AMD", "Nvidia", ... */
    UCS_MACHINE_CPU_MODEL,    /* family of processors: "Skylake", "Grace" */
    UCS_MACHINE_PRODUCT_NAME, /* from the firmware */
    UCS_MACHINE_LAST,
} ucs_machine_fact_t;

/** "CPU vendor", "CPU model", "Product name"; terminated by NULL. */
extern const char *const ucs_machine_labels[];

/** Returns the property as text; "unknown" or "Generic" if it cannot be
 *  determined. */
const char *ucs_machine_get(ucs_machine_fact_t fact);

/**
 * Returns whether the property matches a pattern with *, ? and [...]. A model
 * also matches by the processor's own name ("*EPYC 9*").
 */
int ucs_machine_matches(ucs_machine_fact_t fact, const char *pattern);

END_C_DECLS

#endif
