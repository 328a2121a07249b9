/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capabilities and the slots (function pointers in the plugin's tables of
 * operations) that implement them: sdk/ABI.md, "What belongs together".
 */
#ifndef CONFORMANCE_OFFERS_H
#define CONFORMANCE_OFFERS_H

#include "check.h"

#include <ucx/plugin.h>

/* Returns the transport under test from the plugin's own descriptor, in which
 * missing slots are NULL; the core's copy has them filled. Returns NULL if the
 * descriptor does not contain the transport. */
const ucx_transport_t *offers_transport(const run_t *run,
                                        const ucx_plugin_t *plugin);

/* Checks that each capability in `flags` (UCT_IFACE_FLAG_*) and `events`
 * (UCT_IFACE_FLAG_EVENT_*) has its slots. `who` begins the text of a finding,
 * for example "the manifest declares". */
void offers_check_slots(run_t *run, int rule, const char *who,
                        const ucx_transport_t *tl, uint64_t flags,
                        uint64_t events);

/* Rule 24: checks that the manifest declares each operation that has a slot. */
void offers_check_declared(run_t *run, const ucx_transport_t *tl,
                           const ucx_manifest_transport_t *declared);

#endif
