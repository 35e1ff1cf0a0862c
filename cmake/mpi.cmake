# The MPIs at hand. Sets
#   THINWIRE_MPI_ABIS              the handle ABIs whose header is there: openmpi, mpich, abi
#   THINWIRE_MPI_<abi>_INCLUDE_DIR that header's folder
#   THINWIRE_SYSTEM_MPI_ABI        the handle ABI of MPI::MPI_C
#   THINWIRE_OTHER_MPIS            MPIs that test programs are built for besides MPI::MPI_C
#   THINWIRE_MPI_<name>_ABI, _INCLUDE, _LIBRARY of each
# The headers come from THINWIRE_MPIS, a list of prefixes as tools/setup_mpis prints them, and from
# Debian's packages. The preload libraries are built from headers alone: they link no MPI.
set(THINWIRE_MPIS "$ENV{THINWIRE_MPIS}" CACHE STRING "Prefixes of MPIs besides the system's")
string(REPLACE ":" ";" THINWIRE_MPI_PREFIXES "${THINWIRE_MPIS}")

# Sets `found` where `folder` has `header` and that belongs to the ABI.
function(header_of_abi folder abi found)
  set(${found} OFF PARENT_SCOPE)
  if(abi STREQUAL "abi")
    set(header mpi_abi.h)
    set(mark "MPI_ABI_VERSION")
  else()
    set(header mpi.h)
    set(mark "define OPEN_MPI |define OMPI_MAJOR_VERSION")
    if(abi STREQUAL "mpich")
      set(mark "define MPICH_NUMVERSION|define MPICH_NAME")
    endif()
  endif()
  if(EXISTS ${folder}/${header})
    file(STRINGS ${folder}/${header} lines REGEX "${mark}")
    if(lines)
      set(${found} ON PARENT_SCOPE)
    endif()
  endif()
endfunction()

set(folders)
foreach(prefix IN LISTS THINWIRE_MPI_PREFIXES)
  list(APPEND folders ${prefix}/include)
endforeach()
set(triple /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
list(PREPEND folders ${triple}/openmpi/include)
list(APPEND folders /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich ${MPI_C_INCLUDE_DIRS})

set(THINWIRE_MPI_ABIS)
foreach(abi IN ITEMS openmpi mpich abi)
  foreach(folder IN LISTS folders)
    header_of_abi(${folder} ${abi} there)
    if(there)
      list(APPEND THINWIRE_MPI_ABIS ${abi})
      set(THINWIRE_MPI_${abi}_INCLUDE_DIR ${folder})
      break()
    endif()
  endforeach()
endforeach()
message(STATUS "MPI handle ABIs: ${THINWIRE_MPI_ABIS}")

set(THINWIRE_SYSTEM_MPI_ABI)
foreach(folder IN LISTS MPI_C_INCLUDE_DIRS)
  foreach(abi IN ITEMS openmpi mpich)
    header_of_abi(${folder} ${abi} there)
    if(there)
      set(THINWIRE_SYSTEM_MPI_ABI ${abi})
    endif()
  endforeach()
endforeach()

# An MPI under a name that the tests know it by (tests/shim/mpis.py).
macro(add_other_mpi name abi include library)
  header_of_abi(${include} ${abi} there)
  if(there AND EXISTS ${library})
    list(APPEND THINWIRE_OTHER_MPIS ${name})
    set(THINWIRE_MPI_${name}_ABI ${abi})
    set(THINWIRE_MPI_${name}_INCLUDE ${include})
    set(THINWIRE_MPI_${name}_LIBRARY ${library})
  endif()
endmacro()

set(THINWIRE_OTHER_MPIS)
add_other_mpi(mpich mpich /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich ${triple}/libmpich.so)
foreach(prefix IN LISTS THINWIRE_MPI_PREFIXES)
  get_filename_component(name ${prefix} NAME)
  add_other_mpi(${name} openmpi ${prefix}/include ${prefix}/lib/libmpi.so)
  add_other_mpi(${name} mpich ${prefix}/include ${prefix}/lib/libmpi.so)
  add_other_mpi(${name}-abi abi ${prefix}/include ${prefix}/lib/libmpi_abi.so)
endforeach()
message(STATUS "MPIs for tests: ${MPI_C_LIBRARIES};${THINWIRE_OTHER_MPIS}")
