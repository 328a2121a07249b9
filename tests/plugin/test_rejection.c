/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rejection codes (UCX-P...), on which users and scripts rely. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "tree.h"
#include "uct/plugin/rejection.h"

/* rejection: every code has a name that contains its number, a meaning and a
 * remedy */
START_TEST(every_code_is_explained)
{
    const uct_rejection_info_t *table;
    unsigned count, i;
    char id[16];

    table = uct_rejection_table(&count);
    ck_assert_uint_ge(count, 30);
    for (i = 0; i < count; ++i) {
        snprintf(id, sizeof(id), "UCX-P%03d", (int)table[i].code);
        ck_assert_str_eq(table[i].id, id);
        ck_assert_uint_gt(strlen(table[i].word), 0);
        ck_assert_uint_gt(strlen(table[i].meaning), 10);
        ck_assert_uint_gt(strlen(table[i].remedy), 5);
        if (i > 0) {
            ck_assert_int_gt(table[i].code, table[i - 1].code);
            ck_assert_int_lt(table[i].status, UCS_OK);
        }
        ck_assert_ptr_eq(uct_rejection_info(table[i].code), &table[i]);
    }
}
END_TEST

/* rejection: the table does not mark it as a fault if a plugin's device or
 * library is absent, or if the plugin is shadowed or disabled */
START_TEST(absence_is_no_fault)
{
    ck_assert(!uct_rejection_info(UCT_REJECT_NEED_DEVICE)->fault);
    ck_assert(!uct_rejection_info(UCT_REJECT_NEED_LIBRARY)->fault);
    ck_assert(!uct_rejection_info(UCT_REJECT_SHADOWED)->fault);
    ck_assert(!uct_rejection_info(UCT_REJECT_DISABLED)->fault);
    ck_assert(!uct_rejection_info(UCT_REJECT_NOTHING)->fault);
    ck_assert(uct_rejection_info(UCT_REJECT_SYMBOL)->fault);
    ck_assert(uct_rejection_info(UCT_REJECT_SCHEMA)->fault);
}
END_TEST

/* rejection: an unknown number has an entry */
START_TEST(unknown_code_has_an_entry)
{
    ck_assert_str_eq(uct_rejection_info((uct_rejection_code_t)12345)->id,
                     "UCX-P???");
}
END_TEST

/* rejection: control characters in a reason are replaced */
START_TEST(reason_is_made_harmless)
{
    uct_rejection_t rejection;

    uct_reject(&rejection, UCT_REJECT_LOAD, "%s",
               "a\033[31mb\nc\x7f"
               "d\xc2\x9b"
               "e\xff\xfe"
               "f\xc3\xa9g\xe2\x82");
    ck_assert_str_eq(rejection.reason, "a?[31mb?c?d??e??f\xc3\xa9g??");
}
END_TEST

/* rejection: a reason that is too long is truncated */
START_TEST(long_reason_is_cut)
{
    uct_rejection_t rejection;
    char text[4 * UCT_REJECT_REASON_MAX];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_int_eq(uct_reject(&rejection, UCT_REJECT_LOAD, "%s", text),
                     UCS_ERR_IO_ERROR);
    ck_assert_uint_eq(strlen(rejection.reason), UCT_REJECT_REASON_MAX - 1);
    ck_assert_int_eq(uct_reject(NULL, UCT_REJECT_LOAD, "%s", text),
                     UCS_ERR_IO_ERROR);
}
END_TEST

/* Returns the text of the file whose path is in an environment variable; the
 * caller frees it. */
static char *read_document(const char *variable)
{
    FILE *file = fopen(tree_product(variable), "re");
    char *text = calloc(1, 1 << 18);

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_gt(fread(text, 1, (1 << 18) - 1, file), 0);
    fclose(file);
    return text;
}

/* rejection: the manual and CODES.md contain every code; CODES.md also its
 * meaning and remedy */
START_TEST(documents_have_every_code)
{
    char *manual = read_document("UCX_PLUGINS_MANUAL");
    char *codes  = read_document("UCX_SDK_CODES");
    const uct_rejection_info_t *table;
    char line[512];
    unsigned count, i;

    table = uct_rejection_table(&count);
    for (i = 1; i < count; ++i) {
        snprintf(line, sizeof(line), "UCX\\-P%d", (int)table[i].code);
        ck_assert_msg(strstr(manual, line) != NULL, "manual: %s", line);
        snprintf(line, sizeof(line), "| %s | %s | %s | %s |", table[i].id,
                 table[i].meaning, table[i].remedy,
                 table[i].fault ? "fault" : "absence");
        ck_assert_msg(strstr(codes, line) != NULL, "CODES.md: %s", line);
    }
    free(manual);
    free(codes);
}
END_TEST

Suite *suite_rejection(void)
{
    Suite *suite = suite_create("plugin: rejection codes");
    TCase *tcase = tcase_create("rejection");

    tcase_add_test(tcase, every_code_is_explained);
    tcase_add_test(tcase, absence_is_no_fault);
    tcase_add_test(tcase, unknown_code_has_an_entry);
    tcase_add_test(tcase, reason_is_made_harmless);
    tcase_add_test(tcase, long_reason_is_cut);
    tcase_add_test(tcase, documents_have_every_code);
    suite_add_tcase(suite, tcase);
    return suite;
}
