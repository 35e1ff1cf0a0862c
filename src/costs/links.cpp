#include "costs/links.h"

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <vector>

namespace thinwire::costs {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> found;
  fs::directory_iterator at(folder, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
    found.push_back(at->path());
  }
  return found;
}

// Megabits per second in `speed`; virtual drivers say -1 there, and veth says 10000 for any link.
double ethernet_rate(const fs::path& interface) {
  std::error_code failed;
  if (!fs::exists(interface / "device", failed)) return 0;
  if (first_line(interface / "operstate") != "up") return 0;
  const double megabits = std::atof(first_line(interface / "speed").c_str());
  return megabits > 0 ? megabits * 1e6 / 8 : 0;
}

// As in "100 Gb/sec (4X EDR)".
double port_rate(const fs::path& port) {
  if (first_line(port / "state").find("ACTIVE") == std::string::npos) return 0;
  const std::string text = first_line(port / "rate");
  const double gigabits = std::atof(text.c_str());
  return gigabits > 0 && text.find("Gb/sec") != std::string::npos ? gigabits * 1e9 / 8 : 0;
}

void take_faster(const fs::path& of, double rate, Interface& best) {
  if (rate > best.bytes_per_second) best = {of.filename().string(), rate};
}

}  // namespace

Interface fastest_interface(const fs::path& system) {
  Interface best;
  for (const fs::path& each : entries_of(system / "class/net")) {
    take_faster(each, ethernet_rate(each), best);
  }
  for (const fs::path& each : entries_of(system / "class/infiniband")) {
    for (const fs::path& port : entries_of(each / "ports")) {
      take_faster(each, port_rate(port), best);
    }
  }
  return best;
}

const Interface& interface_of_machine() {
  static const auto* const found = new Interface(fastest_interface("/sys"));
  return *found;
}

}  // namespace thinwire::costs
