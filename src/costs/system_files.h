// The system's files about network interfaces (/sys), read without trust: rates that are none, or
// beyond anything that is built, are not known.
#pragma once

#include <filesystem>
#include <vector>

namespace thinwire::costs {

struct Entries {
  std::vector<std::filesystem::path> paths;  // in the order of names
  bool are_known = true;                     // false: there is a folder that cannot be read
};
Entries entries_of(const std::filesystem::path& folder);

// Facts of an interface of class/net. Virtual drivers say -1 for a rate, and veth says 10000 for
// any link: they lie on no device. A bond lies on several, which have no addresses of their own.
bool is_up(const std::filesystem::path& interface);
bool is_on_device(const std::filesystem::path& interface);
bool is_bond(const std::filesystem::path& interface);
bool is_in_bond(const std::filesystem::path& interface);
double ethernet_rate(const std::filesystem::path& interface);  // in bytes per second; 0: not known

// Facts of a port of class/infiniband.
bool is_active_port(const std::filesystem::path& port);
double port_rate(const std::filesystem::path& port);

// /sys, or what tests have in its place (THINWIRE_TEST_SYSTEM).
std::filesystem::path system_folder();

}  // namespace thinwire::costs
