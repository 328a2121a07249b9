/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses every name of identifiers.txt once, as programs do, and checks the
 * results. run_uses.py compiles this file as C and as C++, and runs it;
 * identifiers.py checks that no name of the list is missing here.
 */
#include "expect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <ucm/api/ucm.h>
#include <ucp/api/ucp.h>
#include <ucs/config/types.h>
#include <ucs/datastruct/list.h>
#include <ucs/debug/log_def.h>
#include <ucs/memory/memory_type.h>
#include <ucs/memory/memtype_cache.h>
#include <ucs/sys/preprocessor.h>
#include <ucs/sys/string.h>
#include <ucs/type/status.h>
#include <uct/api/uct.h>

static int was_set_up;

UCS_STATIC_INIT
{
    was_set_up = 1;
}

UCS_STATIC_CLEANUP
{
    was_set_up = 0;
}

typedef struct {
    char small;
    long large;
} pair_t;

typedef uint32_t UCS_S_MAY_ALIAS alias_t;

static int UCS_F_PURE plus_one(int value)
{
    return value + 1;
}

static int UCS_F_NON_NULL first_of(const int *values)
{
    return values[0];
}

static int UCS_F_NO_SANITIZE_ADDRESS second_of(const int *values)
{
    return values[1];
}

UCT_INLINE_API int three(void)
{
    return 3;
}

static void use_macros(void)
{
    int array[4] = {1, 2, 3, 4}, *element, sum = 0, a = 1, b = 2, zero = 5;
    float number                        = 1.0f;
    alias_t *bits                       = (alias_t *)&number;
    ucs_typeof(a) same                  = 7;
    ucs_field_type(pair_t, large) field = 8;
    char *text                          = (char *)alloca(UCS_ALLOCA_MAX_SIZE);
    UCS_CONFIG_ARRAY_FIELD(int, values) list   = {array, 4, 0};
    UCS_CONFIG_STRING_ARRAY_FIELD(names) names = {NULL, 0, 0};

    UCS_V_INITIALIZED(zero);
    ucs_swap(&a, &b);
    ucs_carray_for_each(element, array, 4) {
        sum += *element;
    }
    ucs_compiler_fence();
    ucs_read_prefetch(array);
    ucs_write_prefetch(array);
    ucs_nt_read_prefetch(array);
    ucs_nt_write_prefetch(array);
    if (sum == 0)
        UCS_EMPTY_STATEMENT

    text[UCS_ALLOCA_MAX_SIZE - 1] = 'x';
    EXPECT(was_set_up);
    EXPECT((a == 2) && (b == 1));
    EXPECT(zero == 0);
    EXPECT(sum == 10);
    EXPECT((same == 7) && (field == 8));
    EXPECT(*bits == 0x3f800000);
    EXPECT(plus_one(first_of(array)) == second_of(array));
    EXPECT(three() == 3);
    EXPECT(text[UCS_ALLOCA_MAX_SIZE - 1] == 'x');
    EXPECT((list.values[3] == 4) && (list.count == 4) && (names.count == 0));
    EXPECT((UCS_BIT_GET(6, 1) == 1) && (UCS_BIT_GET(6, 0) == 0));
    EXPECT(UCS_PTR_BYTE_OFFSET(array, 4) == &array[1]);
    EXPECT(UCS_PTR_BYTE_DIFF(&array[0], &array[2]) == 8);
    EXPECT(UCS_PTR_BYTE_DIFF(&array[2], &array[0]) == -8);
    EXPECT(UCS_PTR_TYPE_OFFSET(array, int) == &array[1]);
    EXPECT(ucs_field_sizeof(pair_t, small) == 1);
    EXPECT(ucs_is_constant(5));
    EXPECT(ucs_is_unsigned_type(unsigned) && !ucs_is_unsigned_type(int));
    EXPECT(ucs_same_type(int, int) && !ucs_same_type(int, long));
    EXPECT(UCS_PP_NUM_ARGS() == 0);
    EXPECT(UCS_PP_NUM_ARGS(x, y, z) == 3);
    EXPECT(strcmp(UCS_PP_MAKE_STRING(UCS_PP_TUPLE_1(x, y, z)), "y") == 0);
#define ADD(_value, _x) +(_value) * (_x)
    EXPECT((0 UCS_PP_FOREACH(ADD, 2, 1, 2, 3)) == 12);
}

static void use_lists(void)
{
    typedef struct {
        int value;
        ucs_list_link_t link;
    } element_t;

    UCS_LIST_HEAD(head);
    ucs_list_link_t other = UCS_LIST_INITIALIZER(&other);
    element_t one = {1, {NULL, NULL}}, two = {2, {NULL, NULL}}, *element, *next;
    int sum = 0;

    EXPECT(ucs_list_is_empty(&head) && ucs_list_is_empty(&other));
    ucs_list_insert_after(&head, &two.link);
    EXPECT(ucs_list_extract_link(&head) == &two.link);
    ucs_list_add_tail(&head, &two.link);
    ucs_list_add_head(&head, &one.link);
    ucs_list_for_each(element, &head, link) {
        sum = 10 * sum + element->value;
    }
    EXPECT(sum == 12);
    EXPECT(ucs_list_head(&head, element_t, link) == &one);
    EXPECT(ucs_list_tail(&head, element_t, link) == &two);
    EXPECT(ucs_list_next(&one.link, element_t, link) == &two);
    EXPECT(ucs_list_prev(&two.link, element_t, link) == &one);
    EXPECT(UCS_ASAN_ADDRESS_IS_VALID(&one));
    EXPECT(UCS_LIST_CHECK_ELEM_IS_VALID(&one.link));
    EXPECT(ucs_list_extract_head(&head, element_t, link) == &one);
    ucs_list_for_each_safe(element, next, &head, link) {
        ucs_list_del(&element->link);
    }
    EXPECT(ucs_list_is_empty(&head));
}

static unsigned count_names(const char **names)
{
    unsigned count = 0;

    while (names[count] != NULL) {
        ++count;
    }
    return count;
}

static void use_names(void)
{
    int type, count = 0;

    ucs_memory_type_for_each(type) {
        ++count;
    }
    EXPECT(count == UCS_MEMORY_TYPE_LAST);
    EXPECT(count_names(ucs_memory_type_names) == UCS_MEMORY_TYPE_LAST + 1);
    EXPECT(count_names(ucs_memory_type_descs) == UCS_MEMORY_TYPE_LAST + 1);
    EXPECT(count_names(ucs_thread_mode_names) == UCS_THREAD_MODE_LAST);
    EXPECT(count_names(ucs_async_mode_names) == UCS_ASYNC_MODE_LAST);
    EXPECT(count_names(ucs_numa_policy_names) == UCS_NUMA_POLICY_LAST);
    EXPECT(count_names(uct_device_type_names) == UCT_DEVICE_TYPE_LAST);
    EXPECT(count_names(uct_alloc_method_names) == UCT_ALLOC_METHOD_LAST);
    EXPECT(strcmp(ucs_memory_type_names[UCS_MEMORY_TYPE_RDMA], "rdma") == 0);
    EXPECT(strcmp(ucs_memory_type_names[UCS_MEMORY_TYPE_UNKNOWN], "unknown") ==
           0);
    EXPECT(strcmp(ucs_thread_mode_names[UCS_THREAD_MODE_MULTI], "multi") == 0);
}

static void use_memory_types(void)
{
    char *const block = (char *)0x100000;
    const size_t size = 0x1000;
    ucs_memory_info_t info;

    EXPECT(ucs_memtype_cache_lookup(block, size, &info) == UCS_ERR_NO_ELEM);
    ucs_memtype_cache_update(block, size, UCS_MEMORY_TYPE_CUDA, 3, 0);
    EXPECT(ucs_memtype_cache_lookup(block + 16, size - 16, &info) == UCS_OK);
    EXPECT((info.type == UCS_MEMORY_TYPE_CUDA) && (info.sys_dev == 3));
    EXPECT((info.base_address == block) && (info.alloc_length == size));
    EXPECT(ucs_memtype_cache_lookup(block + 16, size, &info) == UCS_OK);
    EXPECT(info.type == UCS_MEMORY_TYPE_UNKNOWN);
    EXPECT(ucs_memtype_cache_lookup(block - 1, 2, &info) == UCS_ERR_NO_ELEM);
    ucs_memtype_cache_update(block, size, UCS_MEMORY_TYPE_HOST,
                             UCS_SYS_DEVICE_ID_UNKNOWN, 0);
    EXPECT(ucs_memtype_cache_lookup(block, size, &info) == UCS_ERR_NO_ELEM);
    ucs_memtype_cache_update(block, size, UCS_MEMORY_TYPE_ROCM, 0, 0);
    ucs_memtype_cache_remove(block, size);
    EXPECT(ucs_memtype_cache_lookup(block, size, &info) == UCS_ERR_NO_ELEM);
}

static void use_numa(void)
{
    ucs_numa_node_t node;
    ucs_numa_distance_t distance;
    ucs_cpu_set_t set;

    ucs_numa_init();
    EXPECT(ucs_numa_num_configured_nodes() >= 1);
    EXPECT(ucs_numa_num_configured_cpus() >= 1);
    node     = ucs_numa_node_of_cpu(0);
    distance = ucs_numa_distance(node, node);
    EXPECT((node >= UCS_NUMA_NODE_DEFAULT) &&
           ((distance == 0) || (distance == 10)));
    EXPECT(ucs_numa_node_of_device("/nonexistent") == UCS_NUMA_NODE_UNDEFINED);
    ucs_numa_cleanup();

    UCS_CPU_ZERO(&set);
    UCS_CPU_SET(77, &set);
    UCS_CPU_SET(99, &set);
    EXPECT(ucs_cpu_set_find_lcs(&set) == 77);
}

static void use_text(void)
{
    char text[32];
    size_t size;

    EXPECT(strcmp(ucs_memunits_to_str(4096, text, sizeof(text)), "4K") == 0);
    EXPECT(strcmp(ucs_memunits_range_str(1024, UCS_MEMUNITS_INF, text,
                                         sizeof(text)),
                  "1K..inf") == 0);
    EXPECT((ucs_str_to_memunits("4k", &size) == UCS_OK) && (size == 4096));
    EXPECT(ucs_str_to_memunits("four", &size) == UCS_ERR_INVALID_PARAM);
    EXPECT(strcmp(ucs_strncpy_safe(text, "abcdef", 4), "abc") == 0);
}

static void use_log(void)
{
    ucs_log_component_config_t component;

    component.log_level = UCS_LOG_LEVEL_WARN;
    strcpy(component.name, "USES");
    component.file_filter = "*";
    EXPECT(ucs_log_component_is_enabled(UCS_LOG_LEVEL_WARN, &component));
    EXPECT(!ucs_log_component_is_enabled(UCS_LOG_LEVEL_INFO, &component));
    EXPECT(ucs_log_is_enabled(UCS_LOG_LEVEL_ERROR));
    ucs_log_component(UCS_LOG_LEVEL_WARN, &component, "shown %d", 1);
    ucs_log_component(UCS_LOG_LEVEL_INFO, &component, "hidden");
    ucs_log_dispatch(__FILE__, __LINE__, __func__, UCS_LOG_LEVEL_ERROR,
                     &component, "dispatched %s", "too");
    ucs_warn("of the library");
    ucs_debug("hidden");
    EXPECT(ucs_log_get_level() == UCS_LOG_LEVEL_WARN);
    EXPECT(ucs_log_get_buffer_size() > 1000);
    ucs_log_fatal_error("and went %s", "on");
    ucs_log_flush();
}

#define USE_TYPE(_type) EXPECT(sizeof(_type *) == sizeof(void *))

static void release_descriptor(uct_recv_desc_t *self, void *desc)
{
    (void)self;
    *(int *)desc = 1;
}

static void use_uct_types(void)
{
    const uct_tl_resource_desc_t resource = {"tcp", "lo", UCT_DEVICE_TYPE_NET,
                                             UCS_SYS_DEVICE_ID_UNKNOWN};
    struct uct_iface_ops table;
    uct_iface_ops_t ops;
    uct_desc_release_callback_t release = release_descriptor;
    struct uct_recv_desc owner;
    char text[64];
    struct {
        uct_recv_desc_t *owner;
        int data;
    } descriptor;

    memset(&table, 0, sizeof(table));
    memset(&ops, 0, sizeof(ops));
    ops.ep_am_short = uct_ep_am_short;
    ops.ep_flush    = uct_ep_flush;
    EXPECT((ops.ep_am_short == uct_ep_am_short) && (table.ep_am_short == NULL));

    owner.cb         = release;
    descriptor.owner = &owner;
    descriptor.data  = 0;
    uct_recv_desc(&descriptor.data)->cb(&owner, &descriptor.data);
    EXPECT(descriptor.data == 1);

    snprintf(text, sizeof(text), UCT_TL_RESOURCE_DESC_FMT,
             UCT_TL_RESOURCE_DESC_ARG(&resource));
    EXPECT(strcmp(text, "tcp/lo") == 0);
    EXPECT(UCT_API == UCT_VERSION(1, 20));
    EXPECT((UCT_API >> UCT_MAJOR_BIT) == UCT_VERNO_MAJOR);
    EXPECT(((UCT_API >> UCT_MINOR_BIT) & 0xff) == UCT_VERNO_MINOR);
    EXPECT((UCT_VERNO_PATCH >= 0) && (sizeof(UCT_VERNO_EXTRA) > 0));
    EXPECT((sizeof(UCT_SCM_BRANCH) > 1) && (sizeof(UCT_SCM_VERSION) > 1));
    EXPECT((UCS_CALLBACKQ_FAST_COUNT == 7) && (UCS_SYS_BDF_NAME_MAX == 16));
    EXPECT((UCS_STATS_FULL == 0) && (UCS_STATS_FULL_AGG == 1) &&
           (UCS_STATS_SUMMARY == 2) && (UCS_STATS_LAST == 3));
    USE_TYPE(uct_iface_t);
    USE_TYPE(uct_ep_t);
    USE_TYPE(uct_listener_t);
    USE_TYPE(uct_worker_t);
    USE_TYPE(uct_cm_ep_conn_notify_func_t);
    USE_TYPE(uct_ep_am_bcopy_func_t);
    USE_TYPE(uct_ep_am_short_func_t);
    USE_TYPE(uct_ep_am_short_iov_func_t);
    USE_TYPE(uct_ep_am_zcopy_func_t);
    USE_TYPE(uct_ep_atomic32_fetch_func_t);
    USE_TYPE(uct_ep_atomic32_post_func_t);
    USE_TYPE(uct_ep_atomic64_fetch_func_t);
    USE_TYPE(uct_ep_atomic64_post_func_t);
    USE_TYPE(uct_ep_atomic_cswap32_func_t);
    USE_TYPE(uct_ep_atomic_cswap64_func_t);
    USE_TYPE(uct_ep_check_func_t);
    USE_TYPE(uct_ep_connect_func_t);
    USE_TYPE(uct_ep_connect_to_ep_func_t);
    USE_TYPE(uct_ep_create_func_t);
    USE_TYPE(uct_ep_destroy_func_t);
    USE_TYPE(uct_ep_disconnect_func_t);
    USE_TYPE(uct_ep_fence_func_t);
    USE_TYPE(uct_ep_flush_func_t);
    USE_TYPE(uct_ep_get_address_func_t);
    USE_TYPE(uct_ep_get_bcopy_func_t);
    USE_TYPE(uct_ep_get_short_func_t);
    USE_TYPE(uct_ep_get_zcopy_func_t);
    USE_TYPE(uct_ep_pending_add_func_t);
    USE_TYPE(uct_ep_pending_purge_func_t);
    USE_TYPE(uct_ep_put_bcopy_func_t);
    USE_TYPE(uct_ep_put_short_func_t);
    USE_TYPE(uct_ep_put_zcopy_func_t);
    USE_TYPE(uct_ep_tag_eager_bcopy_func_t);
    USE_TYPE(uct_ep_tag_eager_short_func_t);
    USE_TYPE(uct_ep_tag_eager_zcopy_func_t);
    USE_TYPE(uct_ep_tag_rndv_cancel_func_t);
    USE_TYPE(uct_ep_tag_rndv_request_func_t);
    USE_TYPE(uct_ep_tag_rndv_zcopy_func_t);
    USE_TYPE(uct_iface_accept_func_t);
    USE_TYPE(uct_iface_close_func_t);
    USE_TYPE(uct_iface_event_arm_func_t);
    USE_TYPE(uct_iface_event_fd_get_func_t);
    USE_TYPE(uct_iface_fence_func_t);
    USE_TYPE(uct_iface_flush_func_t);
    USE_TYPE(uct_iface_get_address_func_t);
    USE_TYPE(uct_iface_get_device_address_func_t);
    USE_TYPE(uct_iface_is_reachable_func_t);
    USE_TYPE(uct_iface_progress_disable_func_t);
    USE_TYPE(uct_iface_progress_enable_func_t);
    USE_TYPE(uct_iface_progress_func_t);
    USE_TYPE(uct_iface_query_func_t);
    USE_TYPE(uct_iface_reject_func_t);
    USE_TYPE(uct_iface_tag_recv_cancel_func_t);
    USE_TYPE(uct_iface_tag_recv_zcopy_func_t);
}

static void use_ucm(void)
{
    EXPECT(ucm_global_opts.mmap_hook_mode <= UCM_MMAP_HOOK_LAST);
    EXPECT(&ucm_global_opts == ucm_global_opts_get());
}

int main(void)
{
    use_macros();
    use_lists();
    use_names();
    use_memory_types();
    use_numa();
    use_text();
    use_log();
    use_uct_types();
    use_ucm();
    return faults != 0;
}
