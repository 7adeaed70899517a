# Spng::spng and WebP::webp: the libraries that decode PNG and WebP. CMake has no modules for them.
find_path(SPNG_INCLUDE_DIR spng.h REQUIRED)
find_library(SPNG_LIBRARY NAMES spng REQUIRED)
add_library(Spng::spng UNKNOWN IMPORTED GLOBAL)
set_target_properties(Spng::spng PROPERTIES IMPORTED_LOCATION "${SPNG_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${SPNG_INCLUDE_DIR}")

find_path(WEBP_INCLUDE_DIR webp/decode.h REQUIRED)
find_library(WEBP_LIBRARY NAMES webp REQUIRED)
add_library(WebP::webp UNKNOWN IMPORTED GLOBAL)
set_target_properties(WebP::webp PROPERTIES IMPORTED_LOCATION "${WEBP_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${WEBP_INCLUDE_DIR}")
