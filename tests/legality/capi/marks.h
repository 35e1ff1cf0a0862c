// The faults and features of the seed in hand; any thread may report them.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>

namespace legality {

enum class Feature {
#define FEATURE(name) name##_,
#include "features.inc"
#undef FEATURE
  kCount
};
constexpr std::size_t kFeatures = static_cast<std::size_t>(Feature::kCount);

const char* name_of(Feature feature);
void mark(Feature feature);
std::bitset<kFeatures> take_marks();

void begin_seed(std::uint64_t seed);
void complain(const std::string& what);
int complaints();  // in all

}  // namespace legality
