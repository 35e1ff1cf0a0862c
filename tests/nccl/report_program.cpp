// Prints the report that the preload library gives while the program runs; "none" without it.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <vector>

#include "ranks.h"
#include "thinwire/thinwire_nccl.h"

namespace {

constexpr std::size_t kCount = 1 << 15;

const char* report_of(decltype(&tw_nccl_report) ask, std::string& text) {
  std::uint64_t bytes = 0;
  char little[1] = {'x'};
  if (ask(nullptr, 0, nullptr) != TW_INVALID_ARGUMENT) return "a null pointer is taken";
  if (ask(nullptr, 1, &bytes) != TW_INVALID_ARGUMENT) return "room at a null pointer is taken";
  if (ask(nullptr, 0, &bytes) != TW_OK || bytes == 0) return "no length";
  text.assign(bytes, 'x');
  if (bytes > 1 && (ask(little, 1, &bytes) != TW_OK || little[0] != 'x')) return "too much written";
  if (ask(text.data(), text.size(), &bytes) != TW_OK || bytes != text.size()) return "no text";
  return text.back() == '\0' ? nullptr : "no end";
}

}  // namespace

int main() {
  void* const found = dlsym(RTLD_DEFAULT, "tw_nccl_report");
  if (found == nullptr) {
    std::puts("none");
    return 0;
  }
  const auto ask = reinterpret_cast<decltype(&tw_nccl_report)>(found);
  std::string before, after;
  const char* error = report_of(ask, before);
  ranks::run(2, [](ranks::Rank& self) {
    std::vector<float> mine(kCount, 1), all(2 * kCount);
    ncclAllGather(mine.data(), all.data(), kCount, ncclFloat32, self.comm, self.stream);
    self.synchronize();
  });
  if (error == nullptr) error = report_of(ask, after);
  std::printf("%zu\n%s", before.size(), error == nullptr ? after.c_str() : error);
  return error == nullptr ? 0 : 1;
}
