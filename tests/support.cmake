# prepare_units(targets...): googletests compile its header once for all of them. What counts is the
# library's code, and that keeps its optimisation. Under the address sanitizer tests are not optimised: it makes twice
# as much of a test's code as of the library's, and most tests compute little. Those that compute much follow.
set(THINWIRE_UNITS_THAT_COMPUTE schedule_test collective_budget_test comm_test)
set(THINWIRE_UNIT_OPTIONS)
if(NOT THINWIRE_SANITIZE)
  set(THINWIRE_UNIT_OPTIONS -O1)
elseif(THINWIRE_SANITIZE STREQUAL "address,undefined")
  set(THINWIRE_UNIT_OPTIONS -O0)
endif()
add_library(unit_headers OBJECT unit_headers.cpp)
set_target_properties(unit_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(unit_headers PRIVATE -fPIE)
target_link_libraries(unit_headers PRIVATE GTest::gtest_main)
target_precompile_headers(unit_headers PRIVATE
  <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <random> <thread>)
target_compile_options(unit_headers PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${THINWIRE_UNIT_OPTIONS}>)

function(prepare_units)
  count_as_units(${ARGN})
  foreach(target IN LISTS ARGN)
    if(THINWIRE_UNIT_OPTIONS STREQUAL "-O0" AND target IN_LIST THINWIRE_UNITS_THAT_COMPUTE)
      continue()
    endif()
    target_precompile_headers(${target} REUSE_FROM unit_headers)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "[.]c$")
    if(sources)
      set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${THINWIRE_UNIT_OPTIONS}>)
  endforeach()
endfunction()

# add_core_test(name labels sources...): a googletest over the whole core, test codecs included.
function(add_core_test name labels)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE thinwire_testing GTest::gtest_main)
  prepare_units(${name})
  gtest_discover_tests(${name} PROPERTIES LABELS "${labels}" DISCOVERY_TIMEOUT 60)
endfunction()

# add_folder_test(name labels folder): a googletest of all the folder's C++ files, which also find headers of tests/.
function(add_folder_test name labels folder)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.cpp)
  add_core_test(${name} ${labels} ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endfunction()
