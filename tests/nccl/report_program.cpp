// Prints the report that the preload library gives while the program runs; "none" without it. With
// "stats", what it has counted.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ranks.h"
#include "thinwire/thinwire.h"
#include "thinwire/thinwire_nccl.h"

namespace {

constexpr std::size_t kCount = 1 << 15;

const char* report_of(decltype(&tw_nccl_report) ask, std::string& text) {
  std::uint64_t bytes = 0;
  char little[1] = {'x'};
  if (ask(nullptr, 0, nullptr) != TW_INVALID_ARGUMENT) return "a null pointer is taken";
  if (ask(nullptr, 1, &bytes) != TW_INVALID_ARGUMENT) return "room at a null pointer is taken";
  if (ask(nullptr, 0, &bytes) != TW_OK || bytes == 0) return "no length";
  if (bytes > 1 && (ask(little, 1, &bytes) != TW_OK || little[0] != 'x')) return "too much written";
  // Its length changes while ranks learn of each other.
  do {
    text.assign(bytes, 'x');
    if (ask(text.data(), text.size(), &bytes) != TW_OK) return "no text";
  } while (bytes > text.size());
  text.resize(bytes);
  return text.back() == '\0' ? nullptr : "no end";
}

void gather() {
  ranks::run(2, [](ranks::Rank& self) {
    std::vector<float> mine(kCount, 1), all(2 * kCount);
    ncclAllGather(mine.data(), all.data(), kCount, ncclFloat32, self.comm, self.stream);
    self.synchronize();
  });
}

int print_stats() {
  using Read = tw_status (*)(tw_stats*, std::uint64_t*, std::uint32_t);
  const auto read = reinterpret_cast<Read>(dlsym(RTLD_DEFAULT, "tw_nccl_preload_stats"));
  if (read == nullptr) return std::puts("none") < 0;
  gather();
  tw_stats stats{};
  stats.size = sizeof stats;
  if (read(&stats, nullptr, 0) != TW_OK) return 1;
  for (const std::uint64_t figure :
       {stats.messages, stats.collectives, stats.native_collectives, stats.collective_bytes}) {
    std::printf("%llu ", static_cast<unsigned long long>(figure));
  }
  return 0;
}

}  // namespace

int main(int count, char**) {
  if (count > 1) return print_stats();
  void* const found = dlsym(RTLD_DEFAULT, "tw_nccl_report");
  if (found == nullptr) {
    std::puts("none");
    return 0;
  }
  const auto ask = reinterpret_cast<decltype(&tw_nccl_report)>(found);
  std::string before, after;
  const char* error = report_of(ask, before);
  gather();
  if (error == nullptr) error = report_of(ask, after);
  std::printf("%zu\n%s", before.size(), error == nullptr ? after.c_str() : error);
  return error == nullptr ? 0 : 1;
}
