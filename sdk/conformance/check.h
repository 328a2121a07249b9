/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structures of checks: a check, its input, and the record of its findings.
 * Each check runs in a process of its own, so that a plugin that crashes or
 * hangs fails only that check.
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <limits.h>

#include <uct/api/uct.h>

#include <ucx/inspect.h>

#define CHECK_FINDINGS_MAX 12
#define CHECK_TEXT_MAX     400
#define CHECK_RULES_MAX    8
#define RESOURCES_MAX      128

/* Used in a finding instead of the number of a rule: the check exceeded its
 * time limit. The cause may be the plugin or a busy machine. */
#define CHECK_TIME_LIMIT 0

static inline size_t size_min(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
    return (a > b) ? a : b;
}

typedef enum check_outcome {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED, /* Not executed, for a reason in the record: for example, the
                    * plugin lacks what the check tests, or has no device */
} check_outcome_t;

/* A transport on a device, on which one interface is opened. */
typedef struct resource {
    char component[UCT_COMPONENT_NAME_MAX];
    char md[UCT_MD_NAME_MAX];
    char tl[UCT_TL_NAME_MAX];
    char dev[UCT_DEVICE_NAME_MAX];
    uct_device_type_t type;
} resource_t;

/* The plugin under test. */
typedef struct target {
    char path[PATH_MAX];        /* Path of the manifest, with links resolved */
    char folder[PATH_MAX];      /* Folder of the manifest */
    char library[2 * PATH_MAX]; /* Path of the shared object */
    const ucx_manifest_t *manifest;   /* NULL: the manifest is not valid */
    char why_invalid[CHECK_TEXT_MAX]; /* Reason if `manifest` is NULL */
} target_t;

typedef struct finding {
    int rule; /* Number of the rule in sdk/ABI.md, or CHECK_TIME_LIMIT */
    char text[CHECK_TEXT_MAX];
} finding_t;

/* Record of a check, in memory shared with the reporting process. */
typedef struct record {
    unsigned num_findings; /* Entries of `findings` that are used */
    finding_t findings[CHECK_FINDINGS_MAX];
    int skipped;
    char reason[CHECK_TEXT_MAX]; /* Why the check was skipped */
    char note[CHECK_TEXT_MAX];   /* Remarks that are not findings */
    char doing[CHECK_TEXT_MAX];  /* The current step; shown if the check crashes
                                  * or hangs */
    int crash_rule;              /* Rule under which a crash in the current step
                                  * is reported; 0: the check's first rule */
    int finished;                /* 0: the process of the check ended early */
    double seconds;              /* Duration of the check */
    _Atomic uint64_t tosses; /* Counter that the process of check_costs.c and
                              * its peer process increment in turn */
    /* Result of list_resources() */
    unsigned num_resources;
    resource_t resources[RESOURCES_MAX];
} record_t;

typedef struct run {
    const target_t *target;
    const resource_t *resource; /* NULL: the check is about the whole plugin */
    record_t *record;
    double notice;    /* Seconds within which the loss of a peer must be
                       * reported */
    double tolerance; /* Factor by which messages may take longer than the costs
                       * that the interface states plus those of this machine
                       * (check_costs.c) */
    double keepalive; /* Keepalive interval of interfaces that the check opens,
                       * in seconds; 0: the default of the transport */
    int peer_host;    /* Descriptor of the network namespace that the peer
                       * process enters; 0: it stays in that of the check */
} run_t;

typedef struct check {
    const char *name;
    const char *title;
    int rules[CHECK_RULES_MAX]; /* Terminated by 0; a crash is reported under
                                 * the first rule, unless record_t.crash_rule is
                                 * set */
    int per_resource;           /* 1: run for each transport on each device;
                                 * 0: run once */
    void (*run)(run_t *run);
} check_t;

/* All checks, in the order of execution; terminated by an entry without a
 * name. */
extern const check_t checks[];

/* Stores the plugin's resources in the record. If the plugin cannot be loaded
 * or listed, records a finding, or marks the check as skipped if hardware or
 * software that the plugin needs is missing. */
void list_resources(run_t *run);

/* Records a finding, up to CHECK_FINDINGS_MAX of them; the check may
 * continue. */
void check_fail(run_t *run, int rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Marks the check as skipped, with the reason. */
void check_skip(run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a remark to the note of the record. */
void check_note(run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Describes the next step; shown if the process crashes or hangs in it. */
void check_doing(run_t *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Describes the next step; a crash in it is reported under `rule`. */
void check_doing_under(run_t *run, int rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int check_has_failed(const run_t *run);
/* Ends the process: the plugin's state does not allow further checks. */
void check_give_up(run_t *run) __attribute__((noreturn));

/* Records a finding under `rule` and returns 0 if the condition is false. */
#define check_that(_run, _rule, _condition, ...) \
    ((_condition) ? 1 : (check_fail(_run, _rule, __VA_ARGS__), 0))

/* Return the manifest's entries for the component and the transport of
 * run->resource; never NULL for a resource from list_resources(). */
const ucx_manifest_component_t *run_component(const run_t *run);
const ucx_manifest_transport_t *run_transport(const run_t *run);

/* Functions of the checks; the head of each file describes what it tests. */
void check_manifest(run_t *run);
void check_library(run_t *run);
void check_entry(run_t *run);
void check_descriptor(run_t *run);
void check_domains(run_t *run);
void check_devices(run_t *run);
void check_managers(run_t *run);
void check_interface(run_t *run);
void check_attributes(run_t *run);
void check_messages(run_t *run);
void check_costs(run_t *run);
void check_pending(run_t *run);
void check_flush(run_t *run);
void check_events(run_t *run);
void check_addresses(run_t *run);
void check_keys(run_t *run);
void check_memory(run_t *run);
void check_atomics(run_t *run);
void check_copies(run_t *run);
void check_alive(run_t *run);
void check_lost(run_t *run);
void check_network(run_t *run);
void check_teardown(run_t *run);
void check_growth(run_t *run);

#endif
