/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classes in C: a structure whose first member, "super", is its superclass,
 * with an initialiser and a cleanup function, which run along the chain of
 * superclasses.
 *
 *   typedef struct animal { int legs; } animal_t;
 *   typedef struct dog { animal_t super; int tail; } dog_t;
 *
 *   UCS_CLASS_INIT_FUNC(animal_t, int legs)
 *   {
 *       UCS_CLASS_CALL_BASE_INIT();
 *       self->legs = legs;
 *       return UCS_OK;
 *   }
 *   UCS_CLASS_CLEANUP_FUNC(animal_t) {}
 *   UCS_CLASS_DEFINE(animal_t, void);
 *
 *   UCS_CLASS_INIT_FUNC(dog_t, int tail)
 *   {
 *       UCS_CLASS_CALL_SUPER_INIT(animal_t, 4);
 *       ...
 *   }
 *   UCS_CLASS_DEFINE(dog_t, animal_t);
 *
 *   status = UCS_CLASS_NEW(dog_t, &dog, 1);
 *   UCS_CLASS_DELETE(dog_t, dog);
 *
 * If an initialiser fails, the superclasses that were initialised before it are
 * cleaned up; the class that failed cleans up after itself.
 */
#ifndef UCS_TYPE_CLASS_H
#define UCS_TYPE_CLASS_H

#include <stddef.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/sys/preprocessor.h>
#include <ucs/type/status.h>

BEGIN_C_DECLS

/** @addtogroup UCS_TYPE
 *  @{ */

typedef struct ucs_class ucs_class_t;

/** Releases what the initialiser of a class has set up. */
typedef void (*ucs_class_cleanup_func_t)(void *self);

/** A class, defined by UCS_CLASS_DEFINE(). */
struct ucs_class {
    const char *name;        /**< name of the structure's type */
    size_t size;             /**< size of an object in bytes */
    ucs_class_t *superclass; /**< void_class if the class has no
                              *   superclass */
    /** cleanup function of the class, without that of its superclass; NULL in
     *  void_class */
    ucs_class_cleanup_func_t cleanup;
};

/** The end of each chain of superclasses. */
extern ucs_class_t void_class;

/**
 * Calls the cleanup functions of a class and its superclasses, most derived
 * first.
 *
 * @param [in] cls    Class of the object.
 * @param [in] obj    Object.
 * @param [in] limit  Negative: clean up all classes. Otherwise clean up only
 *                    the limit - 1 classes at the base of the chain, whose
 *                    initialisers succeeded before another one failed.
 */
void ucs_class_call_cleanup_chain(ucs_class_t *cls, void *obj, int limit);

/**
 * Allocates an object without initialising it.
 *
 * @return The object; NULL if memory is exhausted
 */
void *ucs_class_malloc(ucs_class_t *cls);

/** Releases an object that ucs_class_malloc() allocated; NULL is ignored. */
void ucs_class_free(void *obj);

/** Aborts the process with a message if a "new" function reports success
 *  without an object, or a failure with an object. */
void ucs_class_check_new_func_result(ucs_status_t status, void *obj);

/* Names of the identifiers that belong to a class. */
#define _UCS_CLASS_DECL_NAME(_type)       UCS_PP_TOKENPASTE(_type, _class)
#define _UCS_CLASS_INIT_NAME(_type)       UCS_PP_TOKENPASTE(_type, _init)
#define _UCS_CLASS_CLEANUP_NAME(_type)    UCS_PP_TOKENPASTE(_type, _cleanup)
#define UCS_CLASS_NEW_FUNC_NAME(_type)    UCS_PP_TOKENPASTE(_type, _new)
#define UCS_CLASS_DELETE_FUNC_NAME(_type) UCS_PP_TOKENPASTE(_type, _delete)

/* Begins the initialiser: its parameters are "self" and the arguments declared
 * here; it returns a status. It must first call one of the two macros
 * UCS_CLASS_CALL_SUPER_INIT and UCS_CLASS_CALL_BASE_INIT. */
#define UCS_CLASS_INIT_FUNC(_type, ...) \
    ucs_status_t _UCS_CLASS_INIT_NAME(_type)(_type * self, \
                                             ucs_class_t * _myclass, \
                                             int *_init_count, ##__VA_ARGS__)

/* Begins the cleanup function, whose parameter is "self". */
#define UCS_CLASS_CLEANUP_FUNC(_type) \
    void _UCS_CLASS_CLEANUP_NAME(_type)(_type * self)

/* Declares a class in a header, with the arguments of its initialiser. */
#define UCS_CLASS_DECLARE(_type, ...) \
    extern ucs_class_t _UCS_CLASS_DECL_NAME(_type); \
    UCS_CLASS_INIT_FUNC(_type, ##__VA_ARGS__)

/* Defines a class. _super is its superclass, or void. The definition must
 * follow the cleanup function. */
#define UCS_CLASS_DEFINE(_type, _super) \
    extern ucs_class_t _UCS_CLASS_DECL_NAME(_super); \
    ucs_class_t _UCS_CLASS_DECL_NAME( \
        _type) = {UCS_PP_MAKE_STRING(_type), sizeof(_type), \
                  &_UCS_CLASS_DECL_NAME(_super), \
                  (ucs_class_cleanup_func_t)_UCS_CLASS_CLEANUP_NAME(_type)}

/* Initialises the superclass, which is the member "super". If that fails, the
 * initialiser returns the error. */
#define UCS_CLASS_CALL_SUPER_INIT(_superclass, ...) \
    do { \
        ucs_status_t _super_status = _UCS_CLASS_INIT_NAME( \
            _superclass)(&self->super, _myclass->superclass, _init_count, \
                         ##__VA_ARGS__); \
        if (ucs_unlikely(_super_status != UCS_OK)) { \
            return _super_status; \
        } \
        if (_myclass->superclass != &_UCS_CLASS_DECL_NAME(void)) { \
            ++(*_init_count); \
        } \
    } while (0)

/* As UCS_CLASS_CALL_SUPER_INIT, for a class without a superclass. */
#define UCS_CLASS_CALL_BASE_INIT() \
    do { \
        if ((_myclass == NULL) || (_init_count == NULL)) { \
            return UCS_ERR_INVALID_PARAM; \
        } \
    } while (0)

/* Initialises an object in memory of the caller. Returns the status. */
#define UCS_CLASS_INIT(_type, _obj, ...) \
    ({ \
        ucs_class_t *_init_cls = &_UCS_CLASS_DECL_NAME(_type); \
        int _init_counter      = 1; \
        ucs_status_t _init_status; \
\
        _init_status = _UCS_CLASS_INIT_NAME( \
            _type)((_type *)(_obj), _init_cls, &_init_counter, ##__VA_ARGS__); \
        if (_init_status != UCS_OK) { \
            ucs_class_call_cleanup_chain(_init_cls, (_obj), _init_counter); \
        } \
        (_init_status); \
    })

/* Cleans up an object that UCS_CLASS_INIT() initialised. */
#define UCS_CLASS_CLEANUP(_type, _obj) \
    ucs_class_call_cleanup_chain(&_UCS_CLASS_DECL_NAME(_type), (_obj), -1)

/* Allocates and initialises an object; *_obj is set on success only. Returns
 * the status. */
#define UCS_CLASS_NEW(_type, _obj, ...) \
    _UCS_CLASS_NEW(_type, _obj, ##__VA_ARGS__) /* _obj may expand to several
                                                * arguments */
#define _UCS_CLASS_NEW(_type, _obj, ...) \
    ({ \
        ucs_status_t _new_status = UCS_ERR_NO_MEMORY; \
        void *_new_obj = ucs_class_malloc(&_UCS_CLASS_DECL_NAME(_type)); \
\
        if (_new_obj != NULL) { \
            _new_status = UCS_CLASS_INIT(_type, _new_obj, ##__VA_ARGS__); \
            if (_new_status == UCS_OK) { \
                *(_obj) = (__typeof__(*(_obj)))_new_obj; \
            } else { \
                ucs_class_free(_new_obj); \
            } \
        } \
        (_new_status); \
    })

/* Cleans up and releases an object that UCS_CLASS_NEW() allocated. */
#define UCS_CLASS_DELETE(_type, _obj) \
    do { \
        void *_delete_obj = (_obj); \
        UCS_CLASS_CLEANUP(_type, _delete_obj); \
        ucs_class_free(_delete_obj); \
    } while (0)

/* The arguments of a "new" function: their declarations from (number, type),
 * and their names in the call of the initialiser. */
#define _UCS_CLASS_ARG_NAME_(_i) arg##_i
#define _UCS_CLASS_ARG_NAME(_i)  _UCS_CLASS_ARG_NAME_(_i)
#define _UCS_CLASS_INIT_ARG_DEFINE(_, _tuple) \
    UCS_PP_TUPLE_1 _tuple _UCS_CLASS_ARG_NAME(UCS_PP_TUPLE_0 _tuple),
#define _UCS_CLASS_INIT_ARG_PASS(_, _i) , _UCS_CLASS_ARG_NAME(_i)

/* Declare or define a function that allocates and initialises an object. Its
 * parameters are the initialiser's arguments, and a pointer that receives the
 * object, or NULL after a failure. The macros without NAMED derive the name of
 * the function from the type. */
#define UCS_CLASS_DECLARE_NAMED_NEW_FUNC(_name, _argtype, ...) \
    ucs_status_t _name( \
        UCS_PP_FOREACH(_UCS_CLASS_INIT_ARG_DEFINE, _, \
                       UCS_PP_ZIP((UCS_PP_SEQ(UCS_PP_NUM_ARGS(__VA_ARGS__))), \
                                  (__VA_ARGS__))) _argtype **obj_p)
#define UCS_CLASS_DEFINE_NAMED_NEW_FUNC(_name, _type, _argtype, ...) \
    UCS_CLASS_DECLARE_NAMED_NEW_FUNC(_name, _argtype, ##__VA_ARGS__) \
    { \
        ucs_status_t status; \
\
        *obj_p = NULL; \
        status = UCS_CLASS_NEW( \
            _type, \
            obj_p UCS_PP_FOREACH(_UCS_CLASS_INIT_ARG_PASS, _, \
                                 UCS_PP_SEQ(UCS_PP_NUM_ARGS(__VA_ARGS__)))); \
        ucs_class_check_new_func_result(status, *obj_p); \
        return status; \
    }
#define UCS_CLASS_DECLARE_NEW_FUNC(_type, _argtype, ...) \
    UCS_CLASS_DECLARE_NAMED_NEW_FUNC(UCS_CLASS_NEW_FUNC_NAME(_type), _argtype, \
                                     ##__VA_ARGS__)
#define UCS_CLASS_DEFINE_NEW_FUNC(_type, _argtype, ...) \
    UCS_CLASS_DEFINE_NAMED_NEW_FUNC(UCS_CLASS_NEW_FUNC_NAME(_type), _type, \
                                    _argtype, ##__VA_ARGS__)

/* Declare or define a function that cleans up and releases an object. */
#define UCS_CLASS_DECLARE_NAMED_DELETE_FUNC(_name, _argtype) \
    void _name(_argtype *self)
#define UCS_CLASS_DEFINE_NAMED_DELETE_FUNC(_name, _type, _argtype) \
    UCS_CLASS_DECLARE_NAMED_DELETE_FUNC(_name, _argtype) \
    { \
        UCS_CLASS_DELETE(_type, self); \
    }
#define UCS_CLASS_DECLARE_DELETE_FUNC(_type, _argtype) \
    UCS_CLASS_DECLARE_NAMED_DELETE_FUNC(UCS_CLASS_DELETE_FUNC_NAME(_type), \
                                        _argtype)
#define UCS_CLASS_DEFINE_DELETE_FUNC(_type, _argtype) \
    UCS_CLASS_DEFINE_NAMED_DELETE_FUNC(UCS_CLASS_DELETE_FUNC_NAME(_type), \
                                       _type, _argtype)

/** @} */

END_C_DECLS

#endif
