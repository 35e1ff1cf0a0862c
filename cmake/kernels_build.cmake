# Writes a header with the name of a build: a hash of the library's sources and of what compiles
# them. The kernels' library and those that open it have to agree on it.
# cmake -DROOT=... -DWITH=... -DOUTPUT=... -P kernels_build.cmake
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/* ${ROOT}/include/*)
list(SORT files)
set(all "${WITH}")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "\n${file} ${hash}")
endforeach()
string(SHA256 hash "${all}")
set(text "#pragma once\n#define THINWIRE_KERNELS_BUILD \"${hash}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
