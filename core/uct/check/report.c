/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of broken rules. */
#include "uct/check/internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ucs/debug/log.h"

static int aborting; /* each finding ends the program */

void uct_check_start(int abort_at_finding)
{
    aborting = abort_at_finding;
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
    if (aborting) {
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
