/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of checks, and how a check records its findings. Each check is in a
 * file of its own.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const check_t checks[] = {
    {"manifest", "the manifest is valid and usable", {24}, 0, check_manifest},
    {"library",
     "what the shared object exports, links and binds",
     {1, 2, 3},
     0,
     check_library},
    {"entry",
     "the entry point answers, rejects, and does nothing else",
     {4, 5, 6, 9, 23},
     0,
     check_entry},
    {"descriptor",
     "tables are complete, as declared, and constant",
     {6, 7, 10, 11, 24, 29},
     0,
     check_descriptor},
    {"domains",
     "memory domains open, tell the truth, register and close",
     {26, 10, 14, 25},
     0,
     check_domains},
    {"devices",
     "devices are listed as declared",
     {25, 10, 19},
     0,
     check_devices},
    {"managers",
     "connection managers open, listen and close",
     {26, 10, 16},
     0,
     check_managers},
    {"interface",
     "interfaces open side by side and close",
     {26, 8, 15, 25, 27},
     1,
     check_interface},
    {"attributes",
     "flags, limits and costs fit together and the manifest",
     {25, 10, 24},
     1,
     check_attributes},
    {"messages",
     "active messages of all sizes arrive as they were sent",
     {26, 13, 16, 18, 25, 30},
     1,
     check_messages},
    {"costs",
     "bandwidth and latency are about what is measured",
     {25},
     1,
     check_costs},
    {"pending",
     "requests wait for resources and are called back",
     {26, 13, 16, 20},
     1,
     check_pending},
    {"flush",
     "flush completes once, and after what it waits for",
     {26, 16, 30},
     1,
     check_flush},
    {"events", "an armed descriptor loses no wake-up", {26}, 1, check_events},
    {"addresses", "broken addresses are rejected", {17}, 1, check_addresses},
    {"keys", "broken remote keys are rejected", {17}, 0, check_keys},
    {"memory",
     "put and get move what they should",
     {26, 16, 25},
     1,
     check_memory},
    {"atomics", "atomics compute what they should", {26}, 1, check_atomics},
    {"copies", "a copier moves what it should", {28}, 1, check_copies},
    {"alive", "ep_check finds a living peer alive", {26, 16}, 1, check_alive},
    {"lost",
     "a lost peer is reported once and ends what waits",
     {18, 16},
     1,
     check_lost},
    {"network",
     "a network that loses, or goes silent, does no harm",
     {26, 16, 18, 30},
     0,
     check_network},
    {"teardown",
     "destroying with things outstanding is safe",
     {26, 16, 27},
     1,
     check_teardown},
    {"growth",
     "nothing grows over 100 rounds of open and close",
     {27},
     1,
     check_growth},
    {NULL, NULL, {0}, 0, NULL},
};

void check_fail(run_t *run, int rule, const char *format, ...)
{
    record_t *record = run->record;
    finding_t *finding;
    unsigned index;
    va_list ap;

    /* A peer process may record a finding at the same time */
    index = __atomic_fetch_add(&record->num_findings, 1, __ATOMIC_RELAXED);
    if (index >= CHECK_FINDINGS_MAX) {
        __atomic_store_n(&record->num_findings, CHECK_FINDINGS_MAX,
                         __ATOMIC_RELAXED);
        return; /* The first findings are sufficient */
    }

    finding       = &record->findings[index];
    finding->rule = rule;
    va_start(ap, format);
    vsnprintf(finding->text, sizeof(finding->text), format, ap);
    va_end(ap);
}

void check_skip(run_t *run, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(run->record->reason, sizeof(run->record->reason), format, ap);
    va_end(ap);
    run->record->skipped = 1;
}

void check_note(run_t *run, const char *format, ...)
{
    char *note    = run->record->note;
    size_t length = strlen(note);
    va_list ap;

    if ((length > 0) && (length + 3 < sizeof(run->record->note))) {
        memcpy(note + length, "; ", 3);
        length += 2;
    }

    va_start(ap, format);
    vsnprintf(note + length, sizeof(run->record->note) - length, format, ap);
    va_end(ap);
}

static void set_step(record_t *record, int rule, const char *format, va_list ap)
{
    vsnprintf(record->doing, sizeof(record->doing), format, ap);
    record->crash_rule = rule;
}

void check_doing(run_t *run, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    set_step(run->record, 0, format, ap);
    va_end(ap);
}

void check_doing_under(run_t *run, int rule, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    set_step(run->record, rule, format, ap);
    va_end(ap);
}

void check_give_up(run_t *run)
{
    run->record->finished = 1;
    _exit(0);
}

int check_has_failed(const run_t *run)
{
    return run->record->num_findings > 0;
}

const ucx_manifest_component_t *run_component(const run_t *run)
{
    return ucx_manifest_component(run->target->manifest,
                                  run->resource->component);
}

const ucx_manifest_transport_t *run_transport(const run_t *run)
{
    return ucx_manifest_transport(run_component(run), run->resource->tl);
}
