/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capabilities and the slots that implement them: ABI.md, "What belongs
 * together".
 */
#ifndef CONFORMANCE_OFFERS_H
#define CONFORMANCE_OFFERS_H

#include "check.h"

#include <ucx/plugin.h>

/* Returns the transport that is under test in the plugin's own descriptor, in
 * which missing slots are NULL; NULL if there is none. */
const ucx_transport_t *offers_transport(const run_t *run,
                                        const ucx_plugin_t *plugin);

/* Checks that each capability in `flags` and `events` has its slots. `who` is
 * the subject of the finding: "the manifest declares". */
void offers_check_slots(run_t *run, int rule, const char *who,
                        const ucx_transport_t *tl, uint64_t flags,
                        uint64_t events);

/* Rule 24: checks that the manifest declares each operation that has a slot. */
void offers_check_declared(run_t *run, const ucx_transport_t *tl,
                           const ucx_manifest_transport_t *declared);

#endif
