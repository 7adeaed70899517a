# Install rules beside those of the programs' own folders, and the Debian package.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/recipes/library/" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl/recipes" FILES_MATCHING PATTERN "*.yaml" PATTERN "profiles/*.json")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/recipes/library/programs" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl/recipes" USE_SOURCE_PERMISSIONS)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/share/dtctl/report" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl" FILES_MATCHING PATTERN "*.py" PATTERN "*.h")
# What `dtctl slurm build` compiles on a site.
foreach(source IN ITEMS jobs/slurm/access/api.hpp jobs/slurm/access/array_tasks.cpp jobs/slurm/access/array_tasks.hpp jobs/slurm/access/module.cpp
                        jobs/slurm/access/site_facts.cpp jobs/slurm/access/site_facts.hpp jobs/slurm/access/watch.cpp jobs/slurm/access/watch.hpp core/number.hpp)
  get_filename_component(folder "${source}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${source}" DESTINATION "${CMAKE_INSTALL_DATADIR}/dtctl/slurm/${folder}")
endforeach()
# Where the package's Python looks for modules, so that programs that report also run outside of dtctl.
install(FILES "${PROJECT_SOURCE_DIR}/share/dtctl/report/dtctl_report.py" "${PROJECT_SOURCE_DIR}/share/dtctl/report/dtctl_sync.py" DESTINATION lib/python3/dist-packages)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/dtctl" DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/ARCHITECTURE.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dtctl)
set(CPACK_PACKAGE_CONTACT "dtctl maintainers <maintainers@dtctl.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What dpkg-shlibdeps cannot see: the job scripts start mpirun.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "openmpi-bin, bash")
# dtctl plot draws with gnuplot; dtctl export to MLflow speaks HTTP through curl. Both verbs say so where the program is missing.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox, curl")
# Slurm's library is loaded when it is used (jobs/slurm/access/load.cpp); the package must not bring it where there is no Slurm.
get_property(slurm_soname GLOBAL PROPERTY DTCTL_LIBSLURM)
if(slurm_soname)
  string(REGEX REPLACE ".*\\." "libslurm" slurm_package "${slurm_soname}")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "${slurm_package}, slurm-client")
endif()
include(CPack)
