/* SPDX-License-Identifier: BSD-3-Clause */
/* String buffers that grow, and string buffers of fixed size. */
#include "suite.h"

#include "ucs/datastruct/string_buffer.h"

START_TEST(text_grows)
{
    ucs_string_buffer_t strb = UCS_STRING_BUFFER_INITIALIZER;
    char *text;
    int i;

    ck_assert_str_eq(ucs_string_buffer_cstr(&strb), "");
    for (i = 0; i < 1000; ++i) {
        ucs_string_buffer_appendf(&strb, "%03d,", i);
    }
    ck_assert_uint_eq(ucs_string_buffer_length(&strb), 4000);
    text = ucs_string_buffer_extract(&strb);
    ck_assert_uint_eq(strlen(text), 4000);
    ck_assert_str_eq(text + 3996, "999,");
    free(text);
    ck_assert_str_eq(ucs_string_buffer_cstr(&strb), "");
    ucs_string_buffer_cleanup(&strb);
}
END_TEST

START_TEST(fixed_text_is_cut)
{
    ucs_string_buffer_t strb;
    char buf[8];

    ucs_string_buffer_init_fixed(&strb, buf, sizeof(buf));
    ucs_string_buffer_appendf(&strb, "%s", "12345");
    ucs_string_buffer_appendf(&strb, "%s", "6789");
    ck_assert_str_eq(buf, "1234567");
    ucs_string_buffer_appendf(&strb, "x");
    ck_assert_str_eq(buf, "1234567");
    ucs_string_buffer_cleanup(&strb);
}
END_TEST

SUITE_MAIN("string_buffer", text_grows, fixed_text_is_cut)
