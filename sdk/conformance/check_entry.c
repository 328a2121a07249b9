/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules 4, 5, 6, 9 and 23 of sdk/ABI.md: calls the plugin's entry point without
 * the core. It must accept supported versions and reject others with a reason.
 * It must return quickly and must not leave anything open, start threads,
 * print, or call services that are for later use. Two copies of the core must
 * get independent descriptors.
 */
#include "check.h"
#include <ucx/inspect.h>
#include "guard.h"
#include "stretch.h"
#include "usage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucs/config/types.h>
#include <ucx/plugin.h>

#define ENTRY_SECONDS_MAX (0.1 * STRETCH_SLOWNESS)
#define ENTRY_TRIES       5
#define FDS_MAX           256

/* Bytes that are appended to a table to simulate a newer minor version of the
 * ABI, whose tables have more members. */
#define NEWER_MEMBERS 64

/* Set by the services below, to find out which ones the entry point calls. */
static const char *asked_service; /* The last service; NULL: none */
static int logged;                /* Non-zero: log() was called */

static int entry_log_level = UCS_LOG_LEVEL_INFO;

static void __attribute__((format(printf, 4, 5)))
note_log(int level, const char *file, int line, const char *format, ...)
{
    logged = 1;
}

static ucs_status_t note_mpool_create(const ucx_mpool_params_t *params,
                                      ucx_mpool_t **mpool_p)
{
    asked_service = "mpool_create";
    return UCS_ERR_NO_MEMORY;
}

static ucs_status_t note_rcache_create(const ucx_rcache_params_t *params,
                                       ucx_rcache_t **rcache_p)
{
    asked_service = "rcache_create";
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t note_async_add_fd(uct_worker_h worker, int fd, int events,
                                      ucx_async_fd_cb_t cb, void *arg,
                                      ucx_async_id_t *id_p)
{
    asked_service = "async_add_fd";
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t note_async_add_timer(uct_worker_h worker, double interval,
                                         ucx_async_timer_cb_t cb, void *arg,
                                         ucx_async_id_t *id_p)
{
    asked_service = "async_add_timer";
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t note_mem_event_subscribe(unsigned events,
                                             ucx_mem_event_cb_t cb, void *arg)
{
    asked_service = "mem_event_subscribe";
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_t note_mem_detect(const void *address, size_t length,
                                    ucx_mem_info_t *info)
{
    asked_service = "mem_detect";
    return UCS_ERR_UNSUPPORTED;
}

static ucx_host_t make_host(void)
{
    ucx_host_t host = *ucx_inspect_host();

    host.log_level           = &entry_log_level;
    host.log                 = note_log;
    host.mpool_create        = note_mpool_create;
    host.rcache_create       = note_rcache_create;
    host.async_add_fd        = note_async_add_fd;
    host.async_add_timer     = note_async_add_timer;
    host.mem_event_subscribe = note_mem_event_subscribe;
    host.mem_detect          = note_mem_detect;
    return host;
}

/* State around one call of the entry point. */
typedef struct entry_test {
    run_t *run;
    ucx_plugin_entry_t entry;
    guard_t args_guard, host_guard;
    char reason[256];
    size_t extra; /* Bytes that the next call appends to both tables: 0 or
                   * NEWER_MEMBERS */
    const ucx_plugin_t *plugin;
} entry_test_t;

static ucs_status_t call_entry(entry_test_t *test, uint32_t abi_min,
                               uint32_t abi_max)
{
    struct {
        ucx_host_t table;
        char members_of_tomorrow[NEWER_MEMBERS];
    } host = {.table = make_host()};
    struct {
        ucx_plugin_args_t table;
        char members_of_tomorrow[NEWER_MEMBERS];
    } args = {
        .table =
            {
                .abi_min     = abi_min,
                .abi_max     = abi_max,
                .directory   = test->run->target->folder,
                .reason      = test->reason,
                .reason_size = sizeof(test->reason) / 2,
            },
    };

    host.table.size += test->extra;
    host.table.abi  = abi_max;
    args.table.size = sizeof(args.table) + test->extra;
    args.table.host = guard_place(&test->host_guard, &host, host.table.size);
    memset(test->reason, 0, sizeof(test->reason));
    memset(test->reason + sizeof(test->reason) / 2, 0x5a,
           sizeof(test->reason) / 2);
    test->plugin = NULL;
    return test->entry(guard_place(&test->args_guard, &args, args.table.size),
                       &test->plugin);
}

static void finish_plugin(entry_test_t *test)
{
    if ((test->plugin != NULL) && UCX_TABLE_HAS(test->plugin, fini) &&
        (test->plugin->fini != NULL)) {
        check_doing(test->run, "calling fini()");
        test->plugin->fini();
    }
}

/* Calls the entry point with a version range that the plugin supports. */
static void expect_answer(entry_test_t *test, uint32_t abi_max,
                          const char *what)
{
    ucs_status_t status;

    check_doing(test->run, "calling the entry point for %s", what);
    status = call_entry(test, UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, 0), abi_max);
    test->reason[sizeof(test->reason) / 2 - 1] = '\0';
    if (status == UCS_ERR_NO_DEVICE) {
        check_note(test->run, "it finds nothing to drive here: %.200s",
                   test->reason);
    } else if (check_that(test->run, 5, status == UCS_OK,
                          "for %s it answers %s, \"%.100s\"", what,
                          ucs_status_string(status), test->reason)) {
        check_that(test->run, 7, test->plugin != NULL,
                   "for %s it answers UCS_OK without a descriptor", what);
    }
}

/* Calls the entry point with a version range that no plugin of this version
 * supports. */
static void expect_rejection(entry_test_t *test, uint32_t abi_min,
                             uint32_t abi_max)
{
    char what[64];
    ucs_status_t status;
    size_t i, half = sizeof(test->reason) / 2;

    snprintf(what, sizeof(what), "a core of ABI %u.%u to %u.%u",
             UCX_PLUGIN_ABI_MAJOR_OF(abi_min), UCX_PLUGIN_ABI_MINOR_OF(abi_min),
             UCX_PLUGIN_ABI_MAJOR_OF(abi_max),
             UCX_PLUGIN_ABI_MINOR_OF(abi_max));
    check_doing(test->run, "calling the entry point for %s", what);
    status = call_entry(test, abi_min, abi_max);
    if (!check_that(test->run, 4, status != UCS_OK,
                    "it takes %s, which it cannot speak", what)) {
        finish_plugin(test);
        return;
    }

    check_that(test->run, 4, memchr(test->reason, '\0', half) != NULL,
               "the reason for rejecting %s has no end", what);
    check_that(test->run, 4, test->reason[0] != '\0',
               "it rejects %s without a reason for a person", what);
    for (i = half; i < sizeof(test->reason); ++i) {
        if (test->reason[i] != 0x5a) {
            check_fail(test->run, 6,
                       "the reason for rejecting %s was written "
                       "beyond reason_size",
                       what);
            break;
        }
    }
}

/* Checks for descriptors and threads that did not exist when `fds` and `before`
 * were taken. */
static void expect_quiet(entry_test_t *test, const unsigned char *fds,
                         const usage_t *before, const char *what)
{
    char text[200];
    usage_t now;

    usage_take(&now);
    usage_new_fds(fds, FDS_MAX, text, sizeof(text));
    check_that(test->run, 9, text[0] == '\0', "%s opened%s and left it open",
               what, text);
    check_that(test->run, 9, now.tasks <= before->tasks,
               "%s left %u threads running", what, now.tasks - before->tasks);
}

/* Redirects stdout and stderr to a file whose size shows whether something was
 * printed. Returns its descriptor. */
static int catch_output(void)
{
    int fd = memfd_create("output", MFD_CLOEXEC);

    if (fd >= 0) {
        fflush(NULL);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    return fd;
}

static void expect_silence(run_t *run, int fd, const char *what)
{
    char text[101] = "";
    struct stat st;

    fflush(NULL);
    if ((fd >= 0) && (fstat(fd, &st) == 0) && (st.st_size > 0)) {
        if (pread(fd, text, sizeof(text) - 1, 0) < 0) {
            text[0] = '\0';
        }
        check_fail(run, 9, "%s printed \"%s\"", what, text);
        if ((ftruncate(fd, 0) != 0) || (lseek(fd, 0, SEEK_SET) != 0)) {
            check_note(run, "later output may be the same again");
        }
    }
}

/* --- Duration ------------------------------------------------------------- */

/* Measures one call of the entry point, in a process that has not loaded the
 * library before, like a program that starts. Ignores the output and the result
 * of this call: check_calls() checks those of other calls. */
static void time_entry(entry_test_t *test, double *seconds_p)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    stretch_t stretch;
    void *library;

    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    library = dlopen(test->run->target->library, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return;
    }
    test->entry = (ucx_plugin_entry_t)dlsym(library, UCX_PLUGIN_ENTRY_SYMBOL);
    if (test->entry != NULL) {
        stretch_begin(&stretch);
        call_entry(test, UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR, 0),
                   UCX_PLUGIN_ABI_VERSION);
        *seconds_p = stretch_end(&stretch);
    }
}

/* Measures one call in a child process. Returns seconds, or 0 if the child
 * reports no time, because it crashed for example. `shared` is memory shared
 * with the child. */
static double fork_try(entry_test_t *test, double *shared)
{
    pid_t parent = getpid(), pid;

    *shared = 0;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            time_entry(test, shared);
        }
        _exit(0);
    }
    while ((pid > 0) && (waitpid(pid, NULL, 0) < 0) && (errno == EINTR)) {
    }
    return *shared;
}

/*
 * Checks the duration of the entry point. It is a finding only if all tries
 * exceed the limit, because a busy machine may delay a single call. Must be
 * called before this process loads the library, since its children must not
 * have loaded it. A crash is not reported here, but by the calls in
 * check_calls().
 */
static void check_time(entry_test_t *test)
{
    double least = 0, seconds, *shared;
    unsigned i;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return;
    }

    check_doing(test->run, "timing the entry point");
    for (i = 0; (i == 0) || ((i < ENTRY_TRIES) && (least >= ENTRY_SECONDS_MAX));
         ++i) {
        seconds = fork_try(test, shared);
        least   = ((i == 0) || (seconds < least)) ? seconds : least;
    }
    check_that(test->run, 9, least < ENTRY_SECONDS_MAX,
               "the entry point takes %.0f ms, the shortest of %d times; less "
               "than %.0f are fair",
               least * 1e3, ENTRY_TRIES, ENTRY_SECONDS_MAX * 1e3);
    munmap(shared, sizeof(*shared));
}

/* --- Effects -------------------------------------------------------------- */

static void check_first_call(entry_test_t *test, const unsigned char *fds,
                             const usage_t *before, int output)
{
    expect_answer(test, UCX_PLUGIN_ABI_VERSION, "a core of the same ABI");
    expect_quiet(test, fds, before, "the entry point");
    expect_silence(test->run, output, "the entry point");
    check_that(test->run, 9, !logged,
               "the entry point logs at level info or above");
    check_that(test->run, 9, asked_service == NULL,
               "the entry point calls host->%s, which is for later",
               asked_service);
    finish_plugin(test);
}

/* Calls the entry point for two copies of the core in one process, each with
 * its own table of services: the descriptor that one copy has received must
 * stay valid when the other copy is unloaded. */
static void check_two_cores(entry_test_t *test)
{
    guard_t own = test->host_guard;
    const ucx_plugin_t *first, *second;
    guard_t other;

    if (!guard_open(&other, 4096)) {
        return;
    }

    expect_answer(test, UCX_PLUGIN_ABI_VERSION, "the first of two cores");
    first            = test->plugin;
    test->host_guard = other;
    expect_answer(test, UCX_PLUGIN_ABI_VERSION, "the second of two cores");
    second = test->plugin;
    if ((first == NULL) || (second == NULL)) {
        goto out;
    }

    check_that(test->run, 23,
               (first != second) && (first->components != second->components) &&
                   (first->components[0] != second->components[0]),
               "two cores get one and the same descriptor or component");

    /* Simulate the end of the first core: its table of services becomes
     * inaccessible */
    test->plugin = first;
    finish_plugin(test);
    guard_close(&own);
    check_doing(test->run, "reading the second core's descriptor after the "
                           "first core has left");
    check_that(test->run, 23,
               (second->size >= sizeof(size_t)) &&
                   !strcmp(second->name, test->run->target->manifest->name) &&
                   (second->components[0]->name[0] != '\0'),
               "the descriptor of one core is spoilt when another one leaves");
    test->plugin = second;
    finish_plugin(test);
out:
    test->plugin = NULL;
}

static void check_calls(entry_test_t *test, const unsigned char *fds,
                        const usage_t *before, int output)
{
    check_first_call(test, fds, before, output);
    expect_rejection(test, UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR + 1, 0),
                     UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR + 1, 3));
    expect_rejection(test, UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR - 1, 1),
                     UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR - 1, 9));

    test->extra = NEWER_MEMBERS;
    expect_answer(test,
                  UCX_PLUGIN_ABI(UCX_PLUGIN_ABI_MAJOR,
                                 UCX_PLUGIN_ABI_MINOR + 9),
                  "a core of a newer minor");
    finish_plugin(test);
    test->extra = 0;
    check_two_cores(test);
    expect_quiet(test, fds, before, "after fini() the plugin");
    expect_silence(test->run, output, "the plugin");
}

void check_entry(run_t *run)
{
    entry_test_t test = {.run = run};
    unsigned char fds[FDS_MAX];
    usage_t before;
    void *library;
    int output;

    if (!guard_open(&test.args_guard, 4096) ||
        !guard_open(&test.host_guard, 4096)) {
        check_fail(run, 9, "out of memory");
        return;
    }

    check_time(&test);
    output = catch_output();
    usage_mark_fds(fds, FDS_MAX);
    usage_take(&before);

    check_doing(run, "loading the library");
    library = dlopen(run->target->library, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        check_fail(run, 2, "it does not load: %s", dlerror());
        return;
    }
    expect_quiet(&test, fds, &before, "loading the library");
    expect_silence(run, output, "loading the library");

    test.entry = (ucx_plugin_entry_t)dlsym(library, UCX_PLUGIN_ENTRY_SYMBOL);
    if (test.entry == NULL) {
        check_fail(run, 1, UCX_PLUGIN_ENTRY_SYMBOL " is not exported");
    } else {
        check_calls(&test, fds, &before, output);
    }
    dlclose(library);
}
