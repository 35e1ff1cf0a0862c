#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <ranges>

#include "base/settings.h"
#include "base/text_file.h"

namespace thinwire {
namespace {

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const auto first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// Lines of another kind of text, as those that end in a carriage return alone, are not taken for
// one.
bool is_control(char letter) {
  return (letter >= 0 && letter < ' ' && letter != '\t') || letter == '\x7F';
}

// A path may be one of a pipe that nobody writes to.
Result<std::string> read_regular(const std::string& path) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    return {StatusCode::kInvalidArgument, path + ": it is not a regular file"};
  }
  return read_text_file(path);
}

}  // namespace

Result<std::vector<SettingLine>> parse_setting_lines(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<SettingLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = without_spaces(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    const bool has_controls = std::ranges::any_of(line, is_control);
    if (!has_controls && (line.empty() || line.front() == '#')) continue;
    const auto equals = line.find('=');
    const std::string_view name = without_spaces(line.substr(0, equals));
    const bool is_setting = equals != std::string_view::npos && !name.empty() && !has_controls;
    if (!is_setting) {
      return {StatusCode::kInvalidArgument,
              "line " + std::to_string(number) + " is not NAME=value, empty or a comment"};
    }
    lines.push_back(
        {number, std::string(name), std::string(without_spaces(line.substr(equals + 1)))});
  }
  return lines;
}

const char* SettingsFile::value_of(std::string_view name) const {
  for (const SettingLine& line : std::views::reverse(lines)) {
    if (line.name == name) return line.value.empty() ? nullptr : line.value.c_str();
  }
  return nullptr;
}

SettingsFile read_settings_file(const char* path) {
  SettingsFile file;
  if (path == nullptr || *path == '\0') return file;
  file.path = path;
  const auto text = read_regular(file.path);
  if (!text.ok()) {
    file.status = text.status();
    return file;
  }
  auto lines = parse_setting_lines(*text);
  if (lines.ok()) {
    file.lines = *std::move(lines);
  } else {
    file.status = {StatusCode::kInvalidArgument, file.path + ": " + lines.status().message()};
  }
  return file;
}

const SettingsFile& settings_file() {
  // Never destroyed, as other threads and exit handlers may still ask; and not on the heap, as the
  // first to ask may be a call that must not allocate.
  alignas(SettingsFile) static std::byte place[sizeof(SettingsFile)];
  static const auto* const file =
      new (place) SettingsFile(read_settings_file(std::getenv("THINWIRE_CONFIG")));
  return *file;
}

}  // namespace thinwire
