# The names that each preload library exports. One set of objects is linked once for each group of MPIs of its
# handle ABI that have the same calls: a program must find the names that its MPI has and no others.
#
#   THINWIRE_MPI_<abi>_SHIMS    the libraries of an ABI, by the MPI that first had their calls
#   THINWIRE_MPI_<shim>_GROUPS  the groups of native/later_names.inc that one exports besides MPI 3.1
set(THINWIRE_MPI_openmpi_SHIMS openmpi4 openmpi5)
set(THINWIRE_MPI_openmpi4_GROUPS)
set(THINWIRE_MPI_openmpi5_GROUPS kVersion4)

# MPICH 3 stands for all that have no more than MPI 3.1, MPICH 5 for MPICH 4.2 and later.
set(THINWIRE_MPI_mpich_SHIMS mpich3 mpich4 mpich5)
set(THINWIRE_MPI_mpich3_GROUPS)
set(THINWIRE_MPI_mpich4_GROUPS kVersion4 kLargeCounts)
set(THINWIRE_MPI_mpich5_GROUPS kVersion4 kVersion41 kLargeCounts)

set(THINWIRE_MPI_abi_SHIMS abi)
set(THINWIRE_MPI_abi_GROUPS kVersion4 kVersion41 kLargeCounts)

# Calls that are no part of MPI's standard.
set(after_failures)
foreach(name IN ITEMS Comm_revoke Comm_shrink)
  string(APPEND after_failures "    MPIX_${name};\n    PMPIX_${name};\n")
endforeach()
set(THINWIRE_MPI_openmpi5_MORE ${after_failures})
set(THINWIRE_MPI_mpich3_MORE ${after_failures})
set(THINWIRE_MPI_mpich4_MORE ${after_failures})
set(THINWIRE_MPI_mpich5_MORE ${after_failures})

# Writes the version script of a library to `path`. A name in full goes before a pattern there.
function(write_exports shim path)
  set(table ${CMAKE_CURRENT_SOURCE_DIR}/native/later_names.inc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^LATER_NAME")
  set(hidden)
  set(more "${THINWIRE_MPI_${shim}_MORE}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^LATER_NAME\\((.*), (.*)\\)$" matched "${line}")
    if(NOT matched)
      message(FATAL_ERROR "${table}: ${line}")
    endif()
    if(NOT CMAKE_MATCH_1 IN_LIST THINWIRE_MPI_${shim}_GROUPS)
      string(APPEND hidden "    MPI_${CMAKE_MATCH_2};\n    PMPI_${CMAKE_MATCH_2};\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${path} @ONLY CONTENT
       "{\n  global:\n    MPI_*;\n    PMPI_*;\n@more@    PMIx_Init;\n    dlopen;\n    dlsym;\n    tw_mpi_transport;\n    tw_preload_stats;\n    tw_preload_stats_kinds;\n  local:\n@hidden@    *;\n};\n")
endfunction()
