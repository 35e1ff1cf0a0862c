# prepare_units(targets...): googletests compile its header once for all of them. What counts is the
# library's code, and that keeps its optimisation; a sanitizer's tree says what it wants.
add_library(unit_headers OBJECT unit_headers.cpp)
set_target_properties(unit_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(unit_headers PRIVATE -fPIE)
target_link_libraries(unit_headers PRIVATE GTest::gtest_main)
target_precompile_headers(unit_headers PRIVATE
  <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <random> <thread>)
if(NOT THINWIRE_SANITIZE)
  target_compile_options(unit_headers PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
endif()

function(prepare_units)
  count_as_units(${ARGN})
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM unit_headers)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]c$")
    if(sources)
      set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
    if(NOT THINWIRE_SANITIZE)
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
    endif()
  endforeach()
endfunction()

# add_core_test(name labels sources...): a googletest over the whole core, test codecs included.
function(add_core_test name labels)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE thinwire_testing GTest::gtest_main)
  prepare_units(${name})
  gtest_discover_tests(${name} PROPERTIES LABELS "${labels}" DISCOVERY_TIMEOUT 60)
endfunction()
