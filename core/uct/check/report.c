/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of broken rules (findings), and the summary at the end of the
 * process. */
#include "uct/check/internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/debug/log.h"
#include "ucs/sys/math.h"

static int aborting; /* abort() after each finding */

void uct_check_start(int abort_at_finding)
{
    aborting = abort_at_finding;
}

/* Maximum number of different findings that are logged, and how often each of
 * them is logged. */
#define FINDINGS_MAX 128
#define REPEATS_MAX  3

/* A finding. The three texts identify it; they are compared by address. */
typedef struct finding {
    const char *who;    /* name of the transport or memory domain */
    const char *slot;   /* name of the slot that breaks the rule */
    const char *format; /* of the message */
    unsigned count;     /* number of reports */
} finding_t;

/* Counts a finding. Returns how often it was reported before; REPEATS_MAX if
 * the table is full, so that it is not logged. */
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

/* --- Summary -------------------------------------------------------------- */

#define SUBJECTS_MAX 64

static uct_check_subject_t subjects[SUBJECTS_MAX];
static unsigned num_subjects;

uct_check_subject_t *uct_check_subject(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    uct_check_subject_t *subject;

    pthread_mutex_lock(&lock);
    for (subject = subjects; subject < subjects + num_subjects; ++subject) {
        if (strncmp(subject->name, name, sizeof(subject->name) - 1) == 0) {
            goto out;
        }
    }
    if (num_subjects < SUBJECTS_MAX) {
        ++num_subjects;
        snprintf(subject->name, sizeof(subject->name), "%s", name);
    } else {
        --subject; /* the table is full: further names share the last entry */
    }
out:
    pthread_mutex_unlock(&lock);
    return subject;
}

/* Prints what was checked. Without this summary, a program that breaks no rule
 * and a program that was not checked print the same. */
static void __attribute__((destructor)) summarize(void)
{
    const uct_check_subject_t *subject;
    char text[256];
    size_t length;
    int rule;

    for (subject = subjects; subject < subjects + num_subjects; ++subject) {
        length  = 0;
        text[0] = '\0';
        for (rule = 1; rule < 64; ++rule) {
            if (subject->rules & UCS_BIT(rule)) {
                length += (size_t)snprintf(text + length, sizeof(text) - length,
                                           "%s%d",
                                           (length == 0) ? "; rules " : ", ",
                                           rule);
            }
        }
        if (subject->calls + subject->findings > 0) {
            ucs_print("plugin check: %s: %llu calls checked, %u findings%s",
                      subject->name, (unsigned long long)subject->calls,
                      subject->findings, text);
        }
    }
}

/* --- Reports -------------------------------------------------------------- */

void uct_check_report(const char *who, int rule, const char *slot,
                      const char *format, ...)
{
    uct_check_subject_t *subject = uct_check_subject(who);
    unsigned count               = count_finding(who, slot, format);
    char text[256];
    va_list ap;

    __atomic_fetch_add(&subject->findings, 1, __ATOMIC_RELAXED);
    __atomic_fetch_or(&subject->rules, UCS_BIT(rule), __ATOMIC_RELAXED);
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
