# Hwloc::hwloc, when it is installed: which NUMA nodes are nearest to the cores of a rank.
find_path(HWLOC_INCLUDE_DIR hwloc.h)
find_library(HWLOC_LIBRARY hwloc)
if(HWLOC_INCLUDE_DIR AND HWLOC_LIBRARY)
  add_library(Hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::hwloc PROPERTIES IMPORTED_LOCATION "${HWLOC_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${HWLOC_INCLUDE_DIR}")
else()
  message(STATUS "hwloc is not installed (libhwloc-dev): begin.json will not name the ranks' NUMA nodes")
endif()
