/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp_get_version, ucp_get_version_string and ucp_lib_query. */
#include <ucp/api/ucp.h>
#include <ucp/api/ucp_version.h>

void ucp_get_version(unsigned *major_version, unsigned *minor_version,
                     unsigned *release_number)
{
    *major_version  = UCP_API_MAJOR;
    *minor_version  = UCP_API_MINOR;
    *release_number = UCP_RELEASE_NUMBER;
}

const char *ucp_get_version_string(void)
{
    return UCP_VERSION_STRING;
}

ucs_status_t ucp_lib_query(ucp_lib_attr_t *attr)
{
    if (attr->field_mask & UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL) {
        attr->max_thread_level = UCS_THREAD_MODE_MULTI;
    }
    return UCS_OK;
}
