/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that is just enough for the plugin's code to run without a core. */
#ifndef TCP_FUZZ_HOST_H
#define TCP_FUZZ_HOST_H

#include "../../src/plugin.h"

extern const ucx_host_t fuzz_host;

/* What was to be called from the next progress of a worker. */
void fuzz_host_run_oneshots(void);

#endif
