#include "costs/system_files.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace thinwire::costs {
namespace {

namespace fs = std::filesystem;

// No interface sends 100 Tbit/s.
constexpr double kMostBits = 1e14;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.substr(0, 256);
}

// The number at the beginning of a line, with `unit` after it, as bytes per second.
double rate_of(std::string_view line, double bits, std::string_view unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) return 0;
  const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
  if (!rest.starts_with(unit) || (unit.empty() && !rest.empty())) return 0;
  const double rate = number * bits;
  return rate > 0 && rate <= kMostBits ? rate / 8 : 0;
}

bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

}  // namespace

Entries entries_of(const fs::path& folder) {
  Entries found;
  std::error_code failed;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
    found.paths.push_back(at->path());
  }
  found.are_known = !failed || failed == std::errc::no_such_file_or_directory;
  std::ranges::sort(found.paths);
  return found;
}

bool is_up(const fs::path& interface) { return first_line(interface / "operstate") == "up"; }

bool is_on_device(const fs::path& interface) { return is_there(interface / "device"); }

bool is_bond(const fs::path& interface) { return is_there(interface / "bonding"); }

bool is_in_bond(const fs::path& interface) { return is_there(interface / "master" / "bonding"); }

// As in "25000".
double ethernet_rate(const fs::path& interface) {
  return rate_of(first_line(interface / "speed"), 1e6, "");
}

bool is_active_port(const fs::path& port) {
  return first_line(port / "state").find("ACTIVE") != std::string::npos;
}

// As in "100 Gb/sec (4X EDR)".
double port_rate(const fs::path& port) {
  return rate_of(first_line(port / "rate"), 1e9, " Gb/sec");
}

fs::path system_folder() {
  const char* const named = std::getenv("THINWIRE_TEST_SYSTEM");
  return named == nullptr || *named == '\0' ? "/sys" : named;
}

}  // namespace thinwire::costs
