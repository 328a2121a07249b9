/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the headers for classes, atomics, spin locks, pools and the system's id,
 * as programs that include only these headers do, and checks the results.
 * run_uses.py compiles this file as C and as C++, and runs it.
 */
#include "expect.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucs/arch/atomic.h>
#include <ucs/datastruct/mpool.h>
#include <ucs/sys/uid.h>
#include <ucs/type/class.h>
#include <ucs/type/spinlock.h>

/* ---- ucs/type/class.h ---- */

/* The calls of the classes below: one letter for each. */
static char class_calls[32];

static void class_call(char letter)
{
    class_calls[strlen(class_calls)] = letter;
}

typedef struct animal {
    int legs;
} animal_t;

typedef struct dog {
    animal_t super;
    const char *name;
} dog_t;

typedef struct puppy {
    dog_t super;
    int age;
} puppy_t;

UCS_CLASS_DECLARE(animal_t, int legs);

UCS_CLASS_INIT_FUNC(animal_t, int legs)
{
    UCS_CLASS_CALL_BASE_INIT();
    class_call('A');
    self->legs = legs;
    return (legs < 0) ? UCS_ERR_OUT_OF_RANGE : UCS_OK;
}

static UCS_CLASS_CLEANUP_FUNC(animal_t)
{
    (void)self;
    class_call('a');
}

UCS_CLASS_DEFINE(animal_t, void);

static UCS_CLASS_INIT_FUNC(dog_t, int legs, const char *name)
{
    UCS_CLASS_CALL_SUPER_INIT(animal_t, legs);
    class_call('D');
    self->name = name;
    return (name == NULL) ? UCS_ERR_INVALID_PARAM : UCS_OK;
}

static UCS_CLASS_CLEANUP_FUNC(dog_t)
{
    (void)self;
    class_call('d');
}

UCS_CLASS_DEFINE(dog_t, animal_t);

static UCS_CLASS_INIT_FUNC(puppy_t, int legs, const char *name, int age)
{
    UCS_CLASS_CALL_SUPER_INIT(dog_t, legs, name);
    class_call('P');
    self->age = age;
    return (age > 1) ? UCS_ERR_EXCEEDS_LIMIT : UCS_OK;
}

static UCS_CLASS_CLEANUP_FUNC(puppy_t)
{
    (void)self;
    class_call('p');
}

UCS_CLASS_DEFINE(puppy_t, dog_t);

UCS_CLASS_DECLARE_NEW_FUNC(puppy_t, animal_t, int, const char *, int);
UCS_CLASS_DEFINE_NEW_FUNC(puppy_t, animal_t, int, const char *, int)
UCS_CLASS_DECLARE_DELETE_FUNC(puppy_t, animal_t);
UCS_CLASS_DEFINE_DELETE_FUNC(puppy_t, animal_t)

static int calls_were(const char *calls)
{
    int same = strcmp(class_calls, calls) == 0;

    memset(class_calls, 0, sizeof(class_calls));
    return same;
}

/* Returns whether ucs_class_check_new_func_result() ends the process. */
static int check_kills(ucs_status_t status, void *obj)
{
    pid_t child = fork();
    int wstatus;

    if (child == 0) {
        close(STDERR_FILENO);
        ucs_class_check_new_func_result(status, obj);
        _exit(0);
    }

    return (waitpid(child, &wstatus, 0) == child) &&
           (!WIFEXITED(wstatus) || (WEXITSTATUS(wstatus) != 0));
}

static void use_class(void)
{
    animal_t *animal;
    puppy_t puppy;
    dog_t *dog = NULL;

    EXPECT(UCS_CLASS_NEW(dog_t, &dog, 4, "Rex") == UCS_OK);
    EXPECT((dog->super.legs == 4) && (strcmp(dog->name, "Rex") == 0));
    EXPECT(calls_were("AD"));
    UCS_CLASS_DELETE(dog_t, dog);
    EXPECT(calls_were("da"));

    EXPECT(UCS_CLASS_INIT(puppy_t, &puppy, 4, "Bob", 0) == UCS_OK);
    UCS_CLASS_CLEANUP(puppy_t, &puppy);
    EXPECT(calls_were("ADPpda"));

    /* only superclasses that were initialised are cleaned up */
    EXPECT(UCS_CLASS_INIT(puppy_t, &puppy, 4, "Bob", 2) ==
           UCS_ERR_EXCEEDS_LIMIT);
    EXPECT(calls_were("ADPda"));
    EXPECT(UCS_CLASS_INIT(puppy_t, &puppy, 4, NULL, 0) ==
           UCS_ERR_INVALID_PARAM);
    EXPECT(calls_were("ADa"));
    EXPECT(UCS_CLASS_INIT(puppy_t, &puppy, -1, "Bob", 0) ==
           UCS_ERR_OUT_OF_RANGE);
    EXPECT(calls_were("A"));

    EXPECT(UCS_CLASS_NEW_FUNC_NAME(puppy_t)(4, "Bob", 1, &animal) == UCS_OK);
    EXPECT((animal->legs == 4) && calls_were("ADP"));
    UCS_CLASS_DELETE_FUNC_NAME(puppy_t)(animal);
    EXPECT(calls_were("pda"));
    EXPECT(puppy_t_new(4, "Bob", 7, &animal) == UCS_ERR_EXCEEDS_LIMIT);
    EXPECT((animal == NULL) && calls_were("ADPda"));

    EXPECT((puppy_t_class.superclass == &dog_t_class) &&
           (animal_t_class.superclass == &void_class) &&
           (void_class.superclass == NULL));
    EXPECT((strcmp(puppy_t_class.name, "puppy_t") == 0) &&
           (puppy_t_class.size == sizeof(puppy_t)));
    ucs_class_free(ucs_class_malloc(&dog_t_class));
    ucs_class_free(NULL);
    ucs_class_check_new_func_result(UCS_OK, &puppy);
    ucs_class_check_new_func_result(UCS_ERR_NO_MEMORY, NULL);
    EXPECT(check_kills(UCS_OK, NULL));
    EXPECT(check_kills(UCS_ERR_NO_MEMORY, &puppy));
}

/* ---- ucs/arch/atomic.h ---- */

#define USE_ATOMIC(_size) \
    do { \
        uint##_size##_t value = 1, top = (uint##_size##_t) - 1; \
\
        ucs_atomic_add##_size(&value, 4); \
        EXPECT(ucs_atomic_fadd##_size(&value, 2) == 5); \
        ucs_atomic_sub##_size(&value, 1); \
        EXPECT(ucs_atomic_fsub##_size(&value, 6) == 6); \
        ucs_atomic_or##_size(&value, 12); \
        EXPECT(ucs_atomic_for##_size(&value, 3) == 12); \
        ucs_atomic_and##_size(&value, 7); \
        EXPECT(ucs_atomic_fand##_size(&value, 6) == 7); \
        ucs_atomic_xor##_size(&value, 2); \
        EXPECT(ucs_atomic_fxor##_size(&value, 5) == 4); \
        EXPECT(ucs_atomic_swap##_size(&value, top) == 1); \
        EXPECT(ucs_atomic_cswap##_size(&value, 1, 9) == top); \
        EXPECT(ucs_atomic_cswap##_size(&value, top, 9) == top); \
        EXPECT(!ucs_atomic_bool_cswap##_size(&value, top, 8)); \
        EXPECT(ucs_atomic_bool_cswap##_size(&value, 9, 8) && (value == 8)); \
    } while (0)

static void use_atomic(void)
{
    USE_ATOMIC(8);
    USE_ATOMIC(16);
    USE_ATOMIC(32);
    USE_ATOMIC(64);
}

/* ---- ucs/type/spinlock.h ---- */

#define LOCK_ROUNDS 20000

typedef struct {
    ucs_spinlock_t lock;
    ucs_recursive_spinlock_t recursive;
    long plain, counted; /* not atomic: protected by the locks */
} locked_t;

static void *lock_thread(void *arg)
{
    locked_t *locked = (locked_t *)arg;
    int i;

    for (i = 0; i < LOCK_ROUNDS; ++i) {
        ucs_spin_lock(&locked->lock);
        ++locked->plain;
        ucs_spin_unlock(&locked->lock);
        ucs_recursive_spin_lock(&locked->recursive);
        ucs_recursive_spin_lock(&locked->recursive);
        ucs_recursive_spin_unlock(&locked->recursive);
        ++locked->counted;
        ucs_recursive_spin_unlock(&locked->recursive);
    }

    return NULL;
}

/* Runs in another thread than the locks' owner. Returns non-NULL if it can
 * acquire neither of the two locks. */
static void *try_thread(void *arg)
{
    locked_t *locked = (locked_t *)arg;
    int held         = !ucs_spin_trylock(&locked->lock) &&
               !ucs_recursive_spin_is_owner(&locked->recursive,
                                            pthread_self()) &&
               !ucs_recursive_spin_trylock(&locked->recursive);

    return held ? arg : NULL;
}

static void use_spinlock(void)
{
    pthread_t threads[3];
    locked_t locked;
    void *result;
    int i;

    memset(&locked, 0xff, sizeof(locked));
    locked.plain = locked.counted = 0;
    EXPECT(ucs_spinlock_init(&locked.lock, 16) == UCS_ERR_INVALID_PARAM);
    EXPECT(ucs_spinlock_init(&locked.lock, UCS_SPINLOCK_FLAG_SHARED) == UCS_OK);
    EXPECT(ucs_recursive_spinlock_init(&locked.recursive, 0) == UCS_OK);
    for (i = 0; i < 3; ++i) {
        EXPECT(pthread_create(&threads[i], NULL, lock_thread, &locked) == 0);
    }
    for (i = 0; i < 3; ++i) {
        pthread_join(threads[i], NULL);
    }
    EXPECT((locked.plain == 3 * LOCK_ROUNDS) &&
           (locked.counted == 3 * LOCK_ROUNDS));

    EXPECT(ucs_spin_trylock(&locked.lock));
    EXPECT(ucs_recursive_spin_trylock(&locked.recursive));
    EXPECT(ucs_recursive_spin_trylock(&locked.recursive));
    ucs_recursive_spin_unlock(&locked.recursive);
    pthread_create(&threads[0], NULL, try_thread, &locked);
    pthread_join(threads[0], &result);
    EXPECT(result == &locked);

    /* a destroyed lock can be initialised again */
    ucs_spin_unlock(&locked.lock);
    ucs_recursive_spin_unlock(&locked.recursive);
    ucs_spinlock_destroy(&locked.lock);
    ucs_recursive_spinlock_destroy(&locked.recursive);
    EXPECT(ucs_spinlock_init(&locked.lock, 0) == UCS_OK);
    EXPECT(ucs_spin_trylock(&locked.lock));
}

/* ---- ucs/datastruct/mpool.h, ucs/sys/uid.h ---- */

typedef struct {
    ucs_mpool_t super;
    int inits, cleanups;
} my_pool_t;

static void my_init(ucs_mpool_t *mp, void *obj, void *chunk)
{
    (void)chunk;
    memset(obj, 7, 100);
    ++((my_pool_t *)mp)->inits;
}

static void my_cleanup(ucs_mpool_t *mp, void *obj)
{
    (void)obj;
    ++((my_pool_t *)mp)->cleanups;
}

static void use_mpool(void)
{
    ucs_mpool_params_t params;
    ucs_mpool_ops_t ops;
    my_pool_t pool;
    char *objs[6];
    int i;

    memset(&pool, 0, sizeof(pool));
    memset(&ops, 0, sizeof(ops));
    ops.chunk_alloc   = ucs_mpool_hugetlb_malloc;
    ops.chunk_release = ucs_mpool_hugetlb_free;
    ops.obj_init      = my_init;
    ops.obj_cleanup   = my_cleanup;

    ucs_mpool_params_reset(&params);
    params.priv_size       = 8;
    params.elem_size       = 100;
    params.align_offset    = 0;
    params.alignment       = 64;
    params.malloc_safe     = 0;
    params.elems_per_chunk = 4;
    params.max_chunk_size  = SIZE_MAX;
    params.max_elems       = 6;
    params.grow_factor     = 1.0;
    params.ops             = &ops;
    params.name            = "uses";
    EXPECT(ucs_mpool_init(&params, &pool.super) == UCS_OK);
    EXPECT(pool.super.data->ops == &ops);
    EXPECT(strcmp(ucs_mpool_name(&pool.super), "uses") == 0);
    memset(ucs_mpool_priv(&pool.super), 1, 8);
    EXPECT(ucs_mpool_reserve(&pool.super, 7) == UCS_ERR_EXCEEDS_LIMIT);
    EXPECT(ucs_mpool_reserve(&pool.super, 2) == UCS_OK);
    for (i = 0; i < 6; ++i) {
        objs[i] = (char *)((i & 1) ? ucs_mpool_get(&pool.super) :
                                     ucs_mpool_get_inline(&pool.super));
        EXPECT((objs[i] != NULL) && ((uintptr_t)objs[i] % 64 == 0) &&
               (objs[i][99] == 7));
    }
    EXPECT(ucs_mpool_get(&pool.super) == NULL);
    EXPECT(ucs_mpool_is_exhausted(&pool.super));
    EXPECT((ucs_mpool_num_elems(&pool.super) == 6) &&
           (ucs_mpool_num_used(&pool.super) == 6));
    EXPECT(ucs_mpool_obj_owner(objs[0]) == &pool.super);
    ucs_mpool_put(objs[0]);
    EXPECT(ucs_mpool_get_inline(&pool.super) == objs[0]);
    for (i = 0; i < 6; ++i) {
        ucs_mpool_put_inline(objs[i]);
    }
    EXPECT((pool.inits == 6) && (pool.cleanups == 0));
    ucs_mpool_cleanup(&pool.super, 1);
    EXPECT(pool.cleanups == 6);
}

static void use_uid(void)
{
    EXPECT(ucs_get_system_id() != 0);
    EXPECT(ucs_get_system_id() == ucs_get_system_id());
}

int main(void)
{
    use_class();
    use_atomic();
    use_spinlock();
    use_mpool();
    use_uid();
    return faults != 0;
}
