/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry point, options and fabrics of the provider `strict`. */
#include "strict.h"

#include <stdarg.h>
#include <stdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

strict_options_t strict_options;

static const struct {
    const char *name;
    uint64_t mode;
} modes[] = {
    {"local", FI_MR_LOCAL},         {"endpoint", FI_MR_ENDPOINT},
    {"virt_addr", FI_MR_VIRT_ADDR}, {"prov_key", FI_MR_PROV_KEY},
    {"allocated", FI_MR_ALLOCATED}, {"raw", FI_MR_RAW},
};

void strict_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "strict: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    abort();
}

uint64_t strict_hash(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint64_t value             = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < length; ++i) {
        value = (value ^ bytes[i]) * 0x100000001b3ull;
    }
    return value;
}

int strict_no_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    return -FI_ENOSYS;
}

int strict_no_control(struct fid *fid, int command, void *arg)
{
    return -FI_ENOSYS;
}

int strict_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops,
                  void *context)
{
    return -FI_ENOSYS;
}

static uint64_t option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return (text != NULL) ? strtoull(text, NULL, 0) : otherwise;
}

static void read_options(void)
{
    const char *text = getenv("STRICT_MODES");
    const char *over = getenv("STRICT_OVER");

    strict_options.over      = (over != NULL) ? over : "tcp;ofi_rxm";
    strict_options.addresses = (unsigned)option("STRICT_ADDRESSES",
                                                STRICT_MAX_PEERS);
    strict_options.depth     = (unsigned)option("STRICT_DEPTH", 1u << 30);
    strict_options.fail      = (unsigned)option("STRICT_FAIL", 0);
    strict_options.lose      = (unsigned)option("STRICT_LOSE", 0);
    strict_options.receives  = (unsigned)option("STRICT_RECEIVES", UINT_MAX);
    strict_options.message   = option("STRICT_MESSAGE", SIZE_MAX);
    strict_options.shuffle   = option("STRICT_SHUFFLE", 0) != 0;
    strict_options.hmem      = option("STRICT_HMEM", 0) != 0;
    for (size_t i = 0; (text != NULL) && (i < sizeof(modes) / sizeof(modes[0]));
         ++i) {
        if (strstr(text, modes[i].name) != NULL) {
            strict_options.modes |= (uint64_t)modes[i].mode;
        }
    }
}

/* --- Information ---------------------------------------------------------- */

static char *replace(char *old, const char *text)
{
    free(old);
    return (text == NULL) ? NULL : strdup(text);
}

int strict_real_info(const struct fi_info *info, struct fi_info **real_p)
{
    struct fi_info *hints = fi_dupinfo(info);
    int rc;

    if (hints == NULL) {
        return -FI_ENOMEM;
    }
    hints->fabric_attr->prov_name   = replace(hints->fabric_attr->prov_name,
                                              strict_options.over);
    hints->domain_attr->mr_mode     = 0; /* `strict` passes on keys that it has
                                          * converted, and offsets */
    hints->domain_attr->mr_key_size = 0;
    hints->caps &= ~(uint64_t)(FI_ATOMIC | FI_HMEM);
    rc = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, real_p);
    fi_freeinfo(hints);
    return rc;
}

static int getinfo(uint32_t version, const char *node, const char *service,
                   uint64_t flags, const struct fi_info *hints,
                   struct fi_info **info_p)
{
    const uint64_t demanded = strict_options.modes;
    struct fi_info *info;
    int rc;

    /* A call without hints is rejected, so that fi_info lists this provider
     * only if the user names it. */
    if ((hints == NULL) || (hints->domain_attr == NULL) ||
        (hints->fabric_attr == NULL) ||
        (hints->caps & (FI_ATOMIC | FI_TAGGED)) ||
        ((hints->caps & FI_HMEM) && !strict_options.hmem) ||
        (demanded & ~(uint64_t)hints->domain_attr->mr_mode)) {
        return -FI_ENODATA;
    }
    rc = strict_real_info(hints, info_p);
    for (info = *info_p; (rc == 0) && (info != NULL); info = info->next) {
        info->fabric_attr->prov_name = replace(info->fabric_attr->prov_name,
                                               NULL);
        info->caps |= hints->caps & FI_HMEM;
        info->domain_attr->mr_mode     = (int)demanded;
        info->domain_attr->mr_key_size = (demanded & FI_MR_RAW) ?
                                             STRICT_RAW_KEY :
                                         (demanded & FI_MR_PROV_KEY) ? 8 :
                                                                       4;
    }
    return rc;
}

/* --- Fabric --------------------------------------------------------------- */

static int fabric_close(struct fid *fid)
{
    strict_fabric_t *fabric = (strict_fabric_t *)fid;
    int rc                  = fi_close(&fabric->real->fid);

    free(fabric);
    return rc;
}

static int fabric_trywait(struct fid_fabric *fid, struct fid **fids, int count)
{
    strict_fabric_t *fabric = (strict_fabric_t *)fid;
    struct fid *real;
    strict_cq_t *cq;
    int rc = 0;

    for (int i = 0; (i < count) && (rc == 0); ++i) {
        cq = (strict_cq_t *)fids[i];
        pthread_mutex_lock(&cq->lock);
        real = &cq->real->fid;
        rc   = (cq->num_held > 0) ? -FI_EAGAIN :
                                    fi_trywait(fabric->real, &real, 1);
        pthread_mutex_unlock(&cq->lock);
    }
    return rc;
}

static struct fi_ops fabric_fid_ops = {
    .size     = sizeof(fabric_fid_ops),
    .close    = fabric_close,
    .bind     = strict_no_bind,
    .control  = strict_no_control,
    .ops_open = strict_no_ops,
};

static struct fi_ops_fabric fabric_ops = {
    .size    = sizeof(fabric_ops),
    .domain  = strict_domain_open,
    .trywait = fabric_trywait,
};

static int fabric_open(struct fi_fabric_attr *attr,
                       struct fid_fabric **fabric_p, void *context)
{
    strict_fabric_t *fabric  = calloc(1, sizeof(*fabric));
    struct fi_fabric_attr of = *attr;
    int rc;

    if (fabric == NULL) {
        return -FI_ENOMEM;
    }
    of.prov_name = strdup(strict_options.over);
    rc           = fi_fabric(&of, &fabric->real, context);
    free(of.prov_name);
    if (rc != 0) {
        free(fabric);
        return rc;
    }
    fabric->fid.fid.fclass  = FI_CLASS_FABRIC;
    fabric->fid.fid.context = context;
    fabric->fid.fid.ops     = &fabric_fid_ops;
    fabric->fid.ops         = &fabric_ops;
    fabric->fid.api_version = FI_VERSION(1, 17);
    *fabric_p               = &fabric->fid;
    return 0;
}

static void cleanup(void)
{
}

static struct fi_provider provider = {
    .version    = FI_VERSION(1, 0),
    .fi_version = FI_VERSION(1, 17),
    .name       = STRICT_NAME,
    .getinfo    = getinfo,
    .fabric     = fabric_open,
    .cleanup    = cleanup,
};

struct fi_provider *fi_prov_ini(void);

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
    read_options();
    return &provider;
}
