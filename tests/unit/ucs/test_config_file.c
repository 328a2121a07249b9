/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx.conf: what is found, which file wins, and what is not trusted. */
#include "suite.h"

#include <sys/stat.h>
#include <unistd.h>

#include "ucs/config/config.h"
#include "ucs/sys/sys.h"

typedef struct {
    char *a;
    char *b;
} opts_t;

static const ucs_config_field_t fields[] = {
        {"FT_A", "none", "A.", ucs_offsetof(opts_t, a), UCS_CONFIG_TYPE_STRING,
         0},
        {"FT_B", "none", "B.", ucs_offsetof(opts_t, b), UCS_CONFIG_TYPE_STRING,
         0},
        {NULL}};

static ucs_config_table_t table = {"File test", "", fields, sizeof(opts_t),
                                   NULL, {NULL, NULL}};

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
    put("home/ucx.conf", "UCX_FT_A=home\n", 0600);
    expect(NULL, "home", "conf");
    put("cwd/ucx.conf", "UCX_FT_A=cwd", 0600);
    expect(NULL, "cwd", "conf");
    setenv("UCX_FT_A", "env", 1);
    expect(NULL, "env", "conf");
    unsetenv("UCX_FT_A");
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
    expect(&source, "cwd", "app"); /* a missing file is no error */
    put("mine.conf", "UCX_FT_A=mine\n", 0600);
    expect(&source, "mine", "app");
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
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* must not hang */
    put("cwd/ucx.conf", "UCX_FT_A=good\n", 0600);
    log_catch();
    expect(NULL, "good", "none");
    log_release();
    ck_logged("not a regular file");
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
           a_file_of_the_application_counts_more, the_syntax_is_forgiving,
           a_file_that_others_may_write_is_not_trusted, a_huge_file_is_refused)
