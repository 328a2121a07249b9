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
 * `folder` is the path of the manifest's folder, without symbolic links.
 * `library` is the path in the manifest, relative to that folder. On success
 * `path`, of PATH_MAX bytes, receives the library's absolute path without
 * links, and `elf` the properties of the file. If `trust` is NULL, owner and
 * permissions are not checked; otherwise `trust_flags` are UCT_TRUST_*. On
 * failure `rejection` (may be NULL) receives the reason.
 */
ucs_status_t uct_plugin_check_library(const char *folder, const char *library,
                                      uct_trust_t *trust, unsigned trust_flags,
                                      char *path, uct_elf_t *elf,
                                      uct_rejection_t *rejection);

#endif
