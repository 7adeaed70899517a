# Two interface targets that every target of ours links: how code is compiled, and which warnings it must not raise.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Equal files in another checkout are the same compilation: paths below it are made relative.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      "CCACHE_SLOPPINESS=time_macros" "${CCACHE}")
endif()

add_library(dtctl_settings INTERFACE)
target_compile_features(dtctl_settings INTERFACE cxx_std_20)
target_include_directories(dtctl_settings INTERFACE "${PROJECT_SOURCE_DIR}")
# Equal sources give an equal build id wherever they lie, and the build id is part of every run's key.
target_compile_options(dtctl_settings INTERFACE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
target_link_options(dtctl_settings INTERFACE -Wl,--build-id=sha1 -Wl,--as-needed)
if(DTCTL_SANITIZE)
  target_compile_options(dtctl_settings INTERFACE "-fsanitize=${DTCTL_SANITIZE}" -fno-omit-frame-pointer)
  target_link_options(dtctl_settings INTERFACE "-fsanitize=${DTCTL_SANITIZE}")
endif()
if(DTCTL_CLANG_TIDY)
  set(CMAKE_CXX_CLANG_TIDY clang-tidy --quiet --extra-arg=-Wno-unknown-warning-option)
endif()

add_library(dtctl_warnings INTERFACE)
target_compile_options(dtctl_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-psabi $<$<BOOL:${DTCTL_WERROR}>:-Werror>)
# Optimising, GCC 12 sees an overlap in std::string's operator+ (GCC bug 105651), writes behind its buffer (at -O1) and
# uninitialised members in copied std::variants (105562) that are not there; they are mended in 13.
target_compile_options(dtctl_warnings INTERFACE
                       "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-maybe-uninitialized;$<$<CONFIG:Release>:-Wno-array-bounds>>")
# Sources that are compiled together see each other's unnamed namespaces, and GCC takes them for headers.
target_compile_options(dtctl_warnings INTERFACE
                       "$<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-Wno-shadow;-Wno-subobject-linkage>")
