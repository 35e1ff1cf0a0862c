# For the folders that include it. THINWIRE_HERE_ALONE: what loops over arrays (src/base/vector_units.h) is compiled for the one kind of processor that
# would be chosen on this machine, in a third of the time. The C library's loader says which that is; where it does not,
# all are compiled.
if(NOT THINWIRE_HERE_ALONE OR THINWIRE_SANITIZE OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  return()
endif()
execute_process(COMMAND /lib64/ld-linux-x86-64.so.2 --help OUTPUT_VARIABLE kinds ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  return()
endif()
foreach(kind IN ITEMS x86-64-v4 x86-64-v3)
  if(kinds MATCHES "${kind} \\(supported")
    message(STATUS "Loops over arrays: for ${kind} alone")
    add_compile_options("$<${THINWIRE_HOST_LANGUAGES}:-DTHINWIRE_ONE_VECTOR_UNIT=\"arch=${kind}\">")
    break()
  endif()
endforeach()
