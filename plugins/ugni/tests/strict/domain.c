/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains of the provider `strict`. */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

static int domain_close(struct fid *fid)
{
    strict_domain_t *domain = (strict_domain_t *)fid;
    int rc;

    if (domain->mrs != NULL) {
        strict_die("a domain is closed before its memory regions");
    }
    if (domain->mappings != NULL) {
        strict_die("a domain is closed while a raw key is mapped");
    }
    rc = fi_close(&domain->real->fid);
    fi_freeinfo(domain->info);
    pthread_mutex_destroy(&domain->lock);
    free(domain);
    return rc;
}

static int domain_control(struct fid *fid, int command, void *arg)
{
    strict_domain_t *domain = (strict_domain_t *)fid;

    switch (command) {
    case FI_MAP_RAW_MR:
        return strict_map_raw(domain, arg);
    case FI_UNMAP_KEY:
        return strict_unmap(domain, *(uint64_t *)arg);
    default:
        return -FI_ENOSYS;
    }
}

static struct fi_ops domain_fid_ops = {
    .size     = sizeof(domain_fid_ops),
    .close    = domain_close,
    .bind     = strict_no_bind,
    .control  = domain_control,
    .ops_open = strict_no_ops,
};

static struct fi_ops_domain domain_ops = {
    .size     = sizeof(domain_ops),
    .av_open  = strict_av_open,
    .cq_open  = strict_cq_open,
    .endpoint = strict_endpoint,
};

int strict_domain_open(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **domain_p, void *context)
{
    strict_domain_t *domain = calloc(1, sizeof(*domain));
    int rc                  = (domain == NULL) ? -FI_ENOMEM :
                                                 strict_real_info(info, &domain->info);

    if (rc != 0) {
        free(domain);
        return rc;
    }
    rc = fi_domain(((strict_fabric_t *)fabric)->real, domain->info,
                   &domain->real, context);
    if (rc != 0) {
        fi_freeinfo(domain->info);
        free(domain);
        return rc;
    }
    pthread_mutex_init(&domain->lock, NULL);
    domain->fid.fid.fclass  = FI_CLASS_DOMAIN;
    domain->fid.fid.context = context;
    domain->fid.fid.ops     = &domain_fid_ops;
    domain->fid.ops         = &domain_ops;
    domain->fid.mr          = &strict_mr_ops;
    *domain_p               = &domain->fid;
    return 0;
}
