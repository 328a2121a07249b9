/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings. Programs set them by ucm_set_global_opts(). Before that, UCM reads
 * the environment, so that the variables also apply to a program that uses UCM
 * without UCT. core/uct/base/mem_events.c lists and checks the variables.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ucm/internal.h"

static ucm_global_config_t ucm_options = {
    .log_level                  = UCS_LOG_LEVEL_WARN,
    .enable_events              = 1,
    .mmap_hook_mode             = UCM_MMAP_HOOK_BISTRO,
    .enable_malloc_hooks        = 1,
    .enable_malloc_reloc        = 1,
    .cuda_hook_modes            = UCS_BIT(UCM_MMAP_HOOK_BISTRO),
    .enable_dynamic_mmap_thresh = 1,
    .alloc_alignment            = 16,
    .dlopen_process_rpath       = 1,
    .module_unload_prevent_mode = UCM_UNLOAD_PREVENT_MODE_LAZY,
};

static pthread_once_t ucm_options_once = PTHREAD_ONCE_INIT;

static int ucm_env_index(const char *name, const char *const *words, int value)
{
    const char *text = secure_getenv(name);
    int i;

    for (i = 0; (text != NULL) && (words[i] != NULL); ++i) {
        if (strcasecmp(text, words[i]) == 0) {
            return i;
        }
    }
    return value; /* invalid values are reported by
                   * core/uct/base/mem_events.c */
}

static int ucm_env_bool(const char *name, int value)
{
    static const char *const words[] = {"n",   "y",  "no",    "yes",  "0", "1",
                                        "off", "on", "false", "true", NULL};

    return ucm_env_index(name, words, value) & 1;
}

static void ucm_options_read(void)
{
    static const char *const levels[] = {"fatal", "error", "warn",  "diag",
                                         "info",  "debug", "trace", NULL};
    static const char *const modes[]  = {"none", "reloc", "bistro", NULL};
    static const char *const unload[] = {"lazy", "now", "none", NULL};
    ucm_global_config_t *opts         = &ucm_options;

    opts->log_level      = (ucs_log_level_t)ucm_env_index("UCX_MEM_LOG_LEVEL",
                                                          levels, opts->log_level);
    opts->enable_events  = ucm_env_bool("UCX_MEM_EVENTS", opts->enable_events);
    opts->mmap_hook_mode = (ucm_mmap_hook_mode_t)
        ucm_env_index("UCX_MEM_MMAP_HOOK_MODE", modes, opts->mmap_hook_mode);
    opts->enable_malloc_hooks  = ucm_env_bool("UCX_MEM_MALLOC_HOOKS",
                                              opts->enable_malloc_hooks);
    opts->enable_malloc_reloc  = ucm_env_bool("UCX_MEM_MALLOC_RELOC",
                                              opts->enable_malloc_reloc);
    opts->dlopen_process_rpath = ucm_env_bool("UCX_MEM_DLOPEN_PROCESS_RPATH",
                                              opts->dlopen_process_rpath);
    opts->module_unload_prevent_mode = (ucm_module_unload_prevent_mode_t)
        ucm_env_index("UCX_MEM_MODULE_UNLOAD_PREVENT_MODE", unload,
                      opts->module_unload_prevent_mode);
}

const ucm_global_config_t *ucm_opts(void)
{
    pthread_once(&ucm_options_once, ucm_options_read);
    return &ucm_options;
}

ucm_global_config_t *ucm_global_opts_get(void)
{
    (void)ucm_opts();
    return &ucm_options;
}

void ucm_set_global_opts(const ucm_global_config_t *ucm_opts_new)
{
    (void)ucm_opts(); /* reads the environment now: a later read would override
                       * the new values */
    memcpy(&ucm_options, ucm_opts_new, sizeof(ucm_options));
}
