/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Piecewise linear functions, for example the time of a transfer by its size in
 * bytes, and the lower envelope of several such functions: which of them has
 * the smallest value at each size.
 */
#ifndef UCS_PIECEWISE_FUNC_H
#define UCS_PIECEWISE_FUNC_H

#include <ucs/datastruct/linear_func.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* A linear segment. The first segment begins at 0, each other one after the end
 * of the previous segment. */
typedef struct ucs_piecewise_segment {
    size_t end; /* last size of the segment */
    ucs_linear_func_t func;
} ucs_piecewise_segment_t;

typedef struct ucs_piecewise_func {
    ucs_piecewise_segment_t *segments; /* in ascending order; the last one ends
                                        * at SIZE_MAX */
    unsigned count;                    /* number of segments, at least 1 */
    unsigned capacity;                 /* length of the array */
} ucs_piecewise_func_t;

/** Initializes a function that is zero for all sizes. */
ucs_status_t ucs_piecewise_func_init(ucs_piecewise_func_t *pw);
void ucs_piecewise_func_cleanup(ucs_piecewise_func_t *pw);

/** Adds `func` to the value of the function for all sizes from `start` to
 *  `end`, inclusive. */
ucs_status_t ucs_piecewise_func_add_range(ucs_piecewise_func_t *pw,
                                          size_t start, size_t end,
                                          ucs_linear_func_t func);

/** Returns the value of the function at size x. */
double ucs_piecewise_func_apply(const ucs_piecewise_func_t *pw, size_t x);

/* One entry of an envelope: a range of sizes and the function (candidate) that
 * has the smallest value in it. The first entry begins at size 0, each other
 * one after the end of the previous entry. */
typedef struct ucs_envelope_entry {
    size_t end;     /* last size of the range */
    unsigned index; /* of the candidate; UINT_MAX: no candidate is valid for
                     * these sizes */
} ucs_envelope_entry_t;

/**
 * Computes the lower envelope of candidates.
 *
 * @param [in]  funcs      Candidates; NULL entries are ignored.
 * @param [in]  ranges     Sizes that each candidate supports, as {first, last};
 *                         NULL: all support all sizes.
 * @param [in]  num_funcs  Number of candidates.
 * @param [out] entries_p  Array to free(), in ascending order; its last entry
 *                         ends at SIZE_MAX.
 * @param [out] count_p    Length of that array.
 */
ucs_status_t ucs_piecewise_envelope(const ucs_piecewise_func_t *const *funcs,
                                    const size_t (*ranges)[2],
                                    unsigned num_funcs,
                                    ucs_envelope_entry_t **entries_p,
                                    unsigned *count_p);

END_C_DECLS

#endif
