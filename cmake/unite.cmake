# thinwire_unite(target [EXCEPT files or folders...]): the compiler reads the C++ files of a folder in one turn, as
# most of the time of a file goes into headers and into what it makes of their templates. So names in a
# namespace without a name are a folder's, not a file's; what shares some is left out here. Every
# file includes what it needs all the same: where CMAKE_DISABLE_PRECOMPILE_HEADERS is on, as in the
# trees of ubsan and tsan, each is compiled alone.
function(thinwire_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 unite "" "" "EXCEPT")
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  if(unite_EXCEPT)
    list(REMOVE_ITEM sources ${unite_EXCEPT})
  endif()
  get_target_property(own ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${own})
    get_filename_component(folder ${source} DIRECTORY)
    get_filename_component(name ${source} NAME)
    if(folder IN_LIST unite_EXCEPT OR name IN_LIST unite_EXCEPT)
      continue()
    endif()
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
