/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Piecewise linear functions of a size, and the lower envelope of several.
 */
#ifndef UCS_PIECEWISE_FUNC_H
#define UCS_PIECEWISE_FUNC_H

#include <ucs/datastruct/linear_func.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/* A linear segment, from the end of the previous segment (or 0) to "end"
 * inclusive. */
typedef struct ucs_piecewise_segment {
    size_t end;
    ucs_linear_func_t func;
} ucs_piecewise_segment_t;

/* Segments in order; the last one ends at SIZE_MAX. */
typedef struct ucs_piecewise_func {
    ucs_piecewise_segment_t *segments;
    unsigned count;
    unsigned capacity;
} ucs_piecewise_func_t;

/** Initializes a function that is zero for all sizes. */
ucs_status_t ucs_piecewise_func_init(ucs_piecewise_func_t *pw);
void ucs_piecewise_func_cleanup(ucs_piecewise_func_t *pw);

/** Adds a line to the function in the range [start, end]. */
ucs_status_t ucs_piecewise_func_add_range(ucs_piecewise_func_t *pw,
                                          size_t start, size_t end,
                                          ucs_linear_func_t func);

double ucs_piecewise_func_apply(const ucs_piecewise_func_t *pw, size_t x);

/* One entry of an envelope: the candidate `index` is the cheapest for sizes
 * above the end of the previous entry (from 0 in the first entry) up to "end"
 * inclusive. */
typedef struct ucs_envelope_entry {
    size_t end;
    unsigned index;
} ucs_envelope_entry_t;

/**
 * Computes the lower envelope of candidates.
 *
 * @param [in]  funcs      Candidates; NULL entries are ignored.
 * @param [in]  ranges     Sizes that each candidate supports, as {first, last};
 *                         NULL: all support all sizes.
 * @param [in]  num_funcs  Number of candidates.
 * @param [out] entries_p  Array to free(); its last entry ends at SIZE_MAX. An
 *                         index of UINT_MAX means that no candidate is valid.
 * @param [out] count_p    Its length.
 */
ucs_status_t ucs_piecewise_envelope(const ucs_piecewise_func_t *const *funcs,
                                    const size_t (*ranges)[2],
                                    unsigned num_funcs,
                                    ucs_envelope_entry_t **entries_p,
                                    unsigned *count_p);

END_C_DECLS

#endif
