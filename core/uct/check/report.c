/* SPDX-License-Identifier: BSD-3-Clause */
/* The variable UCX_PLUGIN_CHECK, and reports. */
#include "uct/check/internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ucs/config/config.h"
#include "ucs/debug/log.h"

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

static pthread_once_t once = PTHREAD_ONCE_INIT;
static check_mode_t mode;

static void read_mode(void)
{
    check_options_t options;

    if (ucs_config_read(&check_table, NULL, &options) == UCS_OK) {
        mode = (check_mode_t)options.mode;
        if (mode != CHECK_OFF) {
            ucs_info(
                "plugin check: enabled, broken rules are logged as errors");
        }
        ucs_config_release(&check_table, &options);
    }
}

int uct_check_enabled(void)
{
    pthread_once(&once, read_mode);
    return mode != CHECK_OFF;
}

#define FINDINGS_MAX 128
#define REPEATS_MAX  3

/* Findings that were reported. Texts are compared by address. */
typedef struct finding {
    const char *who;
    const char *slot;
    const char *format;
    unsigned count;
} finding_t;

/* Returns how often this finding was reported before, and counts it. */
static unsigned count_finding(const char *who, const char *slot,
                              const char *format)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static finding_t findings[FINDINGS_MAX];
    static unsigned num_findings;
    unsigned count = REPEATS_MAX;
    unsigned i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < num_findings; ++i) {
        if ((findings[i].who == who) && (findings[i].slot == slot) &&
            (findings[i].format == format)) {
            break;
        }
    }
    if (i < FINDINGS_MAX) {
        if (i == num_findings) {
            findings[num_findings++] = (finding_t){who, slot, format, 0};
        }
        count = findings[i].count++;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

void uct_check_report(const char *who, int rule, const char *slot,
                      const char *format, ...)
{
    unsigned count = count_finding(who, slot, format);
    char text[256];
    va_list ap;

    if (count < REPEATS_MAX) {
        va_start(ap, format);
        vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        ucs_error("plugin check: %s breaks rule %d of the plugin ABI: %s: %s%s",
                  who, rule, slot, text,
                  (count + 1 == REPEATS_MAX) ? " (not reported again)" : "");
    }
    if (mode == CHECK_ABORT) {
        abort();
    }
}

void uct_check_status(const char *who, const char *slot, ucs_status_t status)
{
    if (status > UCS_OK) {
        uct_check_report(who, 26, slot, "it returns %d, which is no error",
                         (int)status);
    }
}
