#include "run/gathers.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "base/words.h"

namespace thinwire::nccl {
namespace {

bool from_environment(std::string_view function) {
  // NCCL has read its own files into the environment by the first call.
  const char* const value = std::getenv("NCCL_ALGO");
  return value == nullptr || has_ring(value, function);
}

}  // namespace

bool has_ring(std::string_view nccl_algo, std::string_view function) {
  std::string text(nccl_algo);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  bool found = true;
  // Lists of functions, as in "allreduce:tree;broadcast:ring", or one of all; "^" names what is not
  // to be used.
  for_each_word(text, ';', [&](std::string_view part) {
    const std::size_t colon = part.find(':');
    if (colon != part.npos && part.substr(0, colon) != function) return;
    std::string_view list = colon == part.npos ? part : part.substr(colon + 1);
    const bool excludes = list.starts_with('^');
    if (excludes) list.remove_prefix(1);
    bool names_ring = false;
    for_each_word(list, ',',
                  [&](std::string_view name) { names_ring = names_ring || name == "ring"; });
    if (!list.empty()) found = names_ring != excludes;
  });
  return found;
}

bool gathers() {
  static const bool found = from_environment("allgather");
  return found;
}

bool broadcasts() {
  static const bool found = from_environment("broadcast");
  return found;
}

}  // namespace thinwire::nccl
