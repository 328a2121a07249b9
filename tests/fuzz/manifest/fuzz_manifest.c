/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: manifests, which are the files that describe plugins. Each input
 * is parsed as a manifest. The result must be either a manifest, or a rejection
 * with a code and a text of the reason.
 */
#include <stdlib.h>
#include <string.h>

#include "uct/plugin/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uct_rejection_t rejection = {UCT_REJECT_NONE, ""};
    uct_manifest_t *manifest;

    if (uct_manifest_parse((const char *)data, size, &manifest, &rejection) ==
        UCS_OK) {
        if ((manifest->name == NULL) || (rejection.code != UCT_REJECT_NONE)) {
            abort();
        }
        uct_manifest_free(manifest);
    } else if ((rejection.code == UCT_REJECT_NONE) ||
               (rejection.reason[0] == '\0')) {
        abort();
    }
    return 0;
}
