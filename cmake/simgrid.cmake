# SimGrid::simgrid, when it is installed: the simulator with its own mpi.h. Nothing may link it together with Open MPI.
find_path(SIMGRID_INCLUDE_DIR simgrid/s4u.hpp)
find_path(SMPI_INCLUDE_DIR mpi.h PATHS "${SIMGRID_INCLUDE_DIR}/smpi" NO_DEFAULT_PATH)
find_library(SIMGRID_LIBRARY simgrid)
if(SIMGRID_INCLUDE_DIR AND SMPI_INCLUDE_DIR AND SIMGRID_LIBRARY)
  add_library(SimGrid::simgrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::simgrid PROPERTIES IMPORTED_LOCATION "${SIMGRID_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${SMPI_INCLUDE_DIR}")
else()
  message(STATUS "SimGrid is not installed: dtsim will not be built")
endif()
