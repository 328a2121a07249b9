# SPDX-License-Identifier: BSD-3-Clause
# The targets of ucx-config.cmake, which sets the folders. Each brings what its
# headers include: ucp uct, ucs; uct ucs.
foreach(_ucx_name ucm ucs uct ucp)
    if(NOT TARGET ucx::${_ucx_name})
        add_library(ucx::${_ucx_name} SHARED IMPORTED)
        set_target_properties(ucx::${_ucx_name} PROPERTIES
            IMPORTED_LOCATION "${UCX_LIBRARIES}/lib${_ucx_name}.so"
            INTERFACE_INCLUDE_DIRECTORIES "${UCX_INCLUDE_DIRS}")
    endif()
endforeach()
set_target_properties(ucx::uct PROPERTIES
    INTERFACE_LINK_LIBRARIES "ucx::ucs")
set_target_properties(ucx::ucp PROPERTIES
    INTERFACE_LINK_LIBRARIES "ucx::uct;ucx::ucs")
unset(_ucx_name)
