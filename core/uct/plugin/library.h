/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the shared object that a manifest names, without loading it: it
 * exists, is inside the manifest's folder, belongs to a trusted user, and is
 * built for this machine.
 */
#ifndef UCT_PLUGIN_LIBRARY_H
#define UCT_PLUGIN_LIBRARY_H

#include <limits.h>

#include "uct/plugin/elf.h"
#include "uct/plugin/trust.h"

/*
 * `folder` is the manifest's folder, without links. `path`, of PATH_MAX bytes,
 * receives the library's path without links. If `trust` is NULL, owner and
 * permissions are not checked.
 */
ucs_status_t uct_plugin_check_library(const char *folder, const char *library,
                                      uct_trust_t *trust, unsigned trust_flags,
                                      char *path, uct_elf_t *elf,
                                      uct_rejection_t *rejection);

#endif
