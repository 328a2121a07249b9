/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judges the shared object that a manifest names, without loading it: is it
 * there, inside the manifest's folder, ours, and made for this machine?
 */
#ifndef UCT_PLUGIN_LIBRARY_H
#define UCT_PLUGIN_LIBRARY_H

#include <limits.h>

#include "uct/plugin/elf.h"
#include "uct/plugin/trust.h"

/*
 * `folder` is the manifest's own, free of links. `path` gets the library's
 * name, free of links too, PATH_MAX bytes. `trust` NULL: not asked.
 */
ucs_status_t uct_plugin_check_library(const char *folder, const char *library,
                                      uct_trust_t *trust, unsigned trust_flags,
                                      char *path, uct_elf_t *elf,
                                      uct_refusal_t *refusal);

#endif
