# The third-party libraries of a portable build (DTCTL_PORTABLE): static, or headers only. Debian's own CMake files for them name
# shared libraries. What FindNAME modules and the other files here find needs no help: in the sysroot there are static archives only.
function(dtctl_header_library target)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
endfunction()

dtctl_header_library(fmt::fmt)
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
dtctl_header_library(spdlog::spdlog)
target_compile_definitions(spdlog::spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_link_libraries(spdlog::spdlog INTERFACE fmt::fmt)
dtctl_header_library(nlohmann_json::nlohmann_json)
dtctl_header_library(CLI11::CLI11)

# A library that Python loads cannot have libgomp inside, and machines with PyTorch need not have one: loops run on one thread.
dtctl_header_library(OpenMP::OpenMP_CXX)
target_compile_options(OpenMP::OpenMP_CXX INTERFACE -fopenmp-simd)
target_include_directories(OpenMP::OpenMP_CXX INTERFACE "${PROJECT_SOURCE_DIR}/cmake/portable")

find_library(YAML_CPP_LIBRARY yaml-cpp REQUIRED)
add_library(yaml-cpp STATIC IMPORTED GLOBAL)
set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION "${YAML_CPP_LIBRARY}")

# Whole, because what needs it, libstdc++, comes last on the linker's command line. In glibc 2.31 threads and dlopen are libraries of
# their own.
add_library(dtctl_newer_glibc STATIC "${PROJECT_SOURCE_DIR}/cmake/portable/newer_glibc.cpp")
target_include_directories(dtctl_newer_glibc PRIVATE "${PROJECT_SOURCE_DIR}")
target_compile_options(dtctl_settings INTERFACE -include "${PROJECT_SOURCE_DIR}/cmake/portable/newer_glibc.hpp")
set_target_properties(dtctl_newer_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_options(dtctl_settings INTERFACE -static-libstdc++ LINKER:-u,__libc_single_threaded,-u,arc4random)
target_link_libraries(dtctl_settings INTERFACE dtctl_newer_glibc)
set(CMAKE_CXX_STANDARD_LIBRARIES "-Wl,--push-state,--no-as-needed -lpthread -ldl -Wl,--pop-state")
