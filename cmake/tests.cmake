# dtctl_test(NAME SOURCES … [LINKS …] [RANKS n…] [STARTED_BY command…] [TIMEOUT seconds] [LABELS …] [PROPERTIES name value …])
#
# scripts/check runs two tests for each core, because most of them wait for processes as long as they compute. PROCESSORS counts
# such halves of a core: 2 for a test whose ranks or threads keep a core busy, 4 for one that is to have two cores for itself.
# CTest begins with the tests of the highest COST; their time in seconds is good enough.
#
# Builds test_NAME from Catch2 test files. Without RANKS every TEST_CASE becomes a CTest test of its own; with RANKS the
# whole program is launched once by mpirun for each count, each rank by the command STARTED_BY if there is one, and TIMEOUT is the
# watchdog against a hang.
add_custom_target(unit_tests) # what scripts/check --quick builds
function(dtctl_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;LINKS;RANKS;STARTED_BY;LABELS;PROPERTIES" ${ARGN})
  set(target test_${name})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  # CMake drops empty elements of lists, so an empty label would take the name of the next property for its value.
  if(NOT TEST_LABELS AND NOT TEST_RANKS)
    set(TEST_LABELS unit)
  endif()
  add_executable(${target} ${TEST_SOURCES})
  target_link_libraries(${target} PRIVATE ${TEST_LINKS} dtctl_settings dtctl_warnings
                        $<IF:$<BOOL:${TEST_RANKS}>,test_main_mpi,test_main>)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_compile_definitions(${target} PRIVATE DTCTL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" DTCTL_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(TEST_LABELS STREQUAL unit)
    add_dependencies(unit_tests ${target})
  endif()
  if(NOT TEST_RANKS)
    # Threads that wait for one another sleep instead of spinning, because other tests need the cores: two threads beside three such
    # tests take a quarter of the processor time so.
    catch_discover_tests(${target} TEST_PREFIX "${name}: " PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}"
                         ENVIRONMENT "OMP_WAIT_POLICY=passive" ${TEST_PROPERTIES})
    return()
  endif()
  # Open MPI leaves memory behind at its end, in plugins that are unloaded by then, so that no suppression could name them.
  set(without_mpi_leaks "ASAN_OPTIONS=detect_leaks=0")
  set(intended_races "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/thread_sanitizer.suppressions")
  foreach(ranks IN LISTS TEST_RANKS)
    add_test(NAME "${name}: ${ranks} ranks"
             COMMAND ${MPIEXEC_EXECUTABLE} --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1
                     -np ${ranks} ${TEST_STARTED_BY} $<TARGET_FILE:${target}>)
    set_tests_properties("${name}: ${ranks} ranks" PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "mpi;${TEST_LABELS}" PROCESSORS 2 COST 30
                         ENVIRONMENT "OMP_NUM_THREADS=1;OMPI_MCA_rmaps_base_oversubscribe=1;${without_mpi_leaks};${intended_races}")
  endforeach()
endfunction()
