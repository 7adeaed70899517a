# HDF5::hdf5, the serial library's C interface. CMake's own module asks for a C compiler and for h5cc, which is not needed here.
find_path(HDF5_C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
find_library(HDF5_C_LIBRARY NAMES hdf5_serial hdf5 REQUIRED)
add_library(HDF5::hdf5 UNKNOWN IMPORTED GLOBAL)
set_target_properties(HDF5::hdf5 PROPERTIES IMPORTED_LOCATION "${HDF5_C_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${HDF5_C_INCLUDE_DIR}")
