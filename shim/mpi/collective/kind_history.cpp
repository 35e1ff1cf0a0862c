#include "shim/mpi/collective/kind_history.h"

#include <mutex>
#include <string_view>

#include "base/bytes.h"
#include "base/mix.h"

namespace thinwire::mpi {
namespace {

// Groups of ranks; a program has some. Those that come later are not remembered.
constexpr std::size_t kMostGroups = 64;

std::mutex g_mutex;  // guards what is remembered
std::map<std::vector<int>, CallKinds>& groups() {
  static auto* const of_process = new std::map<std::vector<int>, CallKinds>;
  return *of_process;
}

}  // namespace

void remember_kinds(const std::vector<int>& world_ranks, const CallKinds& kinds) {
  if (kinds.empty()) return;
  const std::lock_guard lock(g_mutex);
  if (groups().size() < kMostGroups || groups().contains(world_ranks)) {
    groups()[world_ranks] = kinds;
  }
}

CallKinds remembered_kinds(const std::vector<int>& world_ranks) {
  const std::lock_guard lock(g_mutex);
  const auto found = groups().find(world_ranks);
  return found == groups().end() ? CallKinds{} : found->second;
}

// A sum, as ranks may have the kinds in different orders: a codec is a pointer of each's own.
std::uint64_t fingerprint(const CallKinds& kinds) {
  std::uint64_t sum = 0;
  for (const auto& [of, each] : kinds) {
    const std::string_view codec = of.codec == nullptr ? "" : tw_codec_spec(of.codec);
    sum += mix_of(hash_of(codec), of.operation, of.dtype, of.size_bits, each.fingerprint());
  }
  return sum;
}

}  // namespace thinwire::mpi
