/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects profiles of programs and writes them to a file when the profile is
 * closed. Every event takes one lock of the profile: profiling is not for
 * production. */
#include <ucs/profile/profile_defs.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucs/debug/log.h"
#include "ucs/sys/sys.h"
#include "ucs/time/time.h"

#define PROFILE_NAME_MAX  64
#define PROFILE_DEPTH_MAX 64 /* maximum depth of nested scopes */
#define PROFILE_PATH_MAX  4096

/* A place in the program that reports events. */
typedef struct {
    ucs_profile_type_t type;
    const char *file; /* this and `function` are strings of the program, not
                       * copied */
    const char *function;
    int line;
    uint64_t count;   /* number of events */
    ucs_time_t total; /* ns, sum of the durations of scopes that end here */
    char name[PROFILE_NAME_MAX]; /* given by the program; may be truncated */
} location_t;

/* One event, in mode UCS_PROFILE_MODE_LOG. */
typedef struct {
    ucs_time_t time; /* ns since the profile was opened */
    pid_t tid;
    int location;     /* index in the array of locations */
    uint32_t param32; /* this and param64: given by the program */
    uint64_t param64;
} record_t;

/* The open scopes of a thread. */
typedef struct {
    pid_t tid;
    unsigned depth; /* number of open scopes; may exceed PROFILE_DEPTH_MAX */
    ucs_time_t begin[PROFILE_DEPTH_MAX]; /* when each began, outermost first */
} thread_t;

struct ucs_profile_context {
    unsigned mode; /* bits by UCS_PROFILE_MODE_*; 0: profiling is disabled */
    char path[PROFILE_PATH_MAX]; /* file to write */
    pthread_mutex_t lock;
    ucs_time_t start; /* when the profile was opened */
    location_t *locations;
    int num_locations;
    thread_t *threads;
    unsigned num_threads;
    record_t *records;  /* ring buffer of the last max_records events */
    size_t max_records; /* 0: events are not recorded */
    size_t num_records; /* events so far, including overwritten ones */
};

static const char *const type_names[] = {"sample",        "scope-begin",
                                         "scope-end",     "request-new",
                                         "request-event", "request-free"};

UCS_STATIC_ASSERT(ucs_static_array_size(type_names) == UCS_PROFILE_TYPE_LAST);

ucs_status_t ucs_profile_init(unsigned profile_mode, const char *file_name,
                              size_t max_file_size,
                              ucs_profile_context_t **ctx_p)
{
    ucs_profile_context_t *ctx;
    ucs_status_t status;

    if (profile_mode >> UCS_PROFILE_MODE_LAST) {
        return UCS_ERR_INVALID_PARAM;
    }

    ctx = calloc(1, sizeof(*ctx));
    if (ctx == NULL) {
        return UCS_ERR_NO_MEMORY;
    }

    status = ucs_fill_filename_template(file_name, ctx->path,
                                        sizeof(ctx->path));
    if (status != UCS_OK) {
        free(ctx);
        return status;
    }

    if (profile_mode & UCS_BIT(UCS_PROFILE_MODE_LOG)) {
        ctx->max_records = max_file_size / sizeof(*ctx->records);
        ctx->records     = calloc(ctx->max_records + 1, sizeof(*ctx->records));
        if (ctx->records == NULL) {
            free(ctx);
            return UCS_ERR_NO_MEMORY;
        }
    }

    ctx->mode = profile_mode;
    pthread_mutex_init(&ctx->lock, NULL);
    ctx->start = ucs_get_time();
    *ctx_p     = ctx;
    return UCS_OK;
}

static int location_is(const location_t *location, ucs_profile_type_t type,
                       const char *name, const char *file, int line)
{
    return (location->type == type) && (location->file == file) &&
           (location->line == line) &&
           !strncmp(location->name, name, PROFILE_NAME_MAX - 1);
}

/* Returns the index of a location, which is added if necessary; -1 if memory is
 * exhausted. `known`: the index that the caller has stored at an earlier event.
 * If it is from another profile, or negative because the program initializes
 * its variables with another value than 0, it is ignored. */
static int location_find(ucs_profile_context_t *ctx, ucs_profile_type_t type,
                         const char *name, const char *file, int line,
                         const char *function, int known)
{
    location_t *larger;
    int i;

    if ((known >= 0) && (known < ctx->num_locations) &&
        location_is(&ctx->locations[known], type, name, file, line)) {
        return known;
    }

    for (i = 0; i < ctx->num_locations; ++i) {
        if (location_is(&ctx->locations[i], type, name, file, line)) {
            return i;
        }
    }

    larger = realloc(ctx->locations, (size_t)(i + 1) * sizeof(*larger));
    if (larger == NULL) {
        return -1;
    }

    ctx->locations = larger;
    larger[i]      = (location_t){
             .type     = type,
             .file     = file,
             .function = function,
             .line     = line,
    };
    ucs_strncpy_zero(larger[i].name, name, sizeof(larger[i].name));
    ctx->num_locations = i + 1;
    return i;
}

static thread_t *thread_find(ucs_profile_context_t *ctx, pid_t tid)
{
    thread_t *larger;
    unsigned i;

    for (i = 0; i < ctx->num_threads; ++i) {
        if (ctx->threads[i].tid == tid) {
            return &ctx->threads[i];
        }
    }

    larger = realloc(ctx->threads, (i + 1) * sizeof(*larger));
    if (larger == NULL) {
        return NULL;
    }

    ctx->threads     = larger;
    larger[i].tid    = tid;
    larger[i].depth  = 0;
    ctx->num_threads = i + 1;
    return &larger[i];
}

/* Records the start or the end of a scope of the thread. At the end, returns
 * the scope's duration in ns; at the start, and if the duration is unknown,
 * returns 0. */
static ucs_time_t scope_time(ucs_profile_context_t *ctx,
                             ucs_profile_type_t type, pid_t tid, ucs_time_t now)
{
    thread_t *thread = thread_find(ctx, tid);

    if (thread == NULL) {
        return 0;
    }

    if (type == UCS_PROFILE_TYPE_SCOPE_BEGIN) {
        if (thread->depth < PROFILE_DEPTH_MAX) {
            thread->begin[thread->depth] = now;
        }
        ++thread->depth;
        return 0;
    }

    if (thread->depth == 0) {
        return 0; /* the scope began before this profile was opened */
    }

    --thread->depth;
    return (thread->depth < PROFILE_DEPTH_MAX) ?
               now - thread->begin[thread->depth] :
               0;
}

void ucs_profile_record(ucs_profile_context_t *ctx, ucs_profile_type_t type,
                        const char *name, uint32_t param32, uint64_t param64,
                        const char *file, int line, const char *function,
                        ucs_profile_loc_id_t *loc_id_p)
{
    ucs_time_t now = ucs_get_time(), time = 0;
    pid_t tid = ucs_get_tid();
    int location;

    if (ctx->mode == 0) {
        return;
    }

    pthread_mutex_lock(&ctx->lock);
    if ((type == UCS_PROFILE_TYPE_SCOPE_BEGIN) ||
        (type == UCS_PROFILE_TYPE_SCOPE_END)) {
        time = scope_time(ctx, type, tid, now);
    }

    location = location_find(ctx, type, name, file, line, function,
                             __atomic_load_n(loc_id_p, __ATOMIC_RELAXED));
    if (location >= 0) {
        __atomic_store_n(loc_id_p, location, __ATOMIC_RELAXED);
        ++ctx->locations[location].count;
        ctx->locations[location].total += time;
        if (ctx->max_records > 0) {
            ctx->records[ctx->num_records++ % ctx->max_records] =
                (record_t){now - ctx->start, tid, location, param32, param64};
        }
    }
    pthread_mutex_unlock(&ctx->lock);
}

static void write_locations(const ucs_profile_context_t *ctx, FILE *stream)
{
    const location_t *location;
    int with_totals = ctx->mode & UCS_BIT(UCS_PROFILE_MODE_ACCUM);
    int i;

    for (i = 0; i < ctx->num_locations; ++i) {
        location = &ctx->locations[i];
        fprintf(stream, "location %d %s %lu %lu %s:%d %s %s\n", i,
                type_names[location->type],
                with_totals ? (unsigned long)location->count : 0ul,
                with_totals ? (unsigned long)location->total : 0ul,
                location->file, location->line, location->function,
                location->name);
    }
}

static void write_records(const ucs_profile_context_t *ctx, FILE *stream)
{
    const record_t *record;
    size_t first = 0, i;

    if (ctx->num_records > ctx->max_records) {
        first = ctx->num_records - ctx->max_records;
    }

    fprintf(stream, "lost %zu\n", first);
    for (i = first; i < ctx->num_records; ++i) {
        record = &ctx->records[i % ctx->max_records];
        fprintf(stream, "record %lu %d %d %u %lu\n",
                (unsigned long)record->time, (int)record->tid, record->location,
                record->param32, (unsigned long)record->param64);
    }
}

static void write_file(const ucs_profile_context_t *ctx)
{
    FILE *stream = fopen(ctx->path, "we");
    int failed;

    if (stream == NULL) {
        ucs_warn("cannot write the profile %s: %s", ctx->path, strerror(errno));
        return;
    }

    fprintf(stream, "# profile of process %d on %s\n", (int)getpid(),
            ucs_get_host_name());
    write_locations(ctx, stream);
    write_records(ctx, stream);
    failed = ferror(stream);
    if ((fclose(stream) != 0) || failed) {
        ucs_warn("cannot write the profile %s: %s", ctx->path, strerror(errno));
    }
}

void ucs_profile_cleanup(ucs_profile_context_t *ctx)
{
    if (ctx->mode != 0) {
        write_file(ctx);
    }

    pthread_mutex_destroy(&ctx->lock);
    free(ctx->locations);
    free(ctx->threads);
    free(ctx->records);
    free(ctx);
}
