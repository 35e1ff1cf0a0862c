#include "agree/agree.h"

namespace thinwire::nccl::agree {
namespace {

constexpr unsigned kWhole = 512;
// Above what was measured, as the same class's next data may need a little more: 1/32 of it and a
// step. A smaller reserve spills more often, a larger one is sent for nothing.
constexpr unsigned kReserve = 32;
// A slot of 31/32 of raw saves less than encoding costs on any link.
constexpr unsigned kMostCapacity = kWhole - kWhole / 32;

}  // namespace

Value decide(const Offer& of_all) {
  if (of_all.veto != 0) return {0, of_all.veto};
  const unsigned capacity = of_all.needed + of_all.needed / kReserve + 1;
  if (capacity > kMostCapacity) return {0, kNotSmaller};
  return {static_cast<std::uint16_t>(capacity), 0};
}

}  // namespace thinwire::nccl::agree
