/* SPDX-License-Identifier: BSD-3-Clause */
/* A minimal host: the table of functions that the core otherwise passes to the
 * plugin. With it the plugin's code runs without the core. */
#ifndef TCP_FUZZ_HOST_H
#define TCP_FUZZ_HOST_H

#include "../../src/plugin.h"

extern const ucx_host_t fuzz_host;

/* Runs the calls queued for the next progress of a worker. */
void fuzz_host_run_oneshots(void);

#endif
