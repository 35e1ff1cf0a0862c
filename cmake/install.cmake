# Files that `cmake --install` puts under its prefix, in two components: `runtime` has the libraries
# alone, `development` what one needs to compile against them. The component `wheel` belongs to the
# Python package and is installed only where it is named.
include(CMakePackageConfigHelpers)

install(TARGETS thinwire EXPORT thinwireTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET thinwire_kernels)
  install(TARGETS thinwire_kernels LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endif()
get_property(preloads GLOBAL PROPERTY THINWIRE_PRELOADS)
set(THINWIRE_PRELOAD_LIBRARIES)
foreach(preload IN LISTS preloads)
  install(TARGETS ${preload} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
  get_target_property(name ${preload} OUTPUT_NAME)
  list(APPEND THINWIRE_PRELOAD_LIBRARIES lib${name}.so)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/thinwire
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/thinwire)
install(EXPORT thinwireTargets NAMESPACE thinwire:: DESTINATION ${package_dir}
  COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/thinwireConfig.cmake.in
  ${PROJECT_BINARY_DIR}/thinwireConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR)
# The ABI may change with the minor version until there is a version 1.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/thinwireConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/thinwireConfig.cmake
              ${PROJECT_BINARY_DIR}/thinwireConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The prefix follows from where the file lies, so that an installation can be moved.
file(RELATIVE_PATH THINWIRE_PREFIX_FROM_PC
  ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" THINWIRE_PREFIX_FROM_PC "${THINWIRE_PREFIX_FROM_PC}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/thinwire.pc.in ${PROJECT_BINARY_DIR}/thinwire.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/thinwire.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
