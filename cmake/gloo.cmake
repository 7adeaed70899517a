# Gloo::gloo, when it is installed: dtbench measures it beside our own allreduces. Nothing else may link it.
find_path(GLOO_INCLUDE_DIR gloo/allreduce.h)
find_library(GLOO_LIBRARY gloo)
if(GLOO_INCLUDE_DIR AND GLOO_LIBRARY)
  add_library(Gloo::gloo UNKNOWN IMPORTED)
  # System headers: their warnings are not ours.
  set_target_properties(Gloo::gloo PROPERTIES IMPORTED_LOCATION "${GLOO_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${GLOO_INCLUDE_DIR}")
else()
  message(STATUS "Gloo is not installed: dtbench comm will measure without it")
endif()
