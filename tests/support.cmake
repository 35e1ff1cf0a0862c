# count_as_units(targets...): the target `units` builds them. It is all that sanitizers run.
function(count_as_units)
  set_property(GLOBAL APPEND PROPERTY THINWIRE_UNITS ${ARGN})
endfunction()

# add_core_test(name labels sources...): a googletest over the whole core, test codecs included.
function(add_core_test name labels)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE thinwire_testing GTest::gtest_main)
  count_as_units(${name})
  gtest_discover_tests(${name} PROPERTIES LABELS "${labels}" DISCOVERY_TIMEOUT 60)
endfunction()
