// The settings, THINWIRE_*, of the environment or of the file that it names: one
// table, by which they are read, shown by `thinwire env` and documented in
// docs/reference/settings.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thinwire {

// Settings that THINWIRE_CONFIG's file has, for those that the environment leaves out.
//
// A line is NAME=value, and may have spaces around either; empty lines and those that begin with #
// say nothing. Of two lines about one setting the last one holds. A file has at most 1 MiB.

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

enum class SettingKind : std::uint8_t {
  kCodec,   // a codec spec; whoever makes the codec judges it
  kSize,    // bytes, as parse_size() takes them
  kRate,    // of a link, as parse_link_rate() takes it
  kSwitch,  // 0 or 1
  kLevel,   // of the log
  kWords,   // one or several of `words`, with commas between them
  kReport,  // 0, 1 or a file's path
  kPath,    // of a file or a folder
  kPolicy,  // a policy's file; whoever reads it judges it
  kOfTools  // read by this project's tools and tests alone: any text
};

const char* kind_text(SettingKind kind);

struct Setting {
  const char* name;
  SettingKind kind;
  const char* fallback;  // what holds if it is not set, in words if it is no value
  const char* meaning;
  const char* words = "";          // of kWords, with spaces between them
  const char* if_wrong = nullptr;  // what holds if it is wrong; null: the fallback
};

// Every name there is. A new setting is one row of settings_table.cpp and one of the docs' table.
std::span<const Setting> all_settings();

// The row of that name, or null.
const Setting* find_setting(std::string_view name);

// The name of the table that `name` may have been meant for, or "".
std::string_view nearest_setting(std::string_view name);

// Whether the row takes that value; says what is wrong with it.
Status check_setting(const Setting& setting, std::string_view value);

// The environment's value of a name of the table, as getenv() has it, else the file's; if it is
// wrong, what the row has for that. Null if it is not set or empty, or wrong without such.
const char* setting_value(const char* name);

// A sentence for each variable of `environment` ("NAME=VALUE") that is a wrong or unknown setting:
// its name, what is wrong, what holds instead. An empty value counts as not set.
std::vector<std::string> judge_settings(std::span<const char* const> environment);

// The same for each line of a file, also for one that a variable leaves without effect: another
// rank's may not. One sentence if the file could not be read.
std::vector<std::string> judge_settings(const SettingsFile& file);

// The first of these sentences about this process's environment and file, as at the first call;
// "" if nothing is wrong. That call logs them all, if this process is its job's first rank.
const std::string& wrong_setting();

}  // namespace thinwire
