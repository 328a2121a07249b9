/* SPDX-License-Identifier: BSD-3-Clause */
/* A cost as a straight line: f(x) = c + m * x. */
#ifndef UCS_LINEAR_FUNC_H
#define UCS_LINEAR_FUNC_H

#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

/** @addtogroup UCS_DATASTRUCT
 *  @{ */

/** The function f(x) = c + m * x. */
typedef struct {
    double c; /**< Value at zero */
    double m; /**< Slope */
} ucs_linear_func_t;

#ifdef __cplusplus
/** The constant function 0. */
#define UCS_LINEAR_FUNC_ZERO ucs_linear_func_make(0, 0)
#else
/** The constant function 0. */
#define UCS_LINEAR_FUNC_ZERO ((ucs_linear_func_t){0, 0})
#endif

/**
 * Returns the line c + m * x.
 *
 * @return The line
 */
static inline ucs_linear_func_t ucs_linear_func_make(double c, double m)
{
    ucs_linear_func_t func;

    func.c = c;
    func.m = m;
    return func;
}

/**
 * f(x)
 *
 * @return The value at x
 */
static inline double ucs_linear_func_apply(ucs_linear_func_t f, double x)
{
    return f.c + f.m * x;
}

/**
 * f + g
 *
 * @return The sum
 */
static inline ucs_linear_func_t ucs_linear_func_add(ucs_linear_func_t f,
                                                    ucs_linear_func_t g)
{
    return ucs_linear_func_make(f.c + g.c, f.m + g.m);
}

/**
 * f - g
 *
 * @return The difference
 */
static inline ucs_linear_func_t ucs_linear_func_sub(ucs_linear_func_t f,
                                                    ucs_linear_func_t g)
{
    return ucs_linear_func_make(f.c - g.c, f.m - g.m);
}

/** f += g */
static inline void ucs_linear_func_add_inplace(ucs_linear_func_t *f,
                                               ucs_linear_func_t g)
{
    f->c += g.c;
    f->m += g.m;
}

/**
 * The line x -> outer(inner(x))
 *
 * @return The line
 */
static inline ucs_linear_func_t ucs_linear_func_compose(ucs_linear_func_t outer,
                                                        ucs_linear_func_t inner)
{
    return ucs_linear_func_make(outer.c + outer.m * inner.c, outer.m * inner.m);
}

/**
 * Computes the intersection of two lines.
 *
 * @return 0 and the abscissa in @a x_p, or -1 if they are parallel.
 */
static inline int ucs_linear_func_intersect(ucs_linear_func_t f,
                                            ucs_linear_func_t g, double *x_p)
{
    if (f.m == g.m) {
        return -1;
    }

    *x_p = (g.c - f.c) / (f.m - g.m);
    return 0;
}

/** @} */

END_C_DECLS

#endif
