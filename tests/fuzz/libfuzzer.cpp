// The targets under libFuzzer: fuzz --target=<name>, then libFuzzer's own options. It ignores
// options that begin with two dashes.
#include <cstdint>

#include "fuzz/target.h"

using namespace thinwire;
using namespace thinwire::fuzz;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

const Target* g_target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--target=";
  for (int at = 1; at < *argc; ++at) {
    const std::string_view argument = (*argv)[at];
    if (argument.starts_with(kOption)) g_target = find_target(argument.substr(kOption.size()));
  }
  if (g_target != nullptr) return 0;
  std::fprintf(stderr, "fuzz: --target=<name>, one of\n");
  for (const Target& target : all_targets()) std::fprintf(stderr, "  %s\n", target.name.c_str());
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  g_target->run(*g_target, std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const std::size_t length = LLVMFuzzerMutate(data, size, max_size);
  if (g_target->mend == nullptr) return length;
  return g_target->mend(*g_target, std::as_writable_bytes(std::span(data, max_size)), length, seed);
}
