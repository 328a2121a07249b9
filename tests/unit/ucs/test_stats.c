/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: records and their memory, reading by other processes, fork(),
 * printing, reports. Each test runs in its own process, because a process
 * cannot stop counting. */
#include "suite.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/stats/stats.h"
#include "ucs/stats/view.h"
#include "ucs/sys/sys.h"

enum { HOUSE, ROOM }; /* types of the records of this test */
enum { VISITS, LETTERS, LETTER_BYTES, LAST_OF_HOUSE };

static const ucs_stats_counter_t house_counters[] = {
    {"visits", UCS_STATS_EVENTS},
    {"letters", UCS_STATS_MESSAGES},
    {"letters", UCS_STATS_BYTES},
};

static const ucs_stats_counter_t room_counters[] = {
    {"steps", UCS_STATS_EVENTS},
};

static const ucs_stats_type_t types[] = {
    {"house", house_counters, LAST_OF_HOUSE},
    {"room", room_counters, 1},
};

static int open_counters(void)
{
    return ucs_stats_open(types, 2, NULL);
}

/* ------------------------------------------------------------- helpers -- */

/* A test runs a function ("story") in a child process. The child exits with 0,
 * or with 1 if a condition of MUST() fails. */
#define MUST(_condition) \
    do { \
        if (!(_condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, \
                    #_condition); \
            _exit(1); \
        } \
    } while (0)

static int run_story(void (*story)(void *), void *arg)
{
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(60);
        story(arg);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(!WIFSIGNALED(status), "signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

#define ck_story(_story, _arg) ck_assert_int_eq(run_story(_story, _arg), 0)

static const ucs_stats_view_record_t *find(const ucs_stats_view_t *view,
                                           const char *name)
{
    unsigned i;

    for (i = 0; i < view->num_records; ++i) {
        if (strcmp(view->records[i].name, name) == 0) {
            return &view->records[i];
        }
    }
    return NULL;
}

static ucs_stats_view_t *view_self(void)
{
    ucs_stats_view_t *view;

    MUST(ucs_stats_view_self(&view) == UCS_OK);
    return view;
}

/* Returns the counters of `view` as printed text; the caller frees it. */
static char *print(const ucs_stats_view_t *view,
                   const ucs_stats_print_params_t *params)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    MUST(stream != NULL);
    ucs_stats_print(stream, view, params);
    fclose(stream);
    return text;
}

static uint64_t sum_of(const ucs_stats_view_t *view, unsigned type,
                       unsigned counter)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < view->num_records; ++i) {
        if (view->records[i].type == type) {
            sum += view->records[i].values[counter];
        }
    }
    return sum;
}

/* -------------------------------------------------------------- records -- */

static void tell_off(void *arg)
{
    ucs_stats_view_t *view;

    MUST(!open_counters());
    MUST(ucs_stats_view_self(&view) == UCS_ERR_NO_ELEM);
}

START_TEST(nothing_is_counted_unless_asked_for)
{
    ck_story(tell_off, NULL);
}
END_TEST

static void tell_records(void *arg)
{
    ucs_stats_record_t *house, *room;
    const ucs_stats_view_record_t *seen;
    ucs_stats_view_t *view;

    setenv("UCX_STATS", "y", 1);
    MUST(open_counters());
    house = ucs_stats_create(HOUSE, NULL, "blue");
    room  = ucs_stats_create(ROOM, house, "kitchen");
    MUST((house != NULL) && (room != NULL));
    ucs_stats_add(house, VISITS, 3);
    ucs_stats_add_message(house, LETTERS, 100);
    ucs_stats_add_message(house, LETTERS, 20);
    ucs_stats_add_shared(room, 0, 7);

    view = view_self();
    seen = find(view, "blue");
    MUST((seen != NULL) && (seen->state == UCS_STATS_LIVE));
    MUST((seen->type == HOUSE) && (seen->parent == 0));
    MUST(seen->values[VISITS] == 3);
    MUST((seen->values[LETTERS] == 2) && (seen->values[LETTER_BYTES] == 120));
    MUST(find(view, "kitchen")->parent == seen->number);
    MUST(find(view, "kitchen")->values[0] == 7);
    MUST((view->pid == getpid()) && (view->lost == 0));
    ucs_stats_view_free(view);

    ucs_stats_end(house, UCS_ERR_CONNECTION_RESET);
    view = view_self();
    seen = find(view, "blue");
    MUST((seen->state == UCS_STATS_ENDED) && (seen->values[VISITS] == 3));
    MUST((seen->status == UCS_ERR_CONNECTION_RESET) && (seen->until != 0));
    ucs_stats_view_free(view);
    ucs_stats_close();
}

START_TEST(records_are_seen_with_what_they_counted)
{
    ck_story(tell_records, NULL);
}
END_TEST

/* A type of records that is added later can be read like the first types. */
static void tell_added(void *arg)
{
    static const ucs_stats_counter_t garden_counters[] = {
        {"flowers", UCS_STATS_EVENTS},
        {"trees", UCS_STATS_EVENTS},
    };
    const ucs_stats_type_t garden  = {"garden", garden_counters, 2};
    const ucs_stats_type_t smaller = {"garden", garden_counters, 1};
    ucs_stats_record_t *record;
    ucs_stats_view_t *view;
    int type, i;

    MUST(!ucs_stats_is_on() && (ucs_stats_add_type(&garden) == -1));
    setenv("UCX_STATS", "y", 1);
    MUST(open_counters() && ucs_stats_is_on());
    type = ucs_stats_add_type(&garden);
    MUST((type == 2) && (ucs_stats_add_type(&garden) == type));
    MUST(ucs_stats_add_type(&smaller) == type + 1);
    record = ucs_stats_create((unsigned)type, NULL, "behind the house");
    MUST(record != NULL);
    ucs_stats_add(record, 1, 5);

    view = view_self();
    MUST(strcmp(view->types[type].name, "garden") == 0);
    MUST(find(view, "behind the house")->values[1] == 5);
    MUST(strcmp(view->counters[view->types[type].first_counter + 1].name,
                "trees") == 0);
    ucs_stats_view_free(view);

    /* When the memory for types is full, counters of the existing types
     * continue to work. */
    for (i = 0; i < 100; ++i) {
        char name[24];

        snprintf(name, sizeof(name), "garden %d", i);
        type = ucs_stats_add_type(
            &(ucs_stats_type_t){name, garden_counters, 1});
    }
    MUST(type == -1);
    MUST(ucs_stats_create(HOUSE, NULL, "last") != NULL);
    ucs_stats_close();
}

START_TEST(a_type_can_be_added_while_counting)
{
    ck_story(tell_added, NULL);
}
END_TEST

/* Creates more records of one type than fit into the memory: first each one
 * ends before the next is created, then none ends. If no record can be created,
 * the event is counted in `sum`. */
static void tell_room(void *arg)
{
    enum { HOUSES = 1000 };
    ucs_stats_record_t *house, *sum;
    ucs_stats_view_t *view;
    int i;

    setenv("UCX_STATS", "y", 1);
    setenv("UCX_STATS_MAX_SIZE", "16k", 1);
    MUST(open_counters());
    for (i = 0; i < HOUSES; ++i) {
        house = ucs_stats_create(HOUSE, NULL, "house");
        MUST(house != NULL);
        ucs_stats_add(house, VISITS, 1);
        ucs_stats_end(house, UCS_OK);
    }
    view = view_self();
    MUST(sum_of(view, HOUSE, VISITS) == HOUSES);
    MUST((view->num_records < 200) && (view->lost == 0));
    MUST(find(view, "ended earlier")->state == UCS_STATS_SUM);
    ucs_stats_view_free(view);

    sum = ucs_stats_create_sum(HOUSE, NULL, "without record");
    MUST(sum != NULL);
    /* from here on no record ends, so that memory runs out */
    for (i = 0; i < HOUSES; ++i) {
        house = ucs_stats_create(HOUSE, NULL, "house");
        ucs_stats_add((house != NULL) ? house : sum, VISITS, 1);
    }
    view = view_self();
    MUST(sum_of(view, HOUSE, VISITS) == 2 * HOUSES);
    MUST((view->lost > 0) && (view->lost < HOUSES));
    ucs_stats_view_free(view);
}

START_TEST(what_finds_no_room_is_counted_in_sums)
{
    ck_story(tell_room, NULL);
}
END_TEST

static void tell_long_names(void *arg)
{
    ucs_stats_view_t *view;
    char name[200];

    setenv("UCX_STATS", "y", 1);
    MUST(open_counters());
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ucs_stats_create(HOUSE, NULL, name);
    ucs_stats_create(HOUSE, NULL, "a\033[2J\"b\\");
    view = view_self();
    MUST(strlen(view->records[2].name) == UCS_STATS_NAME_MAX - 1);
    MUST(find(view, "a?[2J\"b\\") != NULL);
    ucs_stats_view_free(view);
}

START_TEST(names_are_cut_and_made_printable)
{
    ck_story(tell_long_names, NULL);
}
END_TEST

/* ------------------------------------------------------------ from outside -- */

static void tell_outside(void *arg)
{
    char why[UCS_STATS_WHY_MAX];
    ucs_stats_record_t *house;
    ucs_stats_view_t *view;
    struct stat about;
    int fd;

    MUST(ucs_stats_open_process(getpid(), 0, why) < 0);
    MUST(strstr(why, "UCX_STATS=y") != NULL);
    setenv("UCX_STATS", "y", 1);
    MUST(open_counters());
    house = ucs_stats_create(HOUSE, NULL, "blue");

    fd = ucs_stats_open_process(getpid(), 0, why);
    MUST(fd >= 0);
    MUST((fstat(fd, &about) == 0) && ((about.st_mode & 0777) == 0600));
    MUST(ftruncate(fd, 0) != 0);
    ucs_stats_add(house, VISITS, 5);
    MUST(ucs_stats_view_read(fd, &view, why) == UCS_OK);
    MUST(find(view, "blue")->values[VISITS] == 5);
    ucs_stats_view_free(view);
    close(fd);
    MUST(ucs_stats_open_process(getpid(), 1, why) < 0);
    /* the process has a single set of counters: there is no second one */
    MUST(why[0] == '\0');
}

START_TEST(a_process_is_read_from_outside)
{
    char why[UCS_STATS_WHY_MAX];
    int fds[2], status;
    pid_t pid;

    ck_story(tell_outside, NULL);

    /* tries to read the counters of a process that has ended */
    ck_assert_int_eq(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_lt(ucs_stats_open_process(pid, 0, why), 0);
    ck_assert_msg(strstr(why, "no process") != NULL, "%s", why);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

static int num_fds(void)
{
    DIR *dir  = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(dir) != NULL) {
        ++count;
    }
    closedir(dir);
    return count;
}

static int shared_fails; /* nonzero: mmap() of shared memory fails */

/* Replaces the function of the C library for the library under test. */
__attribute__((visibility("default"))) void *
mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);

    if (shared_fails && (flags & MAP_SHARED)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (next == NULL) {
        next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT,
                                                                      "mmap");
    }
    return next(address, length, prot, flags, fd, offset);
}

/* If the memory file of the counters cannot be mapped, the process counts in
 * private memory, and closes the file, so that nobody finds it. */
static void tell_unmapped(void *arg)
{
    char why[UCS_STATS_WHY_MAX];
    ucs_stats_view_t *view;
    int fds = num_fds();

    setenv("UCX_STATS", "y", 1);
    shared_fails = 1;
    MUST(open_counters());
    shared_fails = 0;
    MUST(num_fds() == fds);
    MUST(ucs_stats_open_process(getpid(), 0, why) < 0);
    ucs_stats_add(ucs_stats_create(HOUSE, NULL, "blue"), VISITS, 3);
    view = view_self();
    MUST(find(view, "blue")->values[VISITS] == 3);
    ucs_stats_view_free(view);
}

START_TEST(a_file_that_cannot_be_mapped_is_closed)
{
    ck_story(tell_unmapped, NULL);
}
END_TEST

/* Parses a copy of the memory to which a record is added that is being created:
 * header->used includes it, but only its `size` is set. It must be skipped. In
 * the state LIVE it is invalid: its type, HOUSE (0), has more counters than fit
 * into its size. */
static void tell_taken(void *arg)
{
    enum { SIZE = sizeof(ucs_stats_record_t) };
    char why[UCS_STATS_WHY_MAX];
    ucs_stats_record_t *taken;
    ucs_stats_header_t *header;
    ucs_stats_view_t *view;
    struct stat about;
    int fd;

    setenv("UCX_STATS", "y", 1);
    setenv("UCX_STATS_MAX_SIZE", "16k", 1);
    MUST(open_counters());
    MUST(ucs_stats_create(ROOM, NULL, "kitchen") != NULL);
    fd = ucs_stats_open_process(getpid(), 0, why);
    MUST((fd >= 0) && (fstat(fd, &about) == 0));
    header = malloc((size_t)about.st_size);
    MUST((header != NULL) &&
         (pread(fd, header, (size_t)about.st_size, 0) == about.st_size));
    close(fd);

    taken       = (ucs_stats_record_t *)((char *)header + header->used);
    taken->size = SIZE;
    MUST((taken->state == UCS_STATS_FREE) && (taken->type == HOUSE));
    header->used += SIZE;
    MUST(ucs_stats_view_parse(header, header->used, &view, why) == UCS_OK);
    MUST((view->num_records == 3) && (find(view, "kitchen") != NULL));
    ucs_stats_view_free(view);

    taken->state = UCS_STATS_LIVE;
    MUST(ucs_stats_view_parse(header, header->used, &view, why) ==
         UCS_ERR_INVALID_PARAM);
    free(header);
}

START_TEST(a_record_that_is_being_created_is_skipped)
{
    ck_story(tell_taken, NULL);
}
END_TEST

/* After fork() the child counts from 0 in its own copy of the memory, also in
 * records that the parent created. */
static void tell_fork(void *arg)
{
    ucs_stats_record_t *house, *gone;
    ucs_stats_view_t *view;
    int status, fds;
    pid_t pid;

    setenv("UCX_STATS", "y", 1);
    MUST(open_counters());
    house = ucs_stats_create(HOUSE, NULL, "blue");
    gone  = ucs_stats_create(HOUSE, NULL, "gone");
    ucs_stats_add(house, VISITS, 5);
    ucs_stats_end(gone, UCS_OK);
    fds = num_fds();
    pid = fork();
    if (pid == 0) {
        view = view_self();
        MUST(view->pid == getpid());
        MUST(find(view, "blue")->values[VISITS] == 0);
        MUST(find(view, "gone") == NULL);
        ucs_stats_view_free(view);
        ucs_stats_add(house, VISITS, 100);
        /* the new record uses the memory of `gone`, which had ended before the
         * fork */
        MUST(ucs_stats_create(HOUSE, NULL, "green") == gone);
        view = view_self();
        MUST(find(view, "blue")->values[VISITS] == 100);
        MUST(num_fds() == fds);
        ucs_stats_view_free(view);
        _exit(0);
    }
    MUST((waitpid(pid, &status, 0) == pid) && (status == 0));
    view = view_self();
    MUST(view->pid == getpid());
    MUST(find(view, "blue")->values[VISITS] == 5);
    MUST((find(view, "green") == NULL) && (find(view, "gone") != NULL));
    ucs_stats_view_free(view);
}

START_TEST(a_child_has_counters_of_its_own)
{
    ck_story(tell_fork, NULL);
}
END_TEST

static int go_on;

static void *count_on(void *arg)
{
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
        ucs_stats_add_message(arg, LETTERS, 8);
    }
    return NULL;
}

/* Two threads count, while this one creates and ends records, and reads and
 * prints all counters. */
static void tell_threads(void *arg)
{
    ucs_stats_print_params_t json = {.format = UCS_STATS_FORMAT_JSON};
    pthread_t threads[2];
    ucs_stats_record_t *record;
    ucs_stats_view_t *view;
    int i;

    setenv("UCX_STATS", "y", 1);
    MUST(open_counters());
    __atomic_store_n(&go_on, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, count_on,
                       ucs_stats_create(HOUSE, NULL, "busy"));
    }
    for (i = 0; i < 200; ++i) {
        record = ucs_stats_create(ROOM, NULL, "room");
        view   = view_self();
        free(print(view, &json));
        ucs_stats_view_free(view);
        ucs_stats_end(record, UCS_OK);
    }
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    for (i = 0; i < 2; ++i) {
        pthread_join(threads[i], NULL);
    }
    view = view_self();
    MUST(sum_of(view, HOUSE, LETTERS) * 8 == sum_of(view, HOUSE, LETTER_BYTES));
    ucs_stats_view_free(view);
}

START_TEST(threads_count_while_a_reader_reads)
{
    ck_story(tell_threads, NULL);
}
END_TEST

/* -------------------------------------------------------------- printing -- */

static void tell_printing(void *arg)
{
    char *names[]                   = {"lett*"};
    ucs_config_names_array_t filter = {.names = names, .count = 1};
    ucs_stats_print_params_t params = {.format = UCS_STATS_FORMAT_FULL};
    ucs_stats_record_t *house, *room;
    ucs_stats_view_t *view, *later;
    char *text;

    setenv("UCX_STATS", "y", 1);
    MUST(open_counters());
    house = ucs_stats_create(HOUSE, NULL, "blue");
    room  = ucs_stats_create(ROOM, house, "kitchen");
    ucs_stats_add(house, VISITS, 3);
    ucs_stats_add_message(house, LETTERS, 100);
    ucs_stats_add_message(house, LETTERS, 20);
    ucs_stats_add(room, 0, 41);
    view = view_self();

    text = print(view, &params);
    MUST(strstr(text, "\nhouse blue\n    visits ") != NULL);
    MUST(strstr(text, "\n    room kitchen\n        steps ") != NULL);
    /* 120 bytes, 60 for a message on average */
    MUST(strstr(text, "120           60\n") != NULL);
    MUST(strstr(text, "ended earlier") == NULL);
    free(text);

    params.filter = &filter;
    text          = print(view, &params);
    MUST((strstr(text, "letters") != NULL) && (strstr(text, "steps") == NULL));
    free(text);
    params.filter = NULL;

    params.format = UCS_STATS_FORMAT_AGG;
    text          = print(view, &params);
    MUST(strstr(text, "\n    room, sum of 1\n        steps") != NULL);
    free(text);

    params.format = UCS_STATS_FORMAT_SUMMARY;
    text          = print(view, &params);
    MUST(strstr(text, "house blue") == NULL);
    MUST(strstr(text, "house, sum of 2\n    visits") != NULL);
    free(text);

    ucs_stats_add(room, 0, 59);
    later         = view_self();
    params.format = UCS_STATS_FORMAT_JSON;
    params.before = view;
    text          = print(later, &params);
    MUST(strstr(text, "\"steps\": 100}, \"rates\": {\"steps\": ") != NULL);
    MUST(strstr(text, "\"letters\": {\"messages\": 2, \"bytes\": 120}") !=
         NULL);
    MUST(strstr(text, "\"interval\": ") != NULL);
    free(text);
    ucs_stats_view_free(later);
    ucs_stats_view_free(view);
}

START_TEST(counters_are_printed_in_every_format)
{
    ck_story(tell_printing, NULL);
}
END_TEST

/* --------------------------------------------------------------- reports -- */

static char folder[] = "/tmp/ucs-stats-XXXXXX";

typedef struct {
    const char *trigger; /* value of UCX_STATS_TRIGGER */
    const char *file;    /* name within `folder`; "-" and the pid follow */
    int signo;           /* signal that triggers the report; 0: none */
} report_t;

static int has_file(const char *path, const char *part)
{
    char *data;
    int found;

    if (ucs_read_file(path, 1 << 20, &data, NULL) != UCS_OK) {
        return 0;
    }
    found = strstr(data, part) != NULL;
    free(data);
    return found;
}

static void path_of(const char *file, pid_t pid, char *path, size_t max)
{
    snprintf(path, max, "%s/%s-%d", folder, file, (int)pid);
}

/* Waits until a report is written while the process still runs, except for the
 * report at exit. */
static void tell_report(void *arg)
{
    const report_t *report = arg;
    char dest[128], path[128];

    snprintf(dest, sizeof(dest), "file:%s/%s-%%p", folder, report->file);
    path_of(report->file, getpid(), path, sizeof(path));
    setenv("UCX_STATS_DEST", dest, 1);
    setenv("UCX_STATS_TRIGGER", report->trigger, 1);
    MUST(open_counters());
    ucs_stats_add(ucs_stats_create(HOUSE, NULL, "blue"), VISITS, 3);
    if (report->signo != 0) {
        raise(report->signo);
    }
    while ((strcmp(report->trigger, "exit") != 0) &&
           !has_file(path, "house blue")) {
        usleep(1000);
    }
    unlink(path); /* another report is written at exit */
    ucs_stats_close();
    exit(0);
}

static void ck_report(const char *trigger, const char *file, int signo)
{
    report_t report = {trigger, file, signo};
    struct stat about;
    struct dirent *entry;
    int files = 0;
    char path[512];
    DIR *dir;

    ck_assert_int_eq(run_story(tell_report, &report), 0);
    dir = opendir(folder);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            ck_assert(has_file(path, "house blue"));
            ck_assert_int_eq(stat(path, &about), 0);
            ck_assert_int_eq(about.st_mode & 0777, 0600);
            unlink(path);
            ++files;
        }
    }
    closedir(dir);
    ck_assert_int_eq(files, 1);
}

START_TEST(reports_are_written_when_they_are_asked_for)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_report("exit", "at_exit", 0);
/* the thread sanitizer does not support threads in the child of a process with
 * threads */
#ifndef WITH_TSAN
    ck_report("timer:5ms", "timer", 0);
    ck_report("signal:USR1", "signal", SIGUSR1);
    ck_report("signal:SIGUSR2", "signal", SIGUSR2);
    ck_report("signal:12", "signal", 12);
#endif
    rmdir(folder);
}
END_TEST

typedef struct {
    const char *name, *value;
    int counts;
    const char *message;
} bad_t;

static void tell_bad_value(void *arg)
{
    const bad_t *bad = arg;

    log_catch();
    setenv("UCX_STATS_DEST", "stderr", 1);
    setenv(bad->name, bad->value, 1);
    MUST(open_counters() == bad->counts);
    MUST(strstr(log_text, bad->message) != NULL);
}

START_TEST(bad_values_are_told_of)
{
    static const bad_t bad[] = {
        {"UCX_STATS", "perhaps", 0, "UCX_STATS"},
        {"UCX_STATS_DEST", "udp:host", 1, "expected stdout, stderr or file:"},
        {"UCX_STATS_DEST", "file:", 1, "expected stdout, stderr or file:"},
        {"UCX_STATS_TRIGGER", "timer", 1, "expected exit, signal:"},
        {"UCX_STATS_TRIGGER", "timer:soon", 1, "expected exit, signal:"},
        {"UCX_STATS_TRIGGER", "timer:0", 1, "expected exit, signal:"},
        {"UCX_STATS_TRIGGER", "signal:NONE", 1, "expected exit, signal:"},
        {"UCX_STATS_TRIGGER", "signal:999", 1, "expected exit, signal:"},
        {"UCX_STATS_TRIGGER", "signal:KILL", 1, "written at exit only"},
        {"UCX_STATS_FORMAT", "brief", 0, "UCX_STATS_FORMAT"},
        {"UCX_STATS_MAX_SIZE", "1k", 0, "UCX_STATS_MAX_SIZE"},
    };
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
        ck_assert_msg(run_story(tell_bad_value, (void *)&bad[i]) == 0, "%s=%s",
                      bad[i].name, bad[i].value);
    }
}
END_TEST

SUITE_MAIN("stats", nothing_is_counted_unless_asked_for,
           records_are_seen_with_what_they_counted,
           a_type_can_be_added_while_counting,
           what_finds_no_room_is_counted_in_sums,
           names_are_cut_and_made_printable, a_process_is_read_from_outside,
           a_file_that_cannot_be_mapped_is_closed,
           a_record_that_is_being_created_is_skipped,
           a_child_has_counters_of_its_own, threads_count_while_a_reader_reads,
           counters_are_printed_in_every_format,
           reports_are_written_when_they_are_asked_for, bad_values_are_told_of)
