/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros that process tokens: conversion to strings, concatenation, unique
 * names, and lists of arguments. */
#ifndef UCS_PREPROCESSOR_H
#define UCS_PREPROCESSOR_H

/* Convert tokens to a string: without, and with macro expansion. */
#define UCS_PP_QUOTE(_x)       #_x
#define UCS_PP_MAKE_STRING(_x) UCS_PP_QUOTE(_x)

/* Forces one more expansion of its argument. */
#define UCS_PP_EXPAND(_x) _x

/* Concatenates tokens after macro expansion. */
#define UCS_PP_TOKENPASTE_(_a, _b) _a##_b
#define UCS_PP_TOKENPASTE(_a, _b)  UCS_PP_TOKENPASTE_(_a, _b)
#define UCS_PP_TOKENPASTE3(_a, _b, _c) \
    UCS_PP_TOKENPASTE(_a, UCS_PP_TOKENPASTE(_b, _c))

/* A number that differs for each use, and a name that ends in such a number. */
#define UCS_PP_UNIQUE_ID            __COUNTER__
#define UCS_PP_APPEND_UNIQUE_ID(_x) UCS_PP_TOKENPASTE(_x, UCS_PP_UNIQUE_ID)

/* Maximum number of arguments of the macros below, and a macro that counts
 * arguments. */
#define UCS_PP_MAX_ARGS 20
#define UCS_PP_NUM_ARGS(...) \
    UCS_PP_ARG_21_(, ##__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, \
                   10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define UCS_PP_ARG_21_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, \
                       _13, _14, _15, _16, _17, _18, _19, _20, _n, ...) \
    _n

/* Expands to _macro(_arg, x) for each argument x after _arg. UCS_PP_FOREACH_SEP
 * separates the expansions by commas. */
#define UCS_PP_FOREACH(_macro, _arg, ...) \
    UCS_PP_TOKENPASTE(UCS_PP_EACH_, UCS_PP_NUM_ARGS(__VA_ARGS__)) \
    (_macro, _arg, UCS_PP_NOTHING_, __VA_ARGS__)
#define UCS_PP_FOREACH_SEP(_macro, _arg, ...) \
    UCS_PP_TOKENPASTE(UCS_PP_EACH_, UCS_PP_NUM_ARGS(__VA_ARGS__)) \
    (_macro, _arg, UCS_PP_COMMA_, __VA_ARGS__)
#define UCS_PP_NOTHING_()
#define UCS_PP_COMMA_() ,

#define UCS_PP_EACH_0(_m, _a, _s, ...)
#define UCS_PP_EACH_1(_m, _a, _s, _x) _m(_a, _x)
#define UCS_PP_EACH_2(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_1(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_3(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_2(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_4(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_3(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_5(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_4(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_6(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_5(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_7(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_6(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_8(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_7(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_9(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_8(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_10(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_9(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_11(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_10(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_12(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_11(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_13(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_12(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_14(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_13(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_15(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_14(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_16(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_15(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_17(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_16(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_18(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_17(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_19(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_18(_m, _a, _s, __VA_ARGS__)
#define UCS_PP_EACH_20(_m, _a, _s, _x, ...) \
    _m(_a, _x) _s() UCS_PP_EACH_19(_m, _a, _s, __VA_ARGS__)

/* Expands to the numbers 0 to _count - 1, separated by commas. */
#define UCS_PP_SEQ(_count) UCS_PP_TOKENPASTE(UCS_PP_SEQ_, _count)
#define UCS_PP_SEQ_0
#define UCS_PP_SEQ_1  0
#define UCS_PP_SEQ_2  UCS_PP_SEQ_1, 1
#define UCS_PP_SEQ_3  UCS_PP_SEQ_2, 2
#define UCS_PP_SEQ_4  UCS_PP_SEQ_3, 3
#define UCS_PP_SEQ_5  UCS_PP_SEQ_4, 4
#define UCS_PP_SEQ_6  UCS_PP_SEQ_5, 5
#define UCS_PP_SEQ_7  UCS_PP_SEQ_6, 6
#define UCS_PP_SEQ_8  UCS_PP_SEQ_7, 7
#define UCS_PP_SEQ_9  UCS_PP_SEQ_8, 8
#define UCS_PP_SEQ_10 UCS_PP_SEQ_9, 9
#define UCS_PP_SEQ_11 UCS_PP_SEQ_10, 10
#define UCS_PP_SEQ_12 UCS_PP_SEQ_11, 11
#define UCS_PP_SEQ_13 UCS_PP_SEQ_12, 12
#define UCS_PP_SEQ_14 UCS_PP_SEQ_13, 13
#define UCS_PP_SEQ_15 UCS_PP_SEQ_14, 14
#define UCS_PP_SEQ_16 UCS_PP_SEQ_15, 15
#define UCS_PP_SEQ_17 UCS_PP_SEQ_16, 16
#define UCS_PP_SEQ_18 UCS_PP_SEQ_17, 17
#define UCS_PP_SEQ_19 UCS_PP_SEQ_18, 18
#define UCS_PP_SEQ_20 UCS_PP_SEQ_19, 19

/* Combines two lists of equal length, in parentheses, to a list of pairs:
 * UCS_PP_ZIP((a, b), (1, 2)) is (a, 1), (b, 2). */
#define UCS_PP_HEAD_(_x, ...) _x
#define UCS_PP_TAIL_(_x, ...) (__VA_ARGS__)
#define UCS_PP_ZIP(_l1, _l2) \
    UCS_PP_TOKENPASTE(UCS_PP_ZIP_, \
                      UCS_PP_NUM_ARGS_OF_(UCS_PP_TUPLE_BREAK _l1)) \
    (_l1, _l2)
#define UCS_PP_NUM_ARGS_OF_(...) UCS_PP_NUM_ARGS(__VA_ARGS__)
#define UCS_PP_ZIP_0(_l1, _l2)
#define UCS_PP_ZIP_1(_l1, _l2) (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2)
#define UCS_PP_ZIP_2(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_1(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_3(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_2(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_4(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_3(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_5(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_4(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_6(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_5(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_7(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_6(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_8(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_7(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_9(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_8(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_10(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_9(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_11(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_10(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_12(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_11(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_13(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_12(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_14(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_13(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_15(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_14(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_16(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_15(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_17(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_16(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_18(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_17(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_19(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_18(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)
#define UCS_PP_ZIP_20(_l1, _l2) \
    (UCS_PP_HEAD_ _l1, UCS_PP_HEAD_ _l2), \
        UCS_PP_ZIP_19(UCS_PP_TAIL_ _l1, UCS_PP_TAIL_ _l2)

/* UCS_PP_TUPLE_i, followed by a tuple (a list in parentheses), expands to
 * element i of the tuple, counted from 0. UCS_PP_TUPLE_BREAK removes the
 * parentheses. */
#define UCS_PP_TUPLE_BREAK(...)                                            __VA_ARGS__
#define UCS_PP_TUPLE_0_(_0, ...)                                           _0
#define UCS_PP_TUPLE_0(...)                                                UCS_PP_TUPLE_0_(__VA_ARGS__, )
#define UCS_PP_TUPLE_1_(_0, _1, ...)                                       _1
#define UCS_PP_TUPLE_1(...)                                                UCS_PP_TUPLE_1_(__VA_ARGS__, )
#define UCS_PP_TUPLE_2_(_0, _1, _2, ...)                                   _2
#define UCS_PP_TUPLE_2(...)                                                UCS_PP_TUPLE_2_(__VA_ARGS__, )
#define UCS_PP_TUPLE_3_(_0, _1, _2, _3, ...)                               _3
#define UCS_PP_TUPLE_3(...)                                                UCS_PP_TUPLE_3_(__VA_ARGS__, )
#define UCS_PP_TUPLE_4_(_0, _1, _2, _3, _4, ...)                           _4
#define UCS_PP_TUPLE_4(...)                                                UCS_PP_TUPLE_4_(__VA_ARGS__, )
#define UCS_PP_TUPLE_5_(_0, _1, _2, _3, _4, _5, ...)                       _5
#define UCS_PP_TUPLE_5(...)                                                UCS_PP_TUPLE_5_(__VA_ARGS__, )
#define UCS_PP_TUPLE_6_(_0, _1, _2, _3, _4, _5, _6, ...)                   _6
#define UCS_PP_TUPLE_6(...)                                                UCS_PP_TUPLE_6_(__VA_ARGS__, )
#define UCS_PP_TUPLE_7_(_0, _1, _2, _3, _4, _5, _6, _7, ...)               _7
#define UCS_PP_TUPLE_7(...)                                                UCS_PP_TUPLE_7_(__VA_ARGS__, )
#define UCS_PP_TUPLE_8_(_0, _1, _2, _3, _4, _5, _6, _7, _8, ...)           _8
#define UCS_PP_TUPLE_8(...)                                                UCS_PP_TUPLE_8_(__VA_ARGS__, )
#define UCS_PP_TUPLE_9_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, ...)       _9
#define UCS_PP_TUPLE_9(...)                                                UCS_PP_TUPLE_9_(__VA_ARGS__, )
#define UCS_PP_TUPLE_10_(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, ...) _10
#define UCS_PP_TUPLE_10(...)                                               UCS_PP_TUPLE_10_(__VA_ARGS__, )

#endif
