/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: which messages are shown, the format of a line, the name of the log
 * file, failed assertions, and that concurrent messages do not mix in one
 * line. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/debug/assert.h"
#include "ucs/sys/sys.h"

static char path[64];
static char *text;

static void log_to_file(void)
{
    strcpy(path, "/tmp/ucs_test_log.XXXXXX");
    close(mkstemp(path));
    ucs_log_file_set(path);
}

/* Reads the log file into `text`, removes the file, and redirects the log to
 * stderr. */
static void log_read_file(void)
{
    ck_ok(ucs_read_file(path, 1 << 20, &text, NULL));
    ucs_log_file_set(NULL);
    unlink(path);
}

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

START_TEST(levels_above_the_current_are_off)
{
    log_catch();
    ucs_log_level_set(UCS_LOG_LEVEL_WARN);
    ucs_info("hidden %d", evaluate());
    ucs_warn("shown %d", evaluate());
    ucs_error("shown %d", evaluate());
    log_release();
    ck_assert_str_eq(log_text, "warn shown 1\nerror shown 2\n");
}
END_TEST

START_TEST(a_line_has_the_documented_form)
{
    regex_t regex;

    log_to_file();
    errno = EXDEV;
    ucs_warn("message %d", 5);
    ck_assert_int_eq(errno, EXDEV);
    log_read_file();
    ck_assert_int_eq(
        regcomp(&regex,
                "^\\[[0-9]+\\.[0-9]{6}\\] \\[[^]:]+:[0-9]+:[0-9]+\\]"
                " +test_log.c:[0-9]+ +UCX +WARN +message 5\n$",
                REG_EXTENDED),
        0);
    ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "%s", text);
    regfree(&regex);
    free(text);
}
END_TEST

START_TEST(long_and_hostile_text_is_tamed)
{
    char *big = malloc(10000);

    memset(big, 'x', 9999);
    big[9999] = '\0';
    log_to_file();
    ucs_warn("%s", big);
    ucs_warn("forged\n[0.0] line \033[2J");
    log_read_file();
    ck_assert_ptr_nonnull(strstr(text, "xxx...\n"));
    ck_assert_ptr_nonnull(strstr(text, "forged?[0.0] line ?[2J\n"));
    free(big);
    free(text);
}
END_TEST

static void *write_lines(void *arg)
{
    int i;

    for (i = 0; i < 200; ++i) {
        ucs_warn("begin %0500d end", (int)(intptr_t)arg);
    }
    return NULL;
}

START_TEST(lines_of_threads_stay_whole)
{
    pthread_t threads[4];
    char *line, *save;
    int i, count = 0;

    log_to_file();
    for (i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_lines,
                                        (void *)(intptr_t)i),
                         0);
    }
    for (i = 0; i < 4; ++i) {
        pthread_join(threads[i], NULL);
    }
    log_read_file();
    for (line = strtok_r(text, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        ck_assert_int_eq(line[0], '[');
        ck_assert_str_eq(line + strlen(line) - 4, " end");
        ++count;
    }
    ck_assert_int_eq(count, 800);
    free(text);
}
END_TEST

START_TEST(file_names_have_placeholders)
{
    char name[256], expected[256];

    ck_ok(ucs_fill_filename_template("/x/%p.%h.%e.%%.%z", name, sizeof(name)));
    snprintf(expected, sizeof(expected), "/x/%d.%s.%s.%%.%%z", (int)getpid(),
             ucs_get_host_name(), ucs_get_exe_name());
    ck_assert_str_eq(name, expected);
    ck_assert_int_eq(ucs_fill_filename_template("12345", name, 5),
                     UCS_ERR_BUFFER_TOO_SMALL);
    ck_ok(ucs_fill_filename_template("1234", name, 5));
}
END_TEST

START_TEST(a_failed_assertion_is_told_and_aborts)
{
    int fds[2], status;
    char line[512];
    ssize_t length;
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        ucs_assert_always(1 + 1 == 3);
        _exit(0);
    }
    close(fds[1]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT));
    length = read(fds[0], line, sizeof(line) - 1);
    ck_assert_int_gt(length, 0);
    line[length] = '\0';
    ck_assert_ptr_nonnull(strstr(line, "FATAL"));
    ck_assert_ptr_nonnull(strstr(line, "1 + 1 == 3"));
    close(fds[0]);
}
END_TEST

/* The test below starts this program again as a child. In the child this
 * constructor runs after the library was loaded and before main(): it logs one
 * message that is shown and one that is not, and exits. */
static void __attribute__((constructor)) be_the_child(void)
{
    if (getenv("UCS_TEST_LOG_CHILD") != NULL) {
        ucs_info("told by the child");
        ucs_debug("not told");
        _exit(0);
    }
}

START_TEST(the_environment_sets_level_and_file)
{
    char dir[] = "/tmp/ucs_test_log.XXXXXX", name[128];
    int status;
    pid_t pid;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        snprintf(name, sizeof(name), "%s/log.%%p", dir);
        setenv("UCS_TEST_LOG_CHILD", "1", 1);
        setenv("UCX_LOG_LEVEL", "INFO", 1);
        setenv("UCX_LOG_FILE", name, 1);
        execl("/proc/self/exe", "test", NULL);
        _exit(1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    snprintf(name, sizeof(name), "%s/log.%d", dir, (int)pid);
    ck_ok(ucs_read_file(name, 1 << 16, &text, NULL));
    ck_assert_ptr_nonnull(strstr(text, "INFO  told by the child\n"));
    ck_assert_ptr_null(strstr(text, "not told"));
    free(text);
    unlink(name);
    rmdir(dir);
}
END_TEST

SUITE_MAIN("log", the_environment_sets_level_and_file,
           levels_above_the_current_are_off, a_line_has_the_documented_form,
           long_and_hostile_text_is_tamed, lines_of_threads_stay_whole,
           file_names_have_placeholders, a_failed_assertion_is_told_and_aborts)
