/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file ucx.conf: which files are read, which of them has
 * priority, their syntax, and which are rejected. */
#include "suite.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/config/config.h"
#include "ucs/sys/machine.h"
#include "ucs/sys/sys.h"

typedef struct {
    char *a;
    char *b;
} opts_t;

static const ucs_config_field_t fields[] = {
    {"FT_A", "none", "A.", ucs_offsetof(opts_t, a), UCS_CONFIG_TYPE_STRING, 0},
    {"FT_B", "none", "B.", ucs_offsetof(opts_t, b), UCS_CONFIG_TYPE_STRING, 0},
    {NULL},
};

static ucs_config_table_t table = {
    "File test", "", fields, sizeof(opts_t), NULL, {NULL, NULL},
};

static const ucs_config_field_t number_fields[] = {
    {"FT_N", "1", "A number.", ucs_offsetof(opts_t, a), UCS_CONFIG_TYPE_INT, 0},
    {NULL},
};

static ucs_config_table_t number_table = {
    "File test", "", number_fields, sizeof(opts_t), NULL, {NULL, NULL},
};

static int stop_reading; /* atomic: ends read_again_and_again() */
static char root[64];
static opts_t opts;

static void put(const char *name, const char *text, mode_t mode)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    ck_ok(ucs_write_file(path, text, strlen(text), mode));
}

static void expect(const ucs_config_source_t *source, const char *a,
                   const char *b)
{
    ucs_config_files_forget();
    ck_ok(ucs_config_read(&table, source, &opts));
    ck_assert_str_eq(opts.a, a);
    ck_assert_str_eq(opts.b, b);
    ucs_config_release(&table, &opts);
}

static void setup(void)
{
    char path[128];

    strcpy(root, "/tmp/ucs_test_conf.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(path, sizeof(path), "%s/home", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    setenv("HOME", path, 1);
    snprintf(path, sizeof(path), "%s/conf", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    setenv("UCX_CONFIG_DIR", path, 1);
    snprintf(path, sizeof(path), "%s/cwd", root);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(chdir(path), 0);
}

static void teardown(void)
{
    char command[128];

    ck_assert_int_eq(chdir("/"), 0);
    snprintf(command, sizeof(command), "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
    unsetenv("UCX_CONFIG_DIR");
    ucs_config_files_forget();
}

START_TEST(later_files_win)
{
    setup();
    expect(NULL, "none", "none");
    put("conf/ucx.conf", "UCX_FT_A=conf\nUCX_FT_B=conf\n", 0600);
    expect(NULL, "conf", "conf");
    put("home/ucx.conf", "UCX_FT_A=home\nUCX_FT_B=home\n", 0600);
    expect(NULL, "conf", "conf");
    put("conf/ucx.conf", "UCX_FT_A=conf\n", 0600);
    expect(NULL, "conf", "home");
    put("cwd/ucx.conf", "UCX_FT_A=cwd", 0600);
    expect(NULL, "cwd", "home");
    setenv("UCX_FT_A", "env", 1);
    expect(NULL, "env", "home");
    unsetenv("UCX_FT_A");
    teardown();
}
END_TEST

START_TEST(a_file_that_is_found_twice_counts_as_the_last_one)
{
    char path[128];

    setup();
    put("home/ucx.conf", "UCX_FT_A=home\nnonsense\n", 0600);
    put("conf/ucx.conf", "UCX_FT_A=conf\nUCX_FT_B=conf\n", 0600);
    snprintf(path, sizeof(path), "%s/home", root);
    ck_assert_int_eq(chdir(path), 0);
    log_catch();
    expect(NULL, "home", "conf");
    log_release();
    ck_logged("ucx.conf:2: ignored");
    ck_assert_ptr_null(strstr(strstr(log_text, "ignored") + 1, "ignored"));
    teardown();
}
END_TEST

START_TEST(a_file_of_the_application_counts_more)
{
    ucs_config_source_t source = {.app_prefix = "APP"};
    char path[128];

    setup();
    snprintf(path, sizeof(path), "%s/mine.conf", root);
    source.filename = path;
    put("cwd/ucx.conf", "UCX_FT_A=cwd\nAPP_UCX_FT_B=app\n", 0600);
    /* source.filename does not exist yet: this is no error */
    expect(&source, "cwd", "app");
    put("mine.conf", "UCX_FT_A=mine\n", 0600);
    expect(&source, "mine", "app");

    /* A file is read again only if it has changed: its errors are reported
     * once. */
    ck_ok(ucs_config_read(&table, &source, &opts));
    ucs_config_release(&table, &opts);
    put("mine.conf", "UCX_FT_A=changed\nbad\n", 0600);
    log_catch();
    ck_ok(ucs_config_read(&table, &source, &opts));
    ck_assert_str_eq(opts.a, "changed");
    ck_logged("mine.conf:2: ignored");
    ucs_config_release(&table, &opts);
    log_catch();
    ck_ok(ucs_config_read(&table, &source, &opts));
    ck_assert_str_eq(log_text, "");
    log_release();
    ucs_config_release(&table, &opts);
    teardown();
}
END_TEST

START_TEST(the_syntax_is_forgiving)
{
    setup();
    put("cwd/ucx.conf",
        "# comment\n\n  UCX_FT_A = \"with blanks \"  \r\n"
        "[plain section]\nUCX_FT_B=section\n"
        "[some machine]\nUCX_FT_A=wrong\nCPU model=x\nUCX_FT_B=wrong\n",
        0600);
    expect(NULL, "with blanks ", "section");

    log_catch();
    put("cwd/ucx.conf", "UCX_FT_A=1\nnonsense\nOTHER=2\nUCX_FT_A=3\n", 0600);
    expect(NULL, "3", "none");
    log_release();
    ck_logged("ucx.conf:2: ignored: not of the form");
    ck_logged("ucx.conf:3: ignored: 'OTHER'");
    teardown();
}
END_TEST

/* Writes `text` to ucx.conf in the current folder, reads the options and
 * compares them. Log messages are in log_text. */
static void expect_text(const char *text, const char *a, const char *b)
{
    put("cwd/ucx.conf", text, 0600);
    log_catch();
    expect(NULL, a, b);
    log_release();
}

START_TEST(comments_and_quotes_are_told_apart)
{
    setup();
    expect_text("UCX_FT_A=1 # one\nUCX_FT_B = 2\t; two\n", "1", "2");
    expect_text("UCX_FT_A=a#b;c\nUCX_FT_B=# nothing\n", "a#b;c", "");
    expect_text("UCX_FT_A=\"a # b\" # c\nUCX_FT_B='\"'\n", "a # b", "\"");
    expect_text("; UCX_FT_A=1\n  # UCX_FT_B=2\n", "none", "none");
    expect_text("UCX_FT_A: 1:2\nUCX_FT_B=x=y\n", "1:2", "x=y");
    ck_assert_str_eq(log_text, "");
    expect_text("UCX_FT_A=\"1\n", "none", "none");
    ck_logged("ucx.conf:1: ignored: the quote before 1 is not closed");
    expect_text("UCX_FT_A='1' 2\n", "none", "none");
    ck_logged("ucx.conf:1: ignored: 2 follows a closing quote");
    teardown();
}
END_TEST

START_TEST(a_line_may_go_on)
{
    setup();
    expect_text("UCX_FT_A=1,\\\n   2,\\\r\n\t3\nUCX_FT_B=4\n", "1,2,3", "4");
    expect_text("# a comment ends \\\nUCX_FT_A=1\n", "1", "none");
    expect_text("UCX_FT_A=1\\", "1", "none");
    expect_text("\\\n\\\nUCX_FT_A=1", "1", "none");
    expect_text("UCX_FT_A=\\\n1\nnonsense\n", "1", "none");
    /* the message contains the number of the line in the file */
    ck_logged("ucx.conf:3: ignored: not of the form");
    teardown();
}
END_TEST

START_TEST(sections_count_where_their_conditions_hold)
{
    char text[512];

    setup();
    snprintf(text, sizeof(text),
             "UCX_FT_A=1\n[here]\nCPU vendor=%s\nCPU model = *\n"
             "Product name: *\nUCX_FT_A=2\n[elsewhere]\nUCX_FT_A=3\n"
             "CPU vendor=nobody\nUCX_FT_B=3\n",
             ucs_machine_get(UCS_MACHINE_CPU_VENDOR));
    expect_text(text, "2", "none");
    expect_text("[a]\nCPU vendor=*\nCPU vendor=nobody\nUCX_FT_A=1\n", "none",
                "none");
    expect_text("[a] # b\nUCX_FT_A=1\n[b\nUCX_FT_B=2\n", "1", "2");
    ck_logged("ucx.conf:3: a section begins here, but the ]");
    expect_text("[a]\nUCX_FT_A=1\nCPU vendr=AMD\n[]\nUCX_FT_B=2\n", "none",
                "2");
    ck_logged("ucx.conf:3: unknown condition 'CPU vendr' (did you mean 'CPU "
              "vendor'?): section [a] is ignored");
    teardown();
}
END_TEST

START_TEST(a_bad_name_is_explained)
{
    setup();
    expect_text("\xef\xbb\xbfUCX_FT_A=1\nFT_B=2\nexport UCX_FT_B=3\n=4\n", "1",
                "none");
    ck_logged("ucx.conf:2: ignored: 'FT_B' does not begin with UCX_; write "
              "UCX_FT_B");
    ck_logged("ucx.conf:3: ignored: leave out 'export' before UCX_FT_B");
    ck_logged("ucx.conf:4: ignored: '' does not begin with UCX_");
    teardown();
}
END_TEST

START_TEST(a_bad_value_is_told_with_its_line)
{
    setup();
    put("cwd/ucx.conf", "\n\nUCX_FT_N=many\n", 0600);
    ucs_config_files_forget();
    log_catch();
    ck_assert_int_eq(ucs_config_read(&number_table, NULL, &opts),
                     UCS_ERR_INVALID_PARAM);
    log_release();
    ck_logged("'many' is not a valid value for UCX_FT_N (./ucx.conf:3): "
              "expected a whole number");
    teardown();
}
END_TEST

START_TEST(a_file_that_others_may_write_is_not_trusted)
{
    char path[128];

    setup();
    put("cwd/ucx.conf", "UCX_FT_A=evil\n", 0666);
    log_catch();
    expect(NULL, "none", "none");
    log_release();
    ck_logged("everybody may write it");

    snprintf(path, sizeof(path), "%s/home/ucx.conf", root);
    /* a named pipe, whose opening must not block */
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    put("cwd/ucx.conf", "UCX_FT_A=good\n", 0600);
    log_catch();
    expect(NULL, "good", "none");
    log_release();
    ck_logged("not a regular file");
    teardown();
}
END_TEST

/* Thread function: reads the options until `stop_reading` is set. Returns the
 * number of reads that failed or returned values that no version of the file
 * contained. */
static void *read_again_and_again(void *arg)
{
    const ucs_config_source_t *source = arg;
    unsigned long strange             = 0;
    opts_t own;

    while (!__atomic_load_n(&stop_reading, __ATOMIC_RELAXED)) {
        if (ucs_config_read(&table, source, &own) != UCS_OK) {
            ++strange;
            continue;
        }
        strange += strcmp(own.a, own.b) ||
                   (strcmp(own.a, "one") && strcmp(own.a, "other"));
        ucs_config_release(&table, &own);
    }

    return (void *)strange;
}

START_TEST(threads_read_a_file_that_changes)
{
    static const char *const texts[] = {"UCX_FT_A=one\nUCX_FT_B=one\n",
                                        "UCX_FT_A=other\nUCX_FT_B=other\n"};
    ucs_config_source_t source       = {.filename = NULL};
    pthread_t threads[3];
    char path[128];
    void *strange;
    int i;

    setup();
    snprintf(path, sizeof(path), "%s/mine.conf", root);
    source.filename = path;
    put("mine.conf", texts[0], 0600);
    stop_reading = 0;
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_again_and_again,
                                        &source),
                         0);
    }
    for (i = 0; i < 300; ++i) {
        put("mine.conf", texts[i % 2], 0600);
    }
    __atomic_store_n(&stop_reading, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 3; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], &strange), 0);
        ck_assert_ptr_null(strange);
    }
    teardown();
}
END_TEST

START_TEST(a_huge_file_is_refused)
{
    char *big = malloc((1 << 20) + 100);

    setup();
    memset(big, '#', (1 << 20) + 99);
    big[(1 << 20) + 99] = '\0';
    put("cwd/ucx.conf", big, 0600);
    log_catch();
    expect(NULL, "none", "none");
    log_release();
    ck_logged("larger than 1 MiB");
    free(big);
    teardown();
}
END_TEST

SUITE_MAIN("config files", later_files_win,
           a_file_that_is_found_twice_counts_as_the_last_one,
           a_file_of_the_application_counts_more, the_syntax_is_forgiving,
           comments_and_quotes_are_told_apart, a_line_may_go_on,
           sections_count_where_their_conditions_hold, a_bad_name_is_explained,
           a_bad_value_is_told_with_its_line,
           a_file_that_others_may_write_is_not_trusted,
           threads_read_a_file_that_changes, a_huge_file_is_refused)
