# Install rules beside those of the programs' own folders, and the Debian packages: one for each component.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/recipes/library/" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl/recipes" FILES_MATCHING PATTERN "*.yaml" PATTERN "profiles/*.json")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/recipes/library/programs" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl/recipes" USE_SOURCE_PERMISSIONS)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/share/dtctl/program" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl" FILES_MATCHING PATTERN "*.py" PATTERN "*.h" PATTERN "__pycache__" EXCLUDE)
# Where the distribution's Python looks for modules, so that programs that report also run outside of dtctl. Not in the tarball.
if(NOT DTCTL_PORTABLE)
  set(modules "${PROJECT_SOURCE_DIR}/share/dtctl/program")
  install(FILES "${modules}/dtctl_report.py" DESTINATION lib/python3/dist-packages)
  install(DIRECTORY "${modules}/dtctl_measure" "${modules}/dtctl_sync" "${PROJECT_SOURCE_DIR}/python/dtctl" DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
endif()

# Documents: the guide's links lead to README.md and the others above it.
set(documents "${CMAKE_INSTALL_DATADIR}/doc/dtctl-doc")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/ARCHITECTURE.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
              "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/CITATION.cff"
        DESTINATION "${documents}" COMPONENT dtctl-doc)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${documents}" COMPONENT dtctl-doc FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")

# Files that Debian wants compressed, in a name of each page and package.
function(dtctl_install_compressed source name destination component)
  set(compressed "${PROJECT_BINARY_DIR}/packaging/${component}/${name}.gz")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/packaging/${component}")
  execute_process(COMMAND gzip -9n INPUT_FILE "${source}" OUTPUT_FILE "${compressed}" COMMAND_ERROR_IS_FATAL ANY)
  install(FILES "${compressed}" DESTINATION "${destination}" COMPONENT ${component})
endfunction()
set(pages "${PROJECT_SOURCE_DIR}/share/man")
dtctl_install_compressed("${pages}/dtjob.1" dtjob.1 "${CMAKE_INSTALL_MANDIR}/man1" dtctl)
if(DTCTL_ENGINE)
  dtctl_install_compressed("${pages}/dtengine.1" dtengine.1 "${CMAKE_INSTALL_MANDIR}/man1" dtctl-engine)
  dtctl_install_compressed("${pages}/dtengine.1" dtbench.1 "${CMAKE_INSTALL_MANDIR}/man1" dtctl-engine)
  if(TARGET dtsim)
    dtctl_install_compressed("${pages}/dtengine.1" dtsim.1 "${CMAKE_INSTALL_MANDIR}/man1" dtctl-engine)
  endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dtctl)
set(CPACK_PACKAGE_CONTACT "dtctl maintainers <maintainers@dtctl.example>")
string(REGEX REPLACE "^Honest" "honest" CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL dtctl dtctl-doc)
if(DTCTL_ENGINE)
  list(APPEND CPACK_COMPONENTS_ALL dtctl-engine)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://dtctl.example")

set(CPACK_DEBIAN_DTCTL_PACKAGE_NAME dtctl)
set(CPACK_COMPONENT_DTCTL_DESCRIPTION "dtctl reads a YAML recipe, generates and submits the jobs of a scaling study
on this machine or through Slurm, follows them to their true end, and records
throughput, scaling efficiency and where the time went in a SQLite database.

The jobs run a training program of the user, or the engine in dtctl-engine.")
# dtctl plot draws with gnuplot, and says so where it is missing.
set(CPACK_DEBIAN_DTCTL_PACKAGE_RECOMMENDS "dtctl-engine, gnuplot-nox")
# Slurm's library is loaded when it is used (jobs/slurm/access/load.cpp); the package must not bring it where there is no Slurm.
set(CPACK_DEBIAN_DTCTL_PACKAGE_SUGGESTS "dtctl-doc, openmpi-bin, python3")
get_property(slurm_soname GLOBAL PROPERTY DTCTL_LIBSLURM)
if(slurm_soname)
  string(REGEX REPLACE ".*\\." "libslurm" slurm_package "${slurm_soname}")
  string(APPEND CPACK_DEBIAN_DTCTL_PACKAGE_SUGGESTS ", ${slurm_package}, slurm-client")
endif()

set(CPACK_DEBIAN_DTCTL-ENGINE_PACKAGE_NAME dtctl-engine)
set(CPACK_COMPONENT_DTCTL-ENGINE_DESCRIPTION "This is the training engine of dtctl. dtengine trains networks on the ranks of
an MPI job under synchronisation strategies such as synchronous SGD, local SGD
and elastic averaging. dtsim simulates such jobs on machines of thousands of
nodes; dtbench measures computation, messages and input.")
# The job scripts start mpirun.
set(CPACK_DEBIAN_DTCTL-ENGINE_PACKAGE_DEPENDS "dtctl (= ${PROJECT_VERSION}), openmpi-bin")

set(CPACK_DEBIAN_DTCTL-DOC_PACKAGE_NAME dtctl-doc)
set(CPACK_COMPONENT_DTCTL-DOC_DESCRIPTION "This is the documentation of dtctl: the guide, the reference of recipes and of
the results database, and the pages about its design.")
set(CPACK_DEBIAN_DTCTL-DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DTCTL-DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DTCTL-DOC_PACKAGE_SHLIBDEPS OFF)

# Each package has its changelog and its copyright.
set(changelog "${PROJECT_BINARY_DIR}/packaging/changelog")
file(CONFIGURE OUTPUT "${changelog}" @ONLY CONTENT "dtctl (@PROJECT_VERSION@) unstable; urgency=medium

  * What this version can do stands in CHANGELOG.md (package dtctl-doc).

 -- @CPACK_PACKAGE_CONTACT@  Thu, 01 Jan 2026 00:00:00 +0000
")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  dtctl_install_compressed("${changelog}" changelog "${CMAKE_INSTALL_DATADIR}/doc/${component}" ${component})
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/debian/copyright" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${component}" COMPONENT ${component})
endforeach()
include(CPack)
