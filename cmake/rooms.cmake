# dtctl_room(NAME SOURCES … [LINKS …] [PRIVATE_LINKS …])
#
# A room is one folder and one static library, dt_NAME (for engine/comm: dt_engine_comm). With DTCTL_CHECK_ROOMS on, as in CI, two
# checks come with it: each header compiles alone, and the library links alone, that is with nothing but what it says it links.
function(dtctl_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target dt_${name})
  add_library(${target} STATIC ${ROOM_SOURCES})
  target_link_libraries(${target} PUBLIC dtctl_settings ${ROOM_LINKS} PRIVATE dtctl_warnings ${ROOM_PRIVATE_LINKS})
  # A release is compiled with -O1, which takes a fifth less time, except what computes, and what reads and writes large records.
  if(name MATCHES "^(core|store)")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  elseif(name MATCHES "^engine_(nn|comm|sync|optim|data)")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
  if(DTCTL_CHECK_ROOMS)
    dtctl_check_room(${target})
  endif()
endfunction()

# The two checks of a room.
function(dtctl_check_room target)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp")
  set(alone "")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH folder)
    if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR AND EXISTS "${folder}/CMakeLists.txt")
      continue() # a library of its own
    endif()
    cmake_path(GET header STEM stem)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE include)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/alone/${stem}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${include}\"\n")
    list(APPEND alone "${source}")
  endforeach()
  if(alone)
    add_library(${target}_headers_alone OBJECT ${alone})
    target_link_libraries(${target}_headers_alone PRIVATE ${target} dtctl_warnings)
    set_target_properties(${target}_headers_alone PROPERTIES UNITY_BUILD OFF)
  endif()

  # Every object of the library is pulled in, so a symbol that only another room defines fails the link.
  set(main "${CMAKE_CURRENT_BINARY_DIR}/alone/main.cc")
  file(CONFIGURE OUTPUT "${main}" CONTENT "int main() { return 0; }\n")
  add_executable(${target}_links_alone "${main}")
  target_link_libraries(${target}_links_alone PRIVATE -Wl,--whole-archive ${target} -Wl,--no-whole-archive)
  set_target_properties(${target}_links_alone PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/alone")
  add_test(NAME rooms.${target}_links_alone COMMAND ${target}_links_alone)
endfunction()
