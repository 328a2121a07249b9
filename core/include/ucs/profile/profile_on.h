/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros that record the execution of code in a profiling context. If the
 * context is NULL, a macro only tests the pointer. See profile_defs.h. */
#ifndef UCS_PROFILE_ON_H
#define UCS_PROFILE_ON_H

#include <ucs/profile/profile_defs.h>
#include <ucs/sys/preprocessor.h>

/* Adds a record for this place. */
#define UCS_PROFILE_CTX_RECORD(_ctx, _type, _name, _param32, _param64) \
    do { \
        static ucs_profile_loc_id_t _loc_id; \
\
        if ((_ctx) != NULL) { \
            ucs_profile_record((_ctx), (_type), (_name), (_param32), \
                               (_param64), __FILE__, __LINE__, __func__, \
                               &_loc_id); \
        } \
    } while (0)

/* Records that this place was executed. */
#define UCS_PROFILE_CTX_SAMPLE(_ctx, _name) \
    UCS_PROFILE_CTX_RECORD(_ctx, UCS_PROFILE_TYPE_SAMPLE, (_name), 0, 0)

/* Record the start and the end of a scope, which must be in the same thread. */
#define UCS_PROFILE_CTX_SCOPE_BEGIN(_ctx) \
    UCS_PROFILE_CTX_RECORD(_ctx, UCS_PROFILE_TYPE_SCOPE_BEGIN, "", 0, 0)
#define UCS_PROFILE_CTX_SCOPE_END(_ctx, _name) \
    UCS_PROFILE_CTX_RECORD(_ctx, UCS_PROFILE_TYPE_SCOPE_END, (_name), 0, 0)

/* Makes a call, as a scope of its own: UCS_PROFILE_CTX_NAMED_CALL(ctx, "f", f,
 * 1, 2) returns f(1, 2); the VOID form is for functions that return nothing. */
#define UCS_PROFILE_CTX_NAMED_CALL(_ctx, _name, _func, ...) \
    ({ \
        __typeof__(_func(__VA_ARGS__)) _call_result; \
\
        UCS_PROFILE_CTX_SCOPE_BEGIN(_ctx); \
        _call_result = _func(__VA_ARGS__); \
        UCS_PROFILE_CTX_SCOPE_END(_ctx, _name); \
        _call_result; \
    })
#define UCS_PROFILE_CTX_NAMED_CALL_VOID(_ctx, _name, _func, ...) \
    do { \
        UCS_PROFILE_CTX_SCOPE_BEGIN(_ctx); \
        _func(__VA_ARGS__); \
        UCS_PROFILE_CTX_SCOPE_END(_ctx, _name); \
    } while (0)

/* Begins the definition of a function that is a scope; the body follows.
 * _arglist contains the names of the function's arguments in parentheses; the
 * arguments after it are their declarations. */
#define _UCS_PROFILE_CTX_FUNC(_ctx, _ret_type, _name, _arglist, ...) \
    static inline _ret_type _name##_profiled(__VA_ARGS__); \
    _ret_type _name(__VA_ARGS__) \
    { \
        _ret_type _func_result; \
\
        UCS_PROFILE_CTX_SCOPE_BEGIN(_ctx); \
        _func_result = _name##_profiled _arglist; \
        UCS_PROFILE_CTX_SCOPE_END(_ctx, #_name); \
        return _func_result; \
    } \
    static inline _ret_type _name##_profiled(__VA_ARGS__)
#define _UCS_PROFILE_CTX_FUNC_VOID(_ctx, _name, _arglist, ...) \
    static inline void _name##_profiled(__VA_ARGS__); \
    void _name(__VA_ARGS__) \
    { \
        UCS_PROFILE_CTX_SCOPE_BEGIN(_ctx); \
        _name##_profiled _arglist; \
        UCS_PROFILE_CTX_SCOPE_END(_ctx, #_name); \
    } \
    static inline void _name##_profiled(__VA_ARGS__)

#endif
