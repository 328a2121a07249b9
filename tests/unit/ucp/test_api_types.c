/* SPDX-License-Identifier: BSD-3-Clause */
/* The encoding of datatypes. */
#include "api.h"

static unsigned class_of(ucp_datatype_t datatype)
{
    return (unsigned)(datatype & UCP_DATATYPE_CLASS_MASK);
}

static void *start_pack(void *context, const void *buffer, size_t count)
{
    return context;
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return context;
}

static size_t packed_size(void *state)
{
    return 0;
}

static size_t pack(void *state, size_t offset, void *dest, size_t max_length)
{
    return 0;
}

static ucs_status_t unpack(void *state, size_t offset, const void *src,
                           size_t length)
{
    return UCS_OK;
}

static void finish(void *state)
{
}

START_TEST(the_low_bits_tell_the_kind)
{
    static const ucp_generic_dt_ops_t ops = {
        start_pack, start_unpack, packed_size, pack, unpack, finish,
    };
    ucp_datatype_t datatype;

    ck_assert_uint_eq(UCP_DATATYPE_CLASS_MASK, (1u << UCP_DATATYPE_SHIFT) - 1);
    ck_assert_uint_eq(class_of(ucp_dt_make_contig(1)), UCP_DATATYPE_CONTIG);
    ck_assert_uint_eq(class_of(ucp_dt_make_contig(12345)), UCP_DATATYPE_CONTIG);
    ck_assert_uint_eq(class_of(ucp_dt_make_iov()), UCP_DATATYPE_IOV);
    ck_assert_int_eq(ucp_dt_create_generic(&ops, NULL, &datatype), UCS_OK);
    ck_assert_uint_eq(class_of(datatype), UCP_DATATYPE_GENERIC);
    ucp_dt_destroy(datatype);
    /* no effect: only generic datatypes are objects */
    ucp_dt_destroy(ucp_dt_make_iov());
}
END_TEST

START_TEST(the_other_bits_of_a_contiguous_one_are_the_size)
{
    ucp_datatype_attr_t attr = {
        .field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE |
                      UCP_DATATYPE_ATTR_FIELD_COUNT,
        .count = 3,
    };

    ck_assert_uint_eq(ucp_dt_make_contig(12345) >> UCP_DATATYPE_SHIFT, 12345);
    ck_assert_int_eq(ucp_dt_query(ucp_dt_make_contig(12345), &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, 3 * 12345);
}
END_TEST

START_TEST(a_kind_that_is_none_is_refused)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
    };
    ucs_status_ptr_t request;
    unsigned kind;
    local_t local;

    local_open(&local);
    for (kind = 0; kind <= UCP_DATATYPE_CLASS_MASK; ++kind) {
        if ((kind == UCP_DATATYPE_CONTIG) || (kind == UCP_DATATYPE_IOV) ||
            (kind == UCP_DATATYPE_STRIDED) || (kind == UCP_DATATYPE_GENERIC)) {
            continue;
        }
        param.datatype = kind;
        request        = ucp_tag_send_nbx(local.ep, "abc", 3, 1, &param);
        ck_assert_int_eq(UCS_PTR_RAW_STATUS(request), UCS_ERR_INVALID_PARAM);
    }
    local_close(&local);
}
END_TEST

SUITE_MAIN("kinds of datatypes", the_low_bits_tell_the_kind,
           the_other_bits_of_a_contiguous_one_are_the_size,
           a_kind_that_is_none_is_refused)
