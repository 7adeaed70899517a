# Compiles for any x86-64 Linux with glibc 2.31 or newer: against the folder that scripts/packages/sysroot makes, named by DTCTL_SYSROOT.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DTCTL_SYSROOT)
set(CMAKE_SYSROOT "${DTCTL_SYSROOT}")
set(CMAKE_CXX_COMPILER g++-12)
# Headers and libraries of the sysroot only. It holds no shared library of a third party, so what is found is static.
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# First, because the compiler looks into the library folder of this machine beside its own before it looks into the sysroot.
set(libraries "${DTCTL_SYSROOT}/usr/lib/x86_64-linux-gnu")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-B${libraries} -L${libraries}")
endforeach()
