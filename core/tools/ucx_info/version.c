/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_info -v: version of the library and of its interfaces. The library's
 * version is queried; the headers are those of this build, which may differ.
 */
#include "info.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp_version.h>
#include <ucx/plugin.h>

#include "build_config.h"
#include "revision.h"

#define NUMBER_PAIR(_major, _minor) \
    UCS_PP_MAKE_STRING(_major) "." UCS_PP_MAKE_STRING(_minor)

/* Returns the file from which the library's code was loaded. */
static json_t *library_path(void)
{
    /* converted by an integer, because C does not convert function pointers to
     * data pointers */
    uintptr_t address = (uintptr_t)ucp_get_version;
    Dl_info found;
    json_t *path;
    char *real;

    if (!dladdr((const void *)address, &found) || (found.dli_fname == NULL)) {
        return json_null();
    }
    real = realpath(found.dli_fname, NULL);
    path = json_text((real == NULL) ? found.dli_fname : real);
    free(real);
    return path;
}

int info_version_ask(info_t *info, json_t **answer_p)
{
    *answer_p = json_pack(
        "{s:s, s:o, s:s, s:s, s:s, s:s}", "library", ucp_get_version_string(),
        "path", library_path(), "api",
        NUMBER_PAIR(UCP_API_MAJOR, UCP_API_MINOR), "plugin_abi",
        NUMBER_PAIR(UCX_PLUGIN_ABI_MAJOR, UCX_PLUGIN_ABI_MINOR), "revision",
        INFO_REVISION, "configured_with", INFO_CONFIGURED_WITH);
    return (*answer_p == NULL) ? INFO_BAD : INFO_OK;
}

void info_version_print(const info_t *info, const json_t *answer)
{
    printf("# Library version: %s\n", info_text(answer, "library"));
    printf("# Library path: %s\n", info_text(answer, "path"));
    printf("# API headers version: %s\n", info_text(answer, "api"));
    printf("# Plugin ABI version: %s\n", info_text(answer, "plugin_abi"));
    printf("# Git revision: %s\n", info_text(answer, "revision"));
    printf("# Configured with: %s\n", info_text(answer, "configured_with"));
}
