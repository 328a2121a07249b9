/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs address and length of memory in few bytes (range.h has the format):
 * tries all forms and uses the shortest.
 */
#include "ucp/mem/range.h"

#include "ucp/base/types.h"

#include <string.h>

enum {
    MAX_MORE   = 7,
    FORM_AT    = 3,
    FORM_MASK  = 7,
    PAGES      = 1 << 6,
    PAGE_SHIFT = 12,
    FORM_LONG  = 7,
};

/* The forms of range.h. `shift`: the bits contain the value divided by 2^shift.
 * `top`: if not 0, the value is the distance from the address to `top`;
 * otherwise it is the address itself. */
static const struct {
    uint8_t bits, shift;
    uint64_t top;
} forms[] = {
    {64, 0, 0},          {47, 0, 0},          {43, 4, 0},
    {41, 0, 1ull << 47}, {37, 4, 1ull << 47}, {41, 0, 1ull << 48},
    {37, 4, 1ull << 48}, {64, 0, 0},
};

static size_t bytes_for(unsigned bits)
{
    return (bits + 7) / 8;
}

static unsigned bits_of(uint64_t number)
{
    return (number == 0) ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

/* Stores in *code_p the address as this form expresses it. Returns 0 if the
 * form cannot express the address, because the address is not aligned to the
 * form's unit or needs more bits. */
static int encode(unsigned form, uint64_t address, uint64_t *code_p)
{
    uint64_t value = (forms[form].top == 0) ? address :
                                              forms[form].top - address;

    *code_p = value >> forms[form].shift;
    return ((*code_p << forms[form].shift) == value) &&
           (bits_of(*code_p) <= forms[form].bits);
}

static uint64_t decode(unsigned form, uint64_t code)
{
    uint64_t value = code << forms[form].shift;

    return (forms[form].top == 0) ? value : forms[form].top - value;
}

/* Returns the number of bytes that the range takes in this form; 0 if the form
 * cannot express it. `length`: in units, as it is stored. */
static size_t size_in(unsigned form, uint64_t address, uint64_t length)
{
    size_t least = bytes_for(forms[form].bits), size;
    uint64_t code;

    if (!encode(form, address, &code)) {
        return 0;
    }
    if (form == FORM_LONG) {
        return UCP_RANGE_MAX;
    }
    size = bytes_for(forms[form].bits + bits_of(length));
    return (size - least <= MAX_MORE) ? size : 0;
}

size_t ucp_range_pack(uint64_t address, uint64_t length, uint8_t *bytes,
                      uint8_t *sizes_p)
{
    int pages     = (length > 0) && (length % (1u << PAGE_SHIFT) == 0);
    uint64_t unit = pages ? length >> PAGE_SHIFT : length;
    unsigned best = FORM_LONG, bits, form;
    size_t size   = UCP_RANGE_MAX, other;
    ucp_le64_t words[2];
    uint64_t code;

    for (form = 0; form < FORM_LONG; ++form) {
        other = size_in(form, address, unit);
        if ((other != 0) && (other < size)) {
            size = other;
            best = form;
        }
    }

    encode(best, address, &code);
    bits     = forms[best].bits;
    words[0] = ucp_le64((bits < 64) ? code | (unit << bits) : code);
    words[1] = ucp_le64((bits < 64) ? unit >> (64 - bits) : unit);
    memcpy(bytes, words, size);
    *sizes_p = (uint8_t)((pages ? PAGES : 0) | (best << FORM_AT));
    if (best != FORM_LONG) {
        *sizes_p |= (uint8_t)(size - bytes_for(bits));
    }
    return size;
}

size_t ucp_range_size(uint8_t sizes)
{
    unsigned form = (sizes >> FORM_AT) & FORM_MASK;

    return (form == FORM_LONG) ?
               UCP_RANGE_MAX :
               bytes_for(forms[form].bits) + (sizes & MAX_MORE);
}

int ucp_range_unpack(uint8_t sizes, const uint8_t *bytes, uint64_t *address_p,
                     uint64_t *length_p)
{
    unsigned form       = (sizes >> FORM_AT) & FORM_MASK;
    unsigned bits       = forms[form].bits;
    ucp_le64_t words[2] = {{{0}}};
    uint64_t low, high;

    memcpy(words, bytes, ucp_range_size(sizes));
    low  = ucp_le64_get(words[0]);
    high = ucp_le64_get(words[1]);
    if (bits < 64) {
        /* The length has at most 63 bits: 7 bytes (MAX_MORE), and those bits of
         * the last byte of the address that the address does not use. */
        high = (low >> bits) | (high << (64 - bits));
        low &= (1ull << bits) - 1;
    }
    if (sizes & PAGES) {
        if (high > (UINT64_MAX >> PAGE_SHIFT)) {
            return 0;
        }
        high <<= PAGE_SHIFT;
    }
    *address_p = decode(form, low);
    *length_p  = high;
    return *address_p + high >= *address_p;
}
