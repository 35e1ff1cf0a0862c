// Which machine this is, and where its table lies.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/bytes.h"
#include "costs/costs.h"

namespace thinwire::costs {
namespace {

// The text after the colon of the first such line of a file; "" if there is none.
std::string field_of(const std::filesystem::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto from = line.find_first_not_of(" \t", colon + 1);
    return from == std::string::npos ? "" : line.substr(from);
  }
  return "";
}

std::string processor() {
  const char* const names[] = {"model name", "Model", "CPU part", "cpu"};
  for (const char* name : names) {
    if (std::string found = field_of("/proc/cpuinfo", name); !found.empty()) return found;
  }
  return "a processor without a name";
}

// As in "2 x NVIDIA H100 80GB HBM3, driver 550.54".
std::string gpus() {
  std::error_code failed;
  std::vector<std::string> models;
  for (const auto& each : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", failed)) {
    models.push_back(field_of(each.path() / "information", "Model"));
  }
  if (models.empty()) return "no GPU";
  std::ranges::sort(models);
  std::string text;
  for (auto at = models.begin(); at != models.end();) {
    const auto end = std::find_if(at, models.end(), [&](auto& other) { return other != *at; });
    text += (text.empty() ? "" : ", ") + std::to_string(end - at) + " x " + *at;
    at = end;
  }
  std::string version = field_of("/proc/driver/nvidia/version", "NVRM version");
  return text + ", driver " + (version.empty() ? "not known" : version);
}

std::string read_machine() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  std::string text = processor() + ", " + std::to_string(online) + " processors, " + gpus();
  for (char& each : text) each = each >= ' ' && each <= '~' ? each : '?';
  return text.substr(0, 400);
}

// The folder of the XDG's rules: an absolute path, else it counts as not set.
std::string cache_folder() {
  const char* const named = std::getenv("XDG_CACHE_HOME");
  if (named != nullptr && *named == '/') return named;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache" : "";
}

}  // namespace

const std::string& machine_text() {
  static const auto* const text = new std::string(read_machine());
  return *text;
}

std::string path_of_machine() {
  const std::string folder = cache_folder();
  if (folder.empty()) return "";
  char number[17];
  std::snprintf(number, sizeof number, "%016llx",
                static_cast<unsigned long long>(hash_of(machine_text())));
  return folder + "/thinwire/costs-" + number;
}

}  // namespace thinwire::costs
