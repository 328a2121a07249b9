/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, defaults and help texts of the plugin's configuration variables. */
#include "plugin.h"

#define COUNT(_a) (sizeof(_a) / sizeof((_a)[0]))
#define FIELD(_name, _type, _member, _dflt, _min, _max, _help) \
    { \
        _name, UCX_CONFIG_##_type, offsetof(ugni_config_t, _member), _dflt, \
            _help, NULL, _min, _max \
    }

static const ucx_config_field_t md_fields[] = {
    {"PROVIDER", UCX_CONFIG_STRING, offsetof(ugni_md_config_t, provider), "",
     "Provider of libfabric to use, as fi_info lists it: \"tcp;ofi_rxm\" for "
     "example. Empty: cxi, otherwise gni."},
    {"RCACHE", UCX_CONFIG_TERNARY, offsetof(ugni_md_config_t, rcache), "try",
     "Keep registrations for their next use until the memory is unmapped. Not "
     "with providers that demand FI_MR_ENDPOINT (cxi, gni)."},
    {"MULTI_RECV", UCX_CONFIG_TERNARY, offsetof(ugni_md_config_t, multi_recv),
     "try",
     "Receive many messages into each receive buffer (FI_MULTI_RECV), if the "
     "provider supports it. try: only where it is faster (cxi). n: a buffer "
     "for each message."},
    {"TM_ENABLE", UCX_CONFIG_TERNARY, offsetof(ugni_md_config_t, tm_enable),
     "try",
     "Tag matching by the provider (FI_TAGGED), for tagged messages of UCP. "
     "try: only with cxi, which matches by hardware."},
    {"HMEM", UCX_CONFIG_TERNARY, offsetof(ugni_md_config_t, hmem), "try",
     "Register memory of accelerators with the provider (FI_HMEM). try: only "
     "with cxi; other providers then have no short messages or no atomics."},
};

static const ucx_config_field_t fields[] = {
    FIELD(
        "SEG_SIZE", MEMUNITS, seg_size, "16304", 512, UGNI_MAX_SEG,
        "Bytes of a buffer: the limit of an active message and of a put or get "
        "with a copy."),
    FIELD("TX_QUEUE_LEN", UINT, tx_queue_len, "256", 8, 16384,
          "Operations that an interface has outstanding, at most."),
    FIELD("RX_QUEUE_LEN", UINT, rx_queue_len, "256", 8, 16384,
          "Receive buffers of ugni_smsg."),
    FIELD("TIMEOUT", TIME, timeout, "5m", 0, 0,
          "Time without any completed send after which a peer counts as lost. "
          "A process receives only while it makes progress."),
    FIELD("USER_TIMEOUT", TIME, user_timeout, "30s", 0, 0,
          "Time after which a peer counts as lost if its host does not "
          "acknowledge sent data, with providers over TCP; inf leaves it to "
          "the system."),
    FIELD("LINGER_TIMEOUT", TIME, linger, "1s", 0, 0,
          "Time that closing an interface waits for what was sent, and that a "
          "failed endpoint waits for memory that the provider uses."),
};

const ucx_config_table_t ugni_md_config_table = {
    .size         = sizeof(ugni_md_config_table),
    .prefix       = "UGNI_",
    .options_size = sizeof(ugni_md_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = md_fields,
    .num_fields   = COUNT(md_fields),
};

const ucx_config_table_t ugni_config_table = {
    .size         = sizeof(ugni_config_table),
    .prefix       = "UGNI_",
    .options_size = sizeof(ugni_config_t),
    .field_size   = sizeof(ucx_config_field_t),
    .fields       = fields,
    .num_fields   = COUNT(fields),
};
