/* SPDX-License-Identifier: BSD-3-Clause */
/* Explanations for words in UCX_TLS, the list of transports to use, that match
 * no transport. */
#include <string.h>

#include "suites.h"
#include "tree.h"

static const char *const builtin[] = {"self", "all", NULL};

static tree_t tree;

static void set_up(void)
{
    tree_create(&tree);
    tree_plugin(&tree, "env", "aa", "none", NULL);
    tree_plugin(&tree, "env", "ib", "none",
                "{\"requires\":{\"device_nodes\":[\"/dev/infini*\"],"
                "\"hint\":\"apt install rdma-core\"},"
                "\"components\":[{\"name\":\"ib\",\"transports\":"
                "[{\"name\":\"rc_verbs\",\"aliases\":[\"rc\"],"
                "\"operations\":[],\"reach\":[\"network\"],"
                "\"device_class\":\"network\"}]}]}");
}

static void tear_down(void)
{
    tree_destroy(&tree);
}

static const struct explain_case {
    const char *word;
    ucs_status_t status;
    const char *text; /* part of the explanation */
} cases[] = {
    {"fake", UCS_OK, ""},
    {"pretence", UCS_OK, ""},
    {"self", UCS_OK, ""},
    {"rc", UCS_ERR_UNSUPPORTED, "UCX-P401"},
    {"rc_verbs", UCS_ERR_UNSUPPORTED, "apt install rdma-core"},
    {"fakt", UCS_ERR_NO_ELEM, "did you mean \"fake\"?"},
    {"slef", UCS_ERR_NO_ELEM, "did you mean \"self\"?"},
    {"rc_verb", UCS_ERR_NO_ELEM, "did you mean \"rc_verbs\"?"},
    {"quantum_entangler", UCS_ERR_NO_ELEM, "ucx-plugins list"},
    {"", UCS_ERR_NO_ELEM, "no plugin offers"},
};

/* explain: a word that is a known name needs no explanation; for the name of a
 * rejected plugin or transport, the text contains the reason of the rejection;
 * for an unknown word, it proposes a similar name */
START_TEST(word_is_explained)
{
    const struct explain_case *test = &cases[_i];
    uct_plugin_registry_t *registry = tree_scan(&tree);
    char text[UCT_REJECT_REASON_MAX];

    ck_assert_int_eq(uct_plugin_explain_word(registry, test->word, builtin,
                                             text, sizeof(text)),
                     test->status);
    ck_assert_int_eq(text[0] == '\0', test->status == UCS_OK);
    ck_assert_msg(strstr(text, test->text) != NULL, "'%s' does not say '%s'",
                  text, test->text);
    uct_plugin_registry_destroy(registry);
}
END_TEST

Suite *suite_explain(void)
{
    Suite *suite = suite_create("plugin: explanations");
    TCase *tcase = tcase_create("explain");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, word_is_explained, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(suite, tcase);
    return suite;
}
