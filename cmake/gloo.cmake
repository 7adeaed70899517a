# Gloo::gloo, when it is installed: the allreduce `gloo` of the engine, and other algorithms of Gloo in dtbench.
find_path(GLOO_INCLUDE_DIR gloo/allreduce.h)
find_library(GLOO_LIBRARY gloo)
if(GLOO_INCLUDE_DIR AND GLOO_LIBRARY)
  add_library(Gloo::gloo UNKNOWN IMPORTED)
  # System headers: their warnings are not ours.
  set_target_properties(Gloo::gloo PROPERTIES IMPORTED_LOCATION "${GLOO_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${GLOO_INCLUDE_DIR}")
else()
  message(STATUS "Gloo is not installed (libgloo-dev): dtengine and dtbench will not have the allreduce gloo")
endif()
