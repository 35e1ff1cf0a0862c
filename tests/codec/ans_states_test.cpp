// The groups of ans by vectors beside those by any processor: the same words, states and bytes.
#include "codec/ans/states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "codec/ans/masks.h"

namespace thinwire::codec::ans {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kGroups = 8, kValues = kGroups * kGroupValues;

// Bytes of which `kinds` differ, the first of them the most frequent by far, or by little.
Bytes some_plane(unsigned kinds, double steepness, std::mt19937& random) {
  std::uniform_real_distribution<double> draw(0, 1);
  Bytes plane(kValues);
  for (std::byte& byte : plane) {
    const auto kind = static_cast<unsigned>(kinds * std::pow(draw(random), steepness));
    byte = static_cast<std::byte>(std::min(kind, kinds - 1) * 83);
  }
  return plane;
}

struct Taken {
  States states;
  Bytes words;

  bool operator==(const Taken&) const = default;
};

Taken take(const GroupStepper& stepper, States states, const LinesToTake& lines) {
  Bytes memory(kMostGroupBytes * (kGroups + 1));
  std::byte* const end = memory.data() + memory.size();
  std::byte* next = end;
  for (std::uint32_t group = kGroups; group-- > 0;) {
    next = stepper.take(states, lines, group * kGroupValues, next);
  }
  return {states, Bytes(next, end)};
}

struct Given {
  States states;
  Bytes first, second;
  std::size_t words;  // how many bytes were read

  bool operator==(const Given&) const = default;
};

class AnsStates : public ::testing::Test {
 protected:
  void SetUp() override {
    if (wide_group_stepper() == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  }

  // Two planes, the second of which has bytes only if those of the first are not 0.
  struct Planes {
    Bytes first, second;
    bool is_sparse;
    Model models[2];
  };

  // Calls visit(planes) for planes that are coded.
  template <typename Visit>
  void for_each_pair(Visit&& visit) {
    int coded = 0;
    for (const unsigned kinds : {2u, 3u, 20u, 256u}) {
      for (const double steepness : {1.5, 2.0, 5.0, 20.0}) {
        for (const bool is_sparse : {false, true}) {
          Planes planes{some_plane(kinds, steepness, random_),
                        some_plane(20, steepness, random_),
                        is_sparse,
                        {}};
          const auto is_coded = [](Model& model, const Bytes& plane) {
            return model.take(count(plane), kValues) && model.is_mixed();
          };
          if (!is_coded(planes.models[0], planes.first)) continue;
          if (!is_coded(planes.models[1], planes.second)) continue;
          SCOPED_TRACE(::testing::Message() << kinds << ", " << steepness << ", " << is_sparse);
          visit(planes);
          ++coded;
        }
      }
    }
    EXPECT_GT(coded, 20);
  }

  static Taken taken(const GroupStepper& stepper, const States& states, const Planes& planes) {
    Steps steps[2];
    LinesToTake lines;
    lines.values = kValues;
    lines.mask = planes.first.data();
    for (int at = 0; at < 2; ++at) planes.models[at].make(steps[at]);
    lines.add(planes.first.data(), steps[0], false);
    lines.add(planes.second.data(), steps[1], planes.is_sparse);
    return take(stepper, states, lines);
  }

  static Given given(const GroupStepper& stepper, States states, const Planes& planes,
                     Bytes words) {
    words.resize(words.size() + kMostGroupBytes * kGroups);
    Slots slots[2];
    Given found{states, Bytes(kValues), Bytes(kValues), 0};
    LinesToGive lines;
    lines.values = kValues;
    lines.mask = found.first.data();
    for (int at = 0; at < 2; ++at) planes.models[at].make(slots[at]);
    lines.add(found.first.data(), slots[0], false);
    lines.add(found.second.data(), slots[1], planes.is_sparse);
    const std::byte* next = words.data();
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      next = stepper.give(found.states, lines, group * kGroupValues, next);
    }
    found.words = static_cast<std::size_t>(next - words.data());
    return found;
  }

  States some_states() {
    States states;
    std::uniform_int_distribution<std::uint32_t> draw(kLeastState, kStateEnd - 1);
    for (std::uint32_t& state : states) state = draw(random_);
    return states;
  }

  std::mt19937 random_{2026};
};

TEST_F(AnsStates, VectorsTakeAndGiveWhatNumbersDo) {
  for_each_pair([&](const Planes& planes) {
    States least;
    least.fill(kLeastState);
    for (const States& states : {least, some_states()}) {
      const Taken one = taken(portable_group_stepper(), states, planes);
      ASSERT_EQ(one, taken(*wide_group_stepper(), states, planes));
      const Given back = given(*wide_group_stepper(), one.states, planes, one.words);
      ASSERT_EQ(back.first, planes.first);
      for (std::size_t at = 0; at < kValues; ++at) {
        const bool is_there = !planes.is_sparse || planes.first[at] != std::byte{0};
        ASSERT_EQ(back.second[at], is_there ? planes.second[at] : std::byte{0});
      }
      ASSERT_EQ(back.states, states);
      ASSERT_EQ(back.words, one.words.size());
      ASSERT_EQ(back, given(portable_group_stepper(), one.states, planes, one.words));
    }
  });
}

TEST_F(AnsStates, WordsAndStatesOfNobodyGiveTheSame) {
  for_each_pair([&](const Planes& planes) {
    Bytes words(kMostGroupBytes * kGroups);
    for (std::byte& byte : words) byte = static_cast<std::byte>(random_());
    const States states = some_states();
    EXPECT_EQ(given(portable_group_stepper(), states, planes, words),
              given(*wide_group_stepper(), states, planes, words));
  });
}

// Planes under a mask, whose quads have states, too.
TEST_F(AnsStates, VectorsTakeAndGiveMasksAsNumbersDo) {
  for (const std::uint32_t zeros : {0u, 1u, 3u, 9u}) {
    SCOPED_TRACE(zeros);
    Bytes mask(kValues), quads(kValues / kOfLane), plane = some_plane(20, 2.0, random_);
    for (std::byte& byte : mask) byte = std::byte{random_() % 10 >= zeros};
    make_quads(mask.data(), kValues, quads.data());
    Model quad_model, model;
    ASSERT_TRUE(quad_model.take_mask(count(quads), kValues / kOfLane));
    ASSERT_TRUE(model.take(count(plane), kValues));
    Steps quad_steps, steps;
    Slots quad_slots, slots;
    quad_model.make(quad_steps), model.make(steps);
    quad_model.make(quad_slots), model.make(slots);
    LinesToTake to_take;
    to_take.values = kValues;
    to_take.mask = mask.data(), to_take.quads = quads.data(), to_take.quad_numbers = &quad_steps;
    to_take.add(plane.data(), steps, true);
    const States states = some_states();
    Taken one = take(portable_group_stepper(), states, to_take);
    ASSERT_EQ(one, take(*wide_group_stepper(), states, to_take));
    const std::size_t words = one.words.size();
    one.words.resize(words + kMostGroupBytes);
    for (const GroupStepper* stepper : {&portable_group_stepper(), wide_group_stepper()}) {
      Bytes found(kValues), found_mask(kValues), found_quads(kValues / kOfLane);
      LinesToGive to_give;
      to_give.values = kValues;
      to_give.mask = found_mask.data(), to_give.quads = found_quads.data();
      to_give.quad_numbers = &quad_slots;
      to_give.add(found.data(), slots, true);
      States back = one.states;
      const std::byte* next = one.words.data();
      for (std::uint32_t group = 0; group < kGroups; ++group) {
        next = stepper->give(back, to_give, group * kGroupValues, next);
      }
      ASSERT_EQ(static_cast<std::size_t>(next - one.words.data()), words);
      ASSERT_EQ(back, states);
      ASSERT_EQ(found_mask, mask);
      for (std::size_t at = 0; at < kValues; ++at) {
        ASSERT_EQ(found[at], mask[at] == std::byte{0} ? std::byte{0} : plane[at]);
      }
    }
  }
}

TEST_F(AnsStates, RoomIsKept) {
  for_each_pair([&](const Planes& planes) {
    Steps steps;
    planes.models[0].make(steps);
    LinesToTake lines;
    lines.values = kValues - 5;
    lines.add(planes.first.data(), steps, false);
    Bytes memory(kMostGroupBytes * (kGroups + 1));
    std::byte* const end = memory.data() + memory.size();
    const States states = some_states();
    States last = states;
    const std::byte* const begin = take_piece(last, lines, end, memory.size());
    ASSERT_NE(begin, nullptr);
    const auto needed = static_cast<std::size_t>(end - begin);
    for (const std::size_t less : {std::size_t{0}, std::size_t{2}, needed / 2, needed}) {
      last = states;
      const bool fits = take_piece(last, lines, end, needed - less) != nullptr;
      EXPECT_EQ(fits, less == 0) << less;
    }
  });
}

// Returns the first code of the table of two bytes, one of which is there `times` of `all`.
TEST(AnsModel, FrequenciesAreThoseOfTheFormat) {
  for (const std::uint32_t all : {32768u, 8192u, 8191u, 4096u, 2048u, 1500u, 333u, 64u}) {
    for (std::uint32_t times = 1; times < all / 2; times += 1 + all / 9000) {
      Counts counts{};
      counts[0] = times;
      counts[1] = all - times;
      Model model;
      if (!model.take(counts, all)) continue;
      std::byte table[kMostTableBytes];
      ASSERT_EQ(model.write(table) - table, 5);
      ASSERT_EQ(std::to_integer<std::uint32_t>(table[2]) & 0x3f, code_of(times, all))
          << times << " of " << all;
    }
  }
}

}  // namespace
}  // namespace thinwire::codec::ans
