/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the headers of services that programs include by themselves, as programs
 * do, and checks what comes of it. run_uses.py compiles it as C and as C++, and
 * runs it.
 */
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ucs/arch/atomic.h>
#include <ucs/config/parser.h>
#include <ucs/datastruct/mpool.h>
#include <ucs/profile/profile_defs.h>
#include <ucs/profile/profile_on.h>
#include <ucs/sys/uid.h>
#include <ucs/type/class.h>
#include <ucs/type/spinlock.h>

static int faults;

#define EXPECT(_condition)                                                  \
    do {                                                                   \
        if (!(_condition)) {                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, \
                    #_condition);                                          \
            ++faults;                                                      \
        }                                                                  \
    } while (0)

/* ---- ucs/type/class.h ---- */

/* What the classes below did: one letter each. */
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

/* Does the check end the process? */
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

#define USE_ATOMIC(_size)                                                   \
    do {                                                                    \
        uint##_size##_t value = 1, top = (uint##_size##_t)-1;               \
                                                                            \
        ucs_atomic_add##_size(&value, 4);                                   \
        EXPECT(ucs_atomic_fadd##_size(&value, 2) == 5);                     \
        ucs_atomic_sub##_size(&value, 1);                                   \
        EXPECT(ucs_atomic_fsub##_size(&value, 6) == 6);                     \
        ucs_atomic_or##_size(&value, 12);                                   \
        EXPECT(ucs_atomic_for##_size(&value, 3) == 12);                     \
        ucs_atomic_and##_size(&value, 7);                                   \
        EXPECT(ucs_atomic_fand##_size(&value, 6) == 7);                     \
        ucs_atomic_xor##_size(&value, 2);                                   \
        EXPECT(ucs_atomic_fxor##_size(&value, 5) == 4);                     \
        EXPECT(ucs_atomic_swap##_size(&value, top) == 1);                   \
        EXPECT(ucs_atomic_cswap##_size(&value, 1, 9) == top);               \
        EXPECT(ucs_atomic_cswap##_size(&value, top, 9) == top);             \
        EXPECT(!ucs_atomic_bool_cswap##_size(&value, top, 8));              \
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
    long plain, counted; /* not atomic: the locks keep them right */
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

/* Returns non-NULL if both locks are held by another thread. */
static void *try_thread(void *arg)
{
    locked_t *locked = (locked_t *)arg;
    int held = !ucs_spin_trylock(&locked->lock) &&
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

    /* destroyed and used again */
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

/* ---- ucs/config/parser.h ---- */

typedef struct {
    unsigned depth;
    char *title;
} inner_opts_t;

typedef struct {
    ucs_log_component_config_t log;
    int number;
    unsigned count;
    unsigned long total, limit;
    double ratio, delay, speed;
    int flag, attempt, automatic, power;
    unsigned color, mask;
    size_t size;
    char *path;
    ucs_config_names_array_t names;
    ucs_config_allow_list_t list;
    UCS_CONFIG_ARRAY_FIELD(unsigned, values) colors;
    inner_opts_t inner, plain;
    char letter;
} my_opts_t;

static const char *color_names[] = {"red", "green", "blue", NULL};

/* A type of the program's own. */
static int letter_read(const char *buf, void *dest, const void *arg)
{
    (void)arg;
    *(char *)dest = buf[0];
    return (buf[0] != '\0') && (buf[1] == '\0');
}

static int letter_write(char *buf, size_t max, const void *src, const void *arg)
{
    (void)arg;
    return snprintf(buf, max, "%c", *(const char *)src);
}

static ucs_status_t letter_clone(const void *src, void *dest, const void *arg)
{
    (void)arg;
    *(char *)dest = *(const char *)src;
    return UCS_OK;
}

UCS_CONFIG_DEFINE_ARRAY(colors, sizeof(unsigned),
                        UCS_CONFIG_TYPE_ENUM(color_names));

#define NO_FIELD {NULL, NULL, NULL, 0, {NULL, NULL, NULL, NULL, NULL, NULL, NULL}}

static ucs_config_field_t inner_table[] = {
    {"DEPTH", "8", "How deep it is.", offsetof(inner_opts_t, depth),
     UCS_CONFIG_TYPE_UINT},
    {"TITLE", "none", NULL, offsetof(inner_opts_t, title),
     UCS_CONFIG_TYPE_STRING},
    NO_FIELD
};

#define FIELD(_name, _dfl, _member, _type) \
    {_name, _dfl, "Help of " _name ".", offsetof(my_opts_t, _member), _type}

static ucs_config_field_t my_table[] = {
    FIELD("", "DEPTH=9", plain, UCS_CONFIG_TYPE_TABLE(inner_table)),
    FIELD("IN_", "", inner, UCS_CONFIG_TYPE_TABLE(inner_table)),
    FIELD("LOG_LEVEL", "warn", log, UCS_CONFIG_TYPE_LOG_COMP),
    FIELD("NUMBER", "-7", number, UCS_CONFIG_TYPE_INT),
    FIELD("COUNT", "7", count, UCS_CONFIG_TYPE_UINT),
    FIELD("TOTAL", "70", total, UCS_CONFIG_TYPE_ULONG),
    FIELD("LIMIT", "inf", limit, UCS_CONFIG_TYPE_ULUNITS),
    FIELD("RATIO", "0.5", ratio, UCS_CONFIG_TYPE_DOUBLE),
    FIELD("DELAY", "5ms", delay, UCS_CONFIG_TYPE_TIME),
    FIELD("SPEED", "1KBs", speed, UCS_CONFIG_TYPE_BW),
    FIELD("FLAG", "y", flag, UCS_CONFIG_TYPE_BOOL),
    FIELD("TRY", "try", attempt, UCS_CONFIG_TYPE_TERNARY),
    FIELD("AUTO", "auto", automatic, UCS_CONFIG_TYPE_TERNARY_AUTO),
    FIELD("POWER", "on", power, UCS_CONFIG_TYPE_ON_OFF_AUTO),
    FIELD("COLOR", "green", color, UCS_CONFIG_TYPE_ENUM(color_names)),
    FIELD("MASK", "red,blue", mask, UCS_CONFIG_TYPE_BITMAP(color_names)),
    FIELD("SIZE", "4k", size, UCS_CONFIG_TYPE_MEMUNITS),
    FIELD("PATH", "/tmp", path, UCS_CONFIG_TYPE_STRING),
    FIELD("NAMES", "a,b", names, UCS_CONFIG_TYPE_STRING_ARRAY),
    FIELD("LIST", "^x,y", list, UCS_CONFIG_TYPE_ALLOW_LIST),
    FIELD("COLORS", "blue, red", colors, UCS_CONFIG_TYPE_ARRAY(colors)),
    {"LETTER", "q", NULL, offsetof(my_opts_t, letter),
     {letter_read, letter_write, letter_clone, ucs_config_release_nop,
      ucs_config_help_generic, ucs_config_doc_nop, "one letter"}},
    NO_FIELD
};

static UCS_LIST_HEAD(my_tables);
UCS_CONFIG_REGISTER_TABLE(my_table, "My", "MY_", my_opts_t, &my_tables)

static void check_defaults(const my_opts_t *opts)
{
    EXPECT((opts->plain.depth == 9) && (opts->inner.depth == 8));
    EXPECT(strcmp(opts->plain.title, "none") == 0);
    EXPECT(opts->log.log_level == UCS_LOG_LEVEL_WARN);
    EXPECT((opts->number == -7) && (opts->count == 7) && (opts->total == 70));
    EXPECT((opts->limit == UCS_ULUNITS_INF) && (opts->ratio == 0.5));
    EXPECT((opts->delay == 0.005) && (opts->speed == 1024));
    EXPECT((opts->flag == 1) && (opts->attempt == UCS_TRY));
    EXPECT((opts->automatic == UCS_AUTO) && (opts->power == UCS_CONFIG_ON));
    EXPECT((opts->color == 1) && (opts->mask == 5) && (opts->size == 4096));
    EXPECT(strcmp(opts->path, "/tmp") == 0);
    EXPECT((opts->names.count == 2) && (strcmp(opts->names.names[1], "b") == 0));
    EXPECT((opts->list.mode == UCS_CONFIG_ALLOW_LIST_NEGATE) &&
           (opts->list.array.count == 2) &&
           (strcmp(opts->list.array.names[0], "x") == 0));
    EXPECT((opts->colors.count == 2) && (opts->colors.values[0] == 2) &&
           (opts->colors.values[1] == 0));
    EXPECT(opts->letter == 'q');
}

/* The options as text, to be freed. */
static char *printed(const my_opts_t *opts, int flags, const char *filter)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    ucs_config_parser_print_opts(stream, "My title", opts, my_table, "MY_",
                                 "APP_", (ucs_config_print_flags_t)flags,
                                 filter);
    fclose(stream);
    return text;
}

static void check_printing(const my_opts_t *opts)
{
    char *text = printed(opts, UCS_CONFIG_PRINT_CONFIG, NULL);

    EXPECT(strstr(text, "APP_MY_DEPTH=9\nAPP_MY_IN_DEPTH=8\n") == text);
    EXPECT(strstr(text, "\nAPP_MY_MASK=red,blue\nAPP_MY_SIZE=4K\n") != NULL);
    EXPECT(strstr(text, "\nAPP_MY_NAMES=a,b\nAPP_MY_LIST=^x,y\n"
                        "APP_MY_COLORS=blue,red\n") != NULL);
    EXPECT(strstr(text, "\nAPP_MY_AUTO=auto\nAPP_MY_POWER=on\n") != NULL);
    EXPECT((strstr(text, "TITLE") == NULL) && (strstr(text, "LETTER") == NULL));
    free(text);

    text = printed(opts, UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER |
                   UCS_CONFIG_PRINT_DOC | UCS_CONFIG_PRINT_HIDDEN, "COLOR");
    EXPECT(strstr(text, "# My title\n") != NULL);
    EXPECT(strstr(text, "# Help of COLORS.\n") != NULL);
    EXPECT(strstr(text, "# Value:   one of: red, green, blue\n") != NULL);
    EXPECT(strstr(text, "separated by commas, of: one of: red") != NULL);
    EXPECT(strstr(text, "NUMBER") == NULL);
    free(text);

    text = printed(opts, UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HIDDEN |
                   UCS_CONFIG_PRINT_COMMENT_DEFAULT, "LETTER");
    EXPECT(strcmp(text, "# APP_MY_LETTER=q\n") == 0);
    free(text);
}

static void check_setting(my_opts_t *opts)
{
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COUNT", "12") ==
           UCS_OK);
    EXPECT(ucs_config_parser_set_value(opts, my_table, "MY_", "MY_NAMES",
                                       "c,d,e") == UCS_OK);
    EXPECT(ucs_config_parser_set_value(opts, my_table, "MY_", "IN_TITLE",
                                       "new") == UCS_OK);
    EXPECT((opts->count == 12) && (opts->names.count == 3) &&
           (strcmp(opts->inner.title, "new") == 0));
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "MY_COUNT", "1") ==
           UCS_ERR_NO_ELEM);
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COUNT", "many") ==
           UCS_ERR_INVALID_PARAM);
    EXPECT(ucs_config_parser_set_value(opts, my_table, NULL, "COLORS",
                                       "red,pink") == UCS_ERR_INVALID_PARAM);
    EXPECT((opts->count == 12) && (opts->colors.count == 2));
}

static void check_variables(ucs_config_global_list_entry_t *entry)
{
    my_opts_t opts;

    setenv("APP_UCC_MY_COUNT", "1", 1); /* the most special one counts */
    setenv("UCC_MY_COUNT", "2", 1);
    setenv("UCC_MY_NUMBER", "3", 1);
    setenv("APP_UCC_NUMBER", "4", 1);
    setenv("UCC_IN_DEPTH", "5", 1);
    setenv("UCC_PATH", "/new", 1);
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "APP_UCC_", 0) == UCS_OK);
    EXPECT((opts.count == 1) && (opts.number == 3) && (opts.inner.depth == 5));
    EXPECT(strcmp(opts.path, "/new") == 0);
    ucs_config_parser_release_opts(&opts, my_table);

    setenv("UCC_MY_COLOR", "pink", 1);
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "UCC_", 0) ==
           UCS_ERR_INVALID_PARAM);
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "UCC_", 1) == UCS_OK);
    EXPECT((opts.color == 1) && (opts.count == 2));
    ucs_config_parser_release_opts(&opts, my_table);
    unsetenv("UCC_MY_COLOR");
}

/* Functions that no field calls by itself here. */
static void check_functions(const my_opts_t *opts)
{
    ucs_config_names_array_t names;
    inner_opts_t inner;
    unsigned mask = 99;
    char text[128];

    EXPECT(ucs_config_sscanf_bitmap("green", &mask, color_names) &&
           (mask == 2));
    EXPECT(!ucs_config_sscanf_bitmap("green,pink", &mask, color_names));
    EXPECT(!ucs_config_sscanf_bool("perhaps", &mask, NULL));
    EXPECT(!ucs_config_sscanf_allow_list("a,^b", text, NULL));
    EXPECT(ucs_config_sscanf_table("TITLE=x;DEPTH=3", &inner, inner_table));
    EXPECT((inner.depth == 3) && (strcmp(inner.title, "x") == 0));
    EXPECT(ucs_config_sprintf_table(text, sizeof(text), &inner, inner_table) ==
           15);
    EXPECT(strcmp(text, "DEPTH=3;TITLE=x") == 0);
    ucs_config_release_table(&inner, inner_table);
    EXPECT(!ucs_config_sscanf_table("TITLE", &inner, inner_table));
    EXPECT(!ucs_config_sscanf_table("WIDTH=1", &inner, inner_table));
    EXPECT(ucs_config_sprintf_array(text, 3, &opts->names,
                                    &ucs_config_array_string) == 1);
    EXPECT(strcmp(text, "a") == 0);
    EXPECT(ucs_config_clone_array(&opts->names, &names,
                                  &ucs_config_array_string) == UCS_OK);
    EXPECT((names.count == 2) && (names.names[0] != opts->names.names[0]) &&
           (strcmp(names.names[0], "a") == 0));
    ucs_config_release_array(&names, &ucs_config_array_string);
    EXPECT((names.count == 0) && (names.names == NULL));
    ucs_config_help_bitmap(text, sizeof(text), color_names);
    EXPECT(strstr(text, "red, green, blue") != NULL);
    ucs_config_help_allow_list(text, sizeof(text), NULL);
    EXPECT(strstr(text, "^") != NULL);
    ucs_config_help_table(text, sizeof(text), inner_table);
    EXPECT(strstr(text, "NAME=VALUE") != NULL);
    EXPECT(strcmp(ucs_log_level_names[UCS_LOG_LEVEL_TRACE_POLL], "poll") == 0);
    EXPECT(ucs_log_level_names[UCS_LOG_LEVEL_LAST] == NULL);
}

static void use_parser(void)
{
    ucs_config_global_list_entry_t *entry = ucs_list_head(
            &my_tables, ucs_config_global_list_entry_t, list);
    my_opts_t opts, copy;

    EXPECT(entry == UCS_CONFIG_GET_TABLE(my_table));
    EXPECT((strcmp(entry->prefix, "MY_") == 0) &&
           (entry->size == sizeof(my_opts_t)));
    memset(&opts, 0xff, sizeof(opts));
    EXPECT(ucs_config_parser_fill_opts(&opts, entry, "APP_", 0) == UCS_OK);
    check_defaults(&opts);
    check_printing(&opts);
    check_functions(&opts);
    memset(&copy, 0xff, sizeof(copy));
    EXPECT(ucs_config_parser_clone_opts(&opts, &copy, my_table) == UCS_OK);
    check_setting(&opts);
    check_defaults(&copy);
    ucs_config_parser_release_opts(&opts, my_table);
    ucs_config_parser_release_opts(&copy, my_table);
    check_variables(entry);
}

/* ---- ucs/profile/profile_defs.h, profile_on.h ---- */

static ucs_profile_context_t *profile;

_UCS_PROFILE_CTX_FUNC(profile, int, profiled_sum, (a, b), int a, int b)
{
    return a + b;
}

_UCS_PROFILE_CTX_FUNC_VOID(profile, profiled_wait, (microseconds),
                           unsigned microseconds)
{
    usleep(microseconds);
}

static void profile_places(int rounds)
{
    int i;

    for (i = 0; i < rounds; ++i) {
        UCS_PROFILE_CTX_SAMPLE(profile, "passed");
        EXPECT(profiled_sum(i, 1) == i + 1);
        EXPECT(UCS_PROFILE_CTX_NAMED_CALL(profile, "call", abs, -i) == i);
        UCS_PROFILE_CTX_RECORD(profile, UCS_PROFILE_TYPE_REQUEST_NEW, "req",
                               7, (uintptr_t)i);
    }

    UCS_PROFILE_CTX_NAMED_CALL_VOID(profile, "outer", profiled_wait, 2000);
}

/* What the profile says of a location by name: its count, and its time. */
static unsigned long profile_count(const char *text, const char *type,
                                   const char *name, unsigned long *total_p)
{
    char line_type[32], place[512], function[64], line_name[64];
    unsigned long count;
    int id;

    for (; text != NULL; text = strchr(text, '\n')) {
        text += (*text == '\n');
        if ((sscanf(text, "location %d %31s %lu %lu %511s %63s %63s", &id,
                    line_type, &count, total_p, place, function, line_name) ==
             7) && !strcmp(line_type, type) && !strcmp(line_name, name)) {
            return count;
        }
    }

    *total_p = 0;
    return 0;
}

static int profile_records(const char *text)
{
    int count = 0;

    while ((text = strstr(text, "\nrecord ")) != NULL) {
        ++count;
        ++text;
    }

    return count;
}

/* Profiles, and returns the file. */
static void profile_run(unsigned mode, size_t max_size, int rounds, char *text,
                        size_t max)
{
    char path[] = "/tmp/uses_profile_XXXXXX";
    int fd = mkstemp(path);
    size_t length;
    FILE *stream;

    EXPECT(fd >= 0);
    EXPECT(ucs_profile_init(mode, path, max_size, &profile) == UCS_OK);
    profile_places(rounds);
    ucs_profile_cleanup(profile);
    profile = NULL;
    stream = fdopen(fd, "r");
    length = fread(text, 1, max - 1, stream);
    text[length] = '\0';
    fclose(stream);
    unlink(path);
}

static void use_profile(void)
{
    static char text[65536];
    unsigned long total, outer;

    profile_places(1); /* no context: nothing happens */
    profile_run(UCS_BIT(UCS_PROFILE_MODE_ACCUM), 0, 10, text, sizeof(text));
    EXPECT(profile_count(text, "sample", "passed", &total) == 10);
    EXPECT(profile_count(text, "scope-end", "profiled_sum", &total) == 10);
    EXPECT(profile_count(text, "scope-end", "call", &total) == 10);
    EXPECT(profile_count(text, "request-new", "req", &total) == 10);
    EXPECT(profile_count(text, "scope-end", "profiled_wait", &total) == 1);
    EXPECT(profile_count(text, "scope-end", "outer", &outer) == 1);
    EXPECT((total >= 2000000) && (outer >= total));
    EXPECT(strstr(text, "uses_headers.c:") != NULL);
    EXPECT(profile_records(text) == 0);

    /* 6 records a round, and 4 at the end */
    profile_run(UCS_BIT(UCS_PROFILE_MODE_LOG), 1 << 16, 3, text, sizeof(text));
    EXPECT(profile_records(text) == 22);
    EXPECT(strstr(text, "\nlost 0\n") != NULL);
    EXPECT(strstr(text, " 7 2\n") != NULL); /* the last request */
    profile_run(UCS_BIT(UCS_PROFILE_MODE_LOG), 200, 3, text, sizeof(text));
    EXPECT((profile_records(text) > 0) && (profile_records(text) < 22));
    EXPECT(strstr(text, "\nlost 0\n") == NULL);

    profile_run(0, 0, 1, text, sizeof(text));
    EXPECT(text[0] == '\0');
    EXPECT(ucs_profile_init(UCS_BIT(UCS_PROFILE_MODE_LAST), "x", 0, &profile) ==
           UCS_ERR_INVALID_PARAM);
    EXPECT((strcmp(ucs_profile_mode_names[UCS_PROFILE_MODE_LOG], "log") == 0) &&
           (ucs_profile_mode_names[UCS_PROFILE_MODE_LAST] == NULL));
}

int main(void)
{
    use_class();
    use_atomic();
    use_spinlock();
    use_mpool();
    use_uid();
    use_parser();
    use_profile();
    return faults != 0;
}
