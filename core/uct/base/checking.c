/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX_PLUGIN_CHECK: loads the library uct-check, which checks that plugins
 * obey the rules of the ABI (uct/check). */
#include "uct/base/checking.h"

#include <dlfcn.h>
#include <pthread.h>

#include "ucs/config/config.h"
#include "ucs/debug/log.h"

/* The library of the checking layer (uct/check). The dynamic loader searches it
 * in the run path of libuct-core, which contains the folder of libuct-core and
 * its subfolder ucx. */
#define CHECK_LIBRARY "uct-check.so." UCT_SOVERSION

typedef enum check_mode {
    CHECK_OFF,
    CHECK_ON,
    CHECK_ABORT,
} check_mode_t;

static const char *const mode_names[] = {"n", "y", "abort", NULL};

typedef struct check_options {
    unsigned mode;
} check_options_t;

static const ucs_config_field_t check_fields[] = {
    {"PLUGIN_CHECK", "n",
     "Check the plugins of this program against the rules of the plugin ABI\n"
     "(sdk/ABI.md), and report each broken rule with its number.\n"
     "n     - no checks, no cost\n"
     "y     - log an error\n"
     "abort - log an error and end the program with a core dump",
     offsetof(check_options_t, mode), UCS_CONFIG_TYPE_ENUM(mode_names), 0},
    {NULL},
};

UCS_CONFIG_DEFINE_TABLE(check_table, "Checks of plugins", "", check_fields,
                        check_options_t)

const uct_check_layer_t *uct_checks;

static const uct_check_layer_t *linked; /* set by uct_checks_set(), or NULL */

/* Loads the library and returns its table, or NULL. The library stays loaded,
 * because the tables of checked plugins point to its functions. */
static const uct_check_layer_t *open_library(void)
{
    const uct_check_layer_t *layer = NULL;
    void *library                  = dlopen(CHECK_LIBRARY, RTLD_NOW);

    if (library != NULL) {
        layer = dlsym(library, "ucx_check_layer");
    }
    if (layer == NULL) {
        ucs_error("plugin check: plugins are not checked, %s cannot be loaded: "
                  "%s; it is installed with libuct-core",
                  CHECK_LIBRARY, dlerror());
    } else if (layer->size != sizeof(*layer)) {
        ucs_error("plugin check: plugins are not checked, %s is not of the "
                  "same version as libuct-core; install both again",
                  CHECK_LIBRARY);
        layer = NULL;
    }
    return layer;
}

static void load(void)
{
    check_options_t options;

    if (ucs_config_read(&check_table, NULL, &options) != UCS_OK) {
        return;
    }
    if (options.mode != CHECK_OFF) {
        uct_checks = (linked != NULL) ? linked : open_library();
    }
    if (uct_checks != NULL) {
        uct_checks->start(options.mode == CHECK_ABORT);
        ucs_info("plugin check: enabled, broken rules are logged as errors");
    }
    ucs_config_release(&check_table, &options);
}

void uct_checks_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
}

void uct_checks_set(const uct_check_layer_t *layer)
{
    linked = layer;
}
