/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kind of machine this is, in the words that sections of ucx.conf and
 * listings use. Says nothing of devices: topo.h does.
 */
#ifndef UCS_MACHINE_H
#define UCS_MACHINE_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

#define UCS_MACHINE_TEXT_MAX 128

typedef enum ucs_machine_fact {
    UCS_MACHINE_CPU_VENDOR,   /* "Intel", "AMD", "Nvidia", ... */
    UCS_MACHINE_CPU_MODEL,    /* family of processors: "Skylake", "Grace" */
    UCS_MACHINE_PRODUCT_NAME, /* as the firmware has it */
    UCS_MACHINE_LAST
} ucs_machine_fact_t;

/** "CPU vendor", "CPU model", "Product name"; ended by NULL. */
extern const char *const ucs_machine_labels[];

/** The fact as text; "unknown" or "Generic" if nothing tells. */
const char *ucs_machine_get(ucs_machine_fact_t fact);

/**
 * Does the fact match a pattern with *, ? and [...]? A model also matches by
 * the name that the processor gives itself ("*EPYC 9*").
 */
int ucs_machine_matches(ucs_machine_fact_t fact, const char *pattern);

END_C_DECLS

#endif
