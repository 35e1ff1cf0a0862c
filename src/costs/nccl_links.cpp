#include "costs/nccl_links.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

#include "costs/system_files.h"

namespace thinwire::costs {
namespace {

namespace fs = std::filesystem;

// A list as NCCL_IB_HCA and NCCL_SOCKET_IFNAME are: beginnings of names, with "=" before them whole
// names, with "^" those that are not to be used. Of ports a name may end in ":1".
class Names {
 public:
  explicit Names(std::string text) {
    if (text.starts_with('^')) {
      excludes_ = true;
      text.erase(0, 1);
    }
    if (text.starts_with('=')) {
      whole_ = true;
      text.erase(0, 1);
    }
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
      if (!word.empty()) words_.push_back(word);
    }
  }

  bool are_none() const { return words_.empty(); }
  bool admit(const std::string& name, const std::string& port = "") const {
    if (are_none()) return true;
    const bool has = std::ranges::any_of(words_, [&](const std::string& word) {
      const auto colon = port.empty() ? std::string::npos : word.find(':');
      const std::string wanted = word.substr(0, colon);
      if (colon != std::string::npos && word.substr(colon + 1) != port) return false;
      return whole_ ? name == wanted : name.starts_with(wanted);
    });
    return has != excludes_;
  }

 private:
  std::vector<std::string> words_;
  bool excludes_ = false, whole_ = false;
};

// Interfaces that are used, of which one whose rate is not known hides all.
struct Tally {
  NcclLinks links;
  int used = 0;
  bool is_known = true;

  void add(double rate) {
    ++used;
    is_known = is_known && rate > 0;
    links.fastest = std::max(links.fastest, rate);
    links.together += rate;
  }
  NcclLinks known() const { return is_known ? links : NcclLinks{}; }
};

Tally ports(const fs::path& system, const std::string& hca) {
  const Names names(hca);
  Tally tally;
  const Entries adapters = entries_of(system / "class/infiniband");
  tally.is_known = adapters.are_known;
  for (const fs::path& each : adapters.paths) {
    const Entries of_it = entries_of(each / "ports");
    tally.is_known = tally.is_known && of_it.are_known;
    for (const fs::path& port : of_it.paths) {
      const bool is_used = names.admit(each.filename(), port.filename()) && is_active_port(port);
      if (is_used) tally.add(port_rate(port));
    }
  }
  return tally;
}

Tally interfaces(const fs::path& system, const std::string& named) {
  const Names names(named);
  Tally tally;
  const Entries all = entries_of(system / "class/net");
  tally.is_known = all.are_known;
  const auto is_of_ports = [](const fs::path& path) {
    return path.filename().string().starts_with("ib");
  };
  // NCCL takes those of InfiniBand alone, if there are any and none are named.
  const bool has_ports = names.are_none() && std::ranges::any_of(all.paths, [&](const auto& path) {
                           return is_of_ports(path) && is_up(path);
                         });
  for (const fs::path& each : all.paths) {
    const bool has_rate = is_bond(each) || (is_on_device(each) && !is_in_bond(each));
    const bool is_used = names.admit(each.filename()) && is_up(each) && has_rate &&
                         (!has_ports || is_of_ports(each));
    if (is_used) tally.add(ethernet_rate(each));
  }
  return tally;
}

bool is(const std::string& net, std::string_view name) {
  return std::ranges::equal(net, name, [](unsigned char one, unsigned char other) {
    return std::tolower(one) == std::tolower(other);
  });
}

// The devices among the driver's entries have names as in 0000:1b:00.0.
int gpus_of(const fs::path& system) {
  return static_cast<int>(std::ranges::count_if(
      entries_of(system / "bus/pci/drivers/nvidia").paths, [](const fs::path& each) {
        return each.filename().string().find(':') != std::string::npos;
      }));
}

}  // namespace

NcclNetwork nccl_network_of_environment() {
  const auto text = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return {text("NCCL_NET"), text("NCCL_IB_HCA"), text("NCCL_SOCKET_IFNAME"),
          std::atoi(text("NCCL_IB_DISABLE").c_str()) == 0};
}

NcclLinks nccl_links(const fs::path& system, const NcclNetwork& network) {
  const bool is_socket = is(network.net, "Socket");
  if (!is_socket && !network.net.empty() && !is(network.net, "IB")) return {};
  NcclLinks found;
  const Tally of_ports = network.has_ports && !is_socket ? ports(system, network.hca) : Tally{};
  if (of_ports.used > 0 || !of_ports.is_known) {
    found = of_ports.known();
  } else {
    found = interfaces(system, network.interfaces).known();
  }
  found.gpus = gpus_of(system);
  return found;
}

double most_of_node(const NcclLinks& links, int ranks) {
  const int asked = std::max(ranks, 1);
  if (links.gpus <= 0) return std::min(links.together, links.fastest * asked);
  const double share = links.together / links.gpus;
  if (asked > links.gpus) return share * asked;
  return std::min(links.together, std::max(links.fastest, share) * asked);
}

const NcclLinks& nccl_links_of_machine() {
  static const auto* const found =
      new NcclLinks(nccl_links(system_folder(), nccl_network_of_environment()));
  return *found;
}

}  // namespace thinwire::costs
