# Re2::re2: the regular expressions of program.metrics.
find_path(RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(RE2_LIBRARY re2 REQUIRED)
add_library(Re2::re2 UNKNOWN IMPORTED)
set_target_properties(Re2::re2 PROPERTIES IMPORTED_LOCATION "${RE2_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${RE2_INCLUDE_DIR}")
