// Settings that THINWIRE_CONFIG's file has, for those that the environment leaves out.
//
// A line is NAME=value, and may have spaces around either; empty lines and those that begin with #
// say nothing. Of two lines about one setting the last one holds. A file has at most 1 MiB.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thinwire {

struct SettingLine {
  std::size_t number;  // counted from 1
  std::string name;
  std::string value;
};

// The lines of such a file's text; kInvalidArgument, with its number, for the first that is none.
Result<std::vector<SettingLine>> parse_setting_lines(std::string_view text);

struct SettingsFile {
  std::string path;  // "" if there is none
  std::vector<SettingLine> lines;
  Status status;  // what is wrong with it as a whole; then there are no lines

  // The value of the last line about that setting; nullptr if there is none or it is empty.
  const char* value_of(std::string_view name) const;
};

// Reads the file at `path`, unless that is null or empty.
SettingsFile read_settings_file(const char* path);

// The file of this process's environment, read at the first call. It neither logs nor asks for a
// setting.
const SettingsFile& settings_file();

}  // namespace thinwire
