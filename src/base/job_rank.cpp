#include "base/job_rank.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace thinwire {
namespace {

std::optional<std::int64_t> number_in(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  const char* const end = text + std::strlen(text);
  std::int64_t number = 0;
  const auto [at, error] = std::from_chars(text, end, number);
  const bool whole = error == std::errc() && at == end && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> job_rank() {
  if (std::getenv("WORLD_SIZE") != nullptr) {
    if (const auto rank = number_in("RANK")) return rank;
  }
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "RANK"}) {
    if (const auto rank = number_in(name)) return rank;
  }
  return std::nullopt;
}

std::optional<std::int64_t> job_size() {
  for (const char* name : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
    if (const auto size = number_in(name)) return size;
  }
  return std::nullopt;
}

bool speaks_for_job() { return job_rank().value_or(0) == 0; }

}  // namespace thinwire
