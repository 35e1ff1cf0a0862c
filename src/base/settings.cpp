#include "base/settings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/job_rank.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/words.h"

namespace thinwire {
namespace {

constexpr std::string_view kPrefix = "THINWIRE_";
// The prefix of variables of the project's own tests.
constexpr std::string_view kTestPrefix = "THINWIRE_TEST_";
constexpr std::string_view kOfFile = "THINWIRE_CONFIG";

Status wrong(std::string_view value, const std::string& what) {
  constexpr std::size_t kLongest = 80;
  return {StatusCode::kInvalidArgument,
          "'" + std::string(value.substr(0, kLongest)) + "' is " + what};
}

Status check_words(const Setting& setting, std::string_view value) {
  Status status;
  for_each_word(value, ',', [&](std::string_view word) {
    bool known = false;
    for_each_word(setting.words, ' ', [&](std::string_view each) { known |= each == word; });
    if (!known && status.ok()) status = wrong(word, "none of " + std::string(setting.words));
  });
  return status;
}

// Letters to insert, leave out, replace or swap with their neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before, last, row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const bool same = from[i - 1] == to[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string holds(const Setting& setting) {
  const char* value = setting_value(setting.name);
  return std::string(value == nullptr ? setting.fallback : value) + " holds";
}

std::string judge(std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 80;
  const std::string subject = std::string(name.substr(0, kLongest)) + ": ";
  const std::string outcome = "; no lossy codec is used";
  if (const Setting* setting = find_setting(name)) {
    const Status status = check_setting(*setting, value);
    if (status.ok()) return "";
    const char* instead = setting->if_wrong != nullptr ? setting->if_wrong : setting->fallback;
    return subject + status.message() + "; " + instead + " holds" + outcome;
  }
  const std::string_view nearest = nearest_setting(name);
  if (nearest.empty()) return subject + "no setting has this name; it is ignored" + outcome;
  return subject + "no setting has this name, the nearest is " + std::string(nearest) + ", where " +
         holds(*find_setting(nearest)) + outcome;
}

std::string judge_environment() {
  std::vector<const char*> environment;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) environment.push_back(*at);
  auto sentences = judge_settings(environment);
  for (std::string& each : judge_settings(settings_file())) sentences.push_back(std::move(each));
  const LogLevel level = speaks_for_job() ? LogLevel::kError : LogLevel::kDebug;
  for (const std::string& sentence : sentences) log(level, sentence);
  return sentences.empty() ? "" : sentences.front();
}

}  // namespace

std::string_view nearest_setting(std::string_view name) {
  constexpr std::size_t kMost = 3, kLongest = 64;
  if (name.size() > kLongest) return "";
  name.remove_prefix(std::min(kPrefix.size(), name.size()));
  std::string_view nearest;
  std::size_t least = kMost + 1;
  for (const Setting& setting : all_settings()) {
    const std::string_view known = std::string_view(setting.name).substr(kPrefix.size());
    const bool longer = name.starts_with(known);
    const bool shorter = name.size() >= kMost && known.starts_with(name);
    const std::size_t apart = longer || shorter ? 2 : distance(name, known);
    if (apart >= least || (apart > 2 && 2 * apart > known.size())) continue;
    least = apart;
    nearest = setting.name;
  }
  return nearest;
}

Status check_setting(const Setting& setting, std::string_view value) {
  switch (setting.kind) {
    case SettingKind::kSize:
      return parse_size(value).status();
    case SettingKind::kRate:
      return parse_link_rate(value).status();
    case SettingKind::kSwitch:
      return value == "0" || value == "1" ? Status() : wrong(value, "neither 0 nor 1");
    case SettingKind::kLevel:
      return parse_log_level(value).status();
    case SettingKind::kWords:
      return check_words(setting, value);
    default:
      return {};
  }
}

const char* setting_value(const char* name) {
  const Setting* setting = find_setting(name);
  if (setting == nullptr) return nullptr;
  const char* text = std::getenv(name);
  if (text != nullptr && *text == '\0') text = nullptr;
  if (text == nullptr && name != kOfFile) text = settings_file().value_of(name);
  if (text == nullptr) return nullptr;
  return check_setting(*setting, text).ok() ? text : setting->if_wrong;
}

std::vector<std::string> judge_settings(std::span<const char* const> environment) {
  std::vector<std::string> sentences;
  for (const std::string_view variable : environment) {
    const auto equals = variable.find('=');
    const std::string_view name = variable.substr(0, equals);
    const bool has_value = equals != std::string_view::npos && equals + 1 < variable.size();
    if (!name.starts_with(kPrefix) || name.starts_with(kTestPrefix) || !has_value) continue;
    std::string sentence = judge(name, variable.substr(equals + 1));
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  std::ranges::sort(sentences);
  return sentences;
}

std::vector<std::string> judge_settings(const SettingsFile& file) {
  constexpr std::size_t kMost = 10;
  std::vector<std::string> sentences;
  if (!file.status.ok()) {
    sentences.push_back("THINWIRE_CONFIG: " + file.status.message() +
                        "; the environment's settings hold; no lossy codec is used");
  }
  for (const SettingLine& line : file.lines) {
    std::string sentence = line.value.empty() ? "" : judge(line.name, line.value);
    if (line.name == kOfFile) sentence = line.name + ": only the environment names the file";
    if (sentence.empty()) continue;
    sentences.push_back(file.path + ": line " + std::to_string(line.number) + ": " + sentence);
    if (sentences.size() < kMost) continue;
    sentences.push_back(file.path + ": what comes after that line is not looked at");
    break;
  }
  return sentences;
}

const std::string& wrong_setting() {
  // Never destroyed: other threads and exit handlers may still ask.
  static const auto* const first = new std::string(judge_environment());
  return *first;
}

}  // namespace thinwire
