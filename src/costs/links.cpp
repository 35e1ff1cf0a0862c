#include "costs/links.h"

#include "costs/system_files.h"

namespace thinwire::costs {
namespace {

namespace fs = std::filesystem;

void take_faster(const fs::path& of, double rate, Interface& best) {
  if (rate > best.bytes_per_second) best = {of.filename().string(), rate};
}

}  // namespace

Interface fastest_interface(const fs::path& system) {
  Interface best;
  for (const fs::path& each : entries_of(system / "class/net").paths) {
    if (is_up(each) && is_on_device(each)) take_faster(each, ethernet_rate(each), best);
  }
  for (const fs::path& each : entries_of(system / "class/infiniband").paths) {
    for (const fs::path& port : entries_of(each / "ports").paths) {
      if (is_active_port(port)) take_faster(each, port_rate(port), best);
    }
  }
  return best;
}

const Interface& interface_of_machine() {
  static const auto* const found = new Interface(fastest_interface(system_folder()));
  return *found;
}

}  // namespace thinwire::costs
