// When steps may happen, over all ranks: what waits for what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collective.h"

namespace thinwire::collective::testing {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A step of one rank in one window, and the places that it touches there; those of different ranks
// and windows are numbered apart.
struct Happening {
  const Step* step;
  std::uint16_t rank;
  std::uint16_t window;
  std::uint32_t number;  // in its schedule
  std::uint32_t slot = kNone;
  std::uint32_t from = kNone;   // values
  std::uint32_t to = kNone;     // values
  std::uint32_t other = kNone;  // of a message, the happening at the other end
  std::uint32_t added = 0;      // kAddExactly: places from `to` on that are read
};

struct Timeline {
  std::vector<Happening> happenings;
  std::uint32_t slots = 0;
  std::uint32_t values = 0;

  // One that keeps every promise of Step: twice the happening's number where it begins (a message
  // is posted), one more where it is complete.
  std::vector<std::uint32_t> order;

  std::string fault;  // empty if there is an order
};

// The beginnings of a rank's places. Of its values scratch comes first, then the user's blocks,
// input before output, window after window.
struct Places {
  std::uint32_t slots = 0;
  std::uint32_t scratch = 0;
  std::uint32_t user = 0;
  std::uint32_t blocks = 0;

  std::uint32_t input(const Collective& collective, int window, std::uint32_t block) const;
  std::uint32_t output(int window, std::uint32_t block) const;
};

// Places of all ranks, and after them where the last one's end.
std::vector<Places> places_of(const Collective& collective);

Timeline order_of(const Collective& collective);

// As in "rank 3, step 5 (window 0)".
std::string where(const Happening& happening);

}  // namespace thinwire::collective::testing
