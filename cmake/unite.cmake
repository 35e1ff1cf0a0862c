# thinwire_unite(target [EXCEPT files...]): the compiler reads the C++ files of a folder in one turn, as
# most of the time of a file goes into headers and into what it makes of their templates. So names in a
# namespace without a name are a folder's, not a file's; files that share some are left out here. Every
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
  list(REMOVE_ITEM sources ${unite_EXCEPT})
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} ABSOLUTE)
    get_filename_component(folder ${folder} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
