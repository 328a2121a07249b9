/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of this library (log, signal mode, warnings), read when it is
 * loaded. */
#include "ucs/config/config.h"

#include "ucs/debug/log.h"

ucs_global_opts_t ucs_global_opts = {
    .log_level            = UCS_LOG_LEVEL_WARN,
    .warn_unused_env_vars = 1,
};

static const ucs_config_field_t global_fields[] = {
    {"LOG_LEVEL", "warn",
     "Log messages up to this level. Level \"req\" and those after it log\n"
     "every operation, which is slow.",
     ucs_offsetof(ucs_global_opts_t, log_level),
     UCS_CONFIG_TYPE_ENUM(ucs_log_level_names), 0},
    {"LOG_FILE", "stderr",
     "Destination of messages: stdout, stderr or the path of a file. In a\n"
     "path %p, %h, %e, %u and %t are replaced by process id, host, program,\n"
     "user and time.",
     ucs_offsetof(ucs_global_opts_t, log_file), UCS_CONFIG_TYPE_STRING,
     UCS_CONFIG_FLAG_PATH},
    {"WARN_UNUSED_ENV_VARS", "y", "Warn about unknown UCX_ variables.",
     ucs_offsetof(ucs_global_opts_t, warn_unused_env_vars),
     UCS_CONFIG_TYPE_BOOL, 0},
    {"ASYNC_SIGNO", "0",
     "Signal for asynchronous events in signal mode; 0: the first real-time\n"
     "signal that is free. Other modes use no signal.",
     ucs_offsetof(ucs_global_opts_t, async_signo),
     UCS_CONFIG_TYPE_SIGNO_RANGE(0, 64), 0},
    {"CONFIG_DIR", "",
     "An additional folder for ucx.conf. Only the environment can set it.",
     ucs_offsetof(ucs_global_opts_t, config_dir), UCS_CONFIG_TYPE_STRING,
     UCS_CONFIG_FLAG_PATH},
    {NULL, NULL, NULL, 0, NULL, NULL, 0},
};

UCS_CONFIG_DEFINE_TABLE(global_table, "UCX services", "", global_fields,
                        ucs_global_opts_t)

/* Reads the options. If a value is invalid, ucs_config_read() logs it, and all
 * options get their defaults. */
static void UCS_F_CTOR global_opts_at_load(void)
{
    ucs_global_opts_t opts;

    if ((ucs_config_read(&global_table, NULL, &opts) != UCS_OK) &&
        (ucs_config_read_defaults(&global_table, &opts) != UCS_OK)) {
        return;
    }

    ucs_global_opts = opts;
    ucs_log_level_set((ucs_log_level_t)opts.log_level);
    ucs_log_file_set(opts.log_file);
}

static void UCS_F_DTOR global_opts_at_unload(void)
{
    ucs_config_release(&global_table, &ucs_global_opts);
}
