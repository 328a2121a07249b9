/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accounting of memory by ucs_memtrack_allocated() and
 * ucs_memtrack_releasing(), which the drop-in libucs.so exports. The variable
 * UCX_MEMTRACK_DEST enables the accounting and names the destination; the
 * account is written when the process ends. So each test runs a child process
 * and reads its output.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* No header declares these functions: UCX's program io_demo, which calls them,
 * declares them itself. */
void ucs_memtrack_allocated(void *ptr, size_t size, const char *name);
void ucs_memtrack_releasing(void *ptr);

enum { THREADS = 4, ROUNDS = 500 };

static char output[16384];

/* Runs `body` in a child process with UCX_MEMTRACK_DEST=`dest` (NULL: not set).
 * Stores in `output` what the process writes to stdout and stderr until it has
 * ended. */
static void run(const char *dest, void (*body)(void))
{
    size_t length = 0;
    int fds[2], status;
    ssize_t count;
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        unsetenv("UCX_MEMTRACK_DEST");
        if (dest != NULL) {
            setenv("UCX_MEMTRACK_DEST", dest, 1);
        }
        body();
        exit(EXIT_SUCCESS);
    }

    close(fds[1]);
    while ((count = read(fds[0], output + length,
                         sizeof(output) - 1 - length)) > 0) {
        length += (size_t)count;
    }
    output[length] = '\0';
    close(fds[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "%s",
                  output);
}

/* Checks that exactly one row of `text` has this name, and that it has these
 * four numbers. */
static void ck_row(const char *text, const char *name, unsigned long bytes,
                   unsigned long blocks, unsigned long peak_bytes,
                   unsigned long peak_blocks)
{
    unsigned long found[4];
    unsigned rows = 0;
    const char *line;
    char word[64];

    for (line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if ((sscanf(line, "%63s %lu %lu %lu %lu", word, &found[0], &found[1],
                    &found[2], &found[3]) == 5) &&
            !strcmp(word, name)) {
            ++rows;
            ck_assert_uint_eq(found[0], bytes);
            ck_assert_uint_eq(found[1], blocks);
            ck_assert_uint_eq(found[2], peak_bytes);
            ck_assert_uint_eq(found[3], peak_blocks);
        }
    }
    ck_assert_msg(rows == 1, "%u rows of %s in:\n%s", rows, name, text);
}

/* Addresses for the calls. Any address except NULL is valid: the library does
 * not access the memory. */
static char memory[THREADS * ROUNDS];

static void two_names(void)
{
    ucs_memtrack_allocated(&memory[0], 100, "first");
    ucs_memtrack_allocated(&memory[1], 50, "first");
    ucs_memtrack_allocated(&memory[2], 7, "second");
    ucs_memtrack_releasing(&memory[0]);
    ucs_memtrack_allocated(&memory[3], 20, "first");
}

/* The account shows the current and the largest number of bytes and blocks for
 * each name. */
START_TEST(account_is_by_name)
{
    run("stdout", two_names);
    ck_row(output, "first", 70, 2, 150, 2);
    ck_row(output, "second", 7, 1, 7, 1);
}
END_TEST

/* UCX_MEMTRACK_DEST selects where the account is written. */
START_TEST(account_goes_to_stderr)
{
    run("stderr", two_names);
    ck_row(output, "second", 7, 1, 7, 1);
}
END_TEST

/* Without UCX_MEMTRACK_DEST nothing is counted and nothing is printed. */
START_TEST(nothing_is_kept_unasked)
{
    run(NULL, two_names);
    ck_assert_str_eq(output, "");
    run("", two_names);
    ck_assert_str_eq(output, "");
}
END_TEST

/* The account is written to the file that UCX_MEMTRACK_DEST names. */
START_TEST(account_goes_to_file)
{
    char dir[] = "/tmp/memtrack-XXXXXX", dest[64], path[64], text[4096];
    size_t length;
    FILE *file;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(dest, sizeof(dest), "file:%s/account", dir);
    snprintf(path, sizeof(path), "%s/account", dir);
    run(dest, two_names);
    ck_assert_str_eq(output, "");

    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    length       = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    ck_row(text, "first", 70, 2, 150, 2);
    unlink(path);
    rmdir(dir);
}
END_TEST

/* A destination to which the library cannot write is reported, and has no other
 * effect. */
START_TEST(bad_destination_is_reported)
{
    run("nowhere", two_names);
    ck_assert_ptr_nonnull(strstr(output, "UCX_MEMTRACK_DEST=nowhere: write "
                                         "stdout, stderr or file:<path>"));
    run("file:/dev/null/account", two_names);
    ck_assert_ptr_nonnull(strstr(output, "UCX_MEMTRACK_DEST: cannot write "
                                         "/dev/null/account"));
}
END_TEST

static void odd_calls(void)
{
    ucs_memtrack_releasing(&memory[0]); /* not allocated */
    ucs_memtrack_releasing(NULL);
    ucs_memtrack_allocated(NULL, 1000, "failed");
    ucs_memtrack_allocated(&memory[0], 10, "used");
    ucs_memtrack_allocated(&memory[0], 30, "used"); /* replaces the first */
    ucs_memtrack_releasing(&memory[0]);
    ucs_memtrack_releasing(&memory[0]);
    ucs_memtrack_allocated(&memory[1], 0, "used");
}

/* Releases of unknown addresses and repeated allocations of one address do not
 * corrupt the account. */
START_TEST(unusual_calls_are_handled)
{
    run("stdout", odd_calls);
    ck_row(output, "used", 0, 1, 30, 1);
    ck_assert_ptr_null(strstr(output, "failed"));
}
END_TEST

static void *allocate_and_release(void *arg)
{
    char *mine = arg;
    int i;

    for (i = 0; i < ROUNDS; ++i) {
        ucs_memtrack_allocated(&mine[i], 3, "shared");
    }
    for (i = 1; i < ROUNDS; ++i) {
        ucs_memtrack_releasing(&mine[i]);
    }
    return NULL;
}

static void many_threads(void)
{
    pthread_t threads[THREADS];
    int i;

    ucs_memtrack_allocated(output, 3 * THREADS * ROUNDS, "peak");
    for (i = 0; i < THREADS; ++i) {
        if (pthread_create(&threads[i], NULL, allocate_and_release,
                           &memory[i * ROUNDS]) != 0) {
            exit(EXIT_FAILURE);
        }
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    allocate_and_release(memory); /* memory[0] is allocated at this moment */
}

/* All threads of the process share one account. */
START_TEST(threads_share_the_account)
{
    unsigned long peak_bytes = 0, peak_blocks = 0;
    const char *row;

    run("stdout", many_threads);
    ck_row(output, "peak", 3 * THREADS * ROUNDS, 1, 3 * THREADS * ROUNDS, 1);
    row = strstr(output, "shared");
    ck_assert_ptr_nonnull(row);
    ck_assert_int_eq(sscanf(row, "shared %*u %*u %lu %lu", &peak_bytes,
                            &peak_blocks),
                     2);
    ck_assert_uint_ge(peak_blocks, ROUNDS);
    ck_assert_uint_le(peak_blocks, THREADS * ROUNDS);
    ck_assert_uint_eq(peak_bytes, 3 * peak_blocks);
    ck_row(output, "shared", 3 * THREADS, THREADS, peak_bytes, peak_blocks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memtrack");
    TCase *tcase = tcase_create("memtrack");
    SRunner *runner;
    int failed;

    tcase_add_test(tcase, account_is_by_name);
    tcase_add_test(tcase, account_goes_to_stderr);
    tcase_add_test(tcase, nothing_is_kept_unasked);
    tcase_add_test(tcase, account_goes_to_file);
    tcase_add_test(tcase, bad_destination_is_reported);
    tcase_add_test(tcase, unusual_calls_are_handled);
    tcase_add_test(tcase, threads_share_the_account);
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
