/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the matcher for the patterns in the manifest schema, which support a
 * part of the syntax of regular expressions. The regular expressions of the C
 * library are the reference. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "uct/plugin/pattern.h"

/* The patterns of the schema, and patterns that use all supported syntax. */
static const char *const good_patterns[] = {
    "^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.+-]+)?$",
    "^[A-Za-z0-9][A-Za-z0-9 .()+-]*$",
    "^[A-Z][A-Z0-9_]*$",
    "^x-",
    "^[a-z][a-z0-9_-]*$",
    "^/",
    "^[A-Za-z0-9_-]+$",
    "^(/.*|[^/]+)$",
    "^[1-9][0-9]{0,4}\\.(0|[1-9][0-9]{0,4})$",
    "^[^\001-\037\177]*$",
    "",
    "$",
    "a{2,3}b",
    "a{2}",
    "b{1,}c",
    "(ab|c)d",
    "x?y+z*$",
    "[]a]b",
    "[^]a]",
    "^(a|bc)?d(e|f(g|h)?)$",
    "^a*a*a*b",
    ".\\..",
};

static const char *const bad_patterns[] = {
    "a|b", "(a",    "a)",   "*a",     "[a",         "[",   "[^",
    "a{",  "a{2,1", "a{x}", "\\",     "+",          "a**", "a{3,2}",
    "()*", "(ab)*", "(a)+", "(a){2}", "a{1234567}",
};

/* random_word() returns a random sequence of these characters, which occur in
 * the patterns, or one of `samples` with one changed character. */
static const char letters[] = "0019/.-+_aAzZxybcdefgh ()]\001\303\244";

static const char *const samples[] = {"1.20.0", "1.2.3-rc.1", "10.20", "1.0"};

static void random_word(char *word, unsigned max)
{
    unsigned length = (unsigned)rand() % max, i;

    if (rand() % 2) {
        strcpy(
            word,
            samples[(unsigned)rand() % (sizeof(samples) / sizeof(samples[0]))]);
        word[(unsigned)rand() % strlen(word)] =
            letters[(unsigned)rand() % (sizeof(letters) - 1)];
        return;
    }
    for (i = 0; i < length; ++i) {
        word[i] = letters[(unsigned)rand() % (sizeof(letters) - 1)];
    }
    word[length] = '\0';
}

/* pattern: matches what the C library's regular expression matches */
START_TEST(pattern_means_what_it_says)
{
    const char *pattern = good_patterns[_i];
    unsigned matched    = 0, i;
    char word[12];
    regex_t regex;

    ck_assert_msg(uct_pattern_is_good(pattern), "%s is rejected", pattern);
    ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    srand(42);
    for (i = 0; i < 20000; ++i) {
        int expected, found;

        random_word(word, sizeof(word));
        expected = regexec(&regex, word, 0, NULL, 0) == 0;
        found    = uct_pattern_matches(pattern, word) != 0;
        if (expected != found) {
            ck_abort_msg("'%s' on '%s': %d, expected %d", pattern, word, found,
                         expected);
        }
        matched += found;
    }
    ck_assert_uint_gt(matched, 0);
    regfree(&regex);
}
END_TEST

/* pattern: unsupported syntax is rejected */
START_TEST(pattern_beyond_the_rules_is_rejected)
{
    ck_assert_msg(!uct_pattern_is_good(bad_patterns[_i]), "%s is accepted",
                  bad_patterns[_i]);
}
END_TEST

/* pattern: matching a text of 1 MiB neither overflows the stack nor exceeds the
 * time limit of the test */
START_TEST(pattern_takes_a_long_text)
{
    const size_t length = 1 << 20;
    char *text          = malloc(length + 1);

    ck_assert_ptr_nonnull(text);
    memset(text, 'a', length);
    text[length] = '\0';
    ck_assert(uct_pattern_matches("^[^\001-\037\177]*$", text));
    ck_assert(uct_pattern_matches("^(/.*|[^/]+)$", text));
    text[length - 1] = '\001';
    ck_assert(!uct_pattern_matches("^[^\001-\037\177]*$", text));
    free(text);
}
END_TEST

Suite *suite_pattern(void)
{
    Suite *suite = suite_create("plugin: pattern");
    TCase *tcase = tcase_create("pattern");

    tcase_add_loop_test(tcase, pattern_means_what_it_says, 0,
                        sizeof(good_patterns) / sizeof(good_patterns[0]));
    tcase_add_loop_test(tcase, pattern_beyond_the_rules_is_rejected, 0,
                        sizeof(bad_patterns) / sizeof(bad_patterns[0]));
    tcase_add_test(tcase, pattern_takes_a_long_text);
    suite_add_tcase(suite, tcase);
    return suite;
}
