// The steps of ans by vectors beside those by any processor: the same words, states and bytes, and
// the same refusals.
#include "codec/ans/states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace thinwire::codec::ans {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kSizes[] = {32, 33, 63, 64, 95, 500, 1000, 2048, 4095, 8192};

// Bytes of which `kinds` differ, the first of them the most frequent by far, or by little.
Bytes some_plane(std::size_t size, unsigned kinds, double steepness, std::mt19937& random) {
  std::uniform_real_distribution<double> draw(0, 1);
  Bytes plane(size);
  for (std::byte& byte : plane) {
    const auto kind = static_cast<unsigned>(kinds * std::pow(draw(random), steepness));
    byte = static_cast<std::byte>(std::min(kind, kinds - 1) * 83);
  }
  return plane;
}

struct Taken {
  States states;
  Bytes words;  // after as many bytes as the states of a payload have
  bool fits = false;
};

Taken take(const Stepper& stepper, States states, ByteView plane, const Steps& steps,
           std::size_t room) {
  Bytes out(room + kBehindWords);
  const std::byte* const end = stepper.take_plane(states, plane, steps, out.data(), &out[room]);
  if (end == nullptr) return {};
  Taken taken{states, Bytes(kStateBytes), true};
  taken.words.insert(taken.words.end(), out.data(), out.data() + (end - out.data()));
  return taken;
}

struct GivenBack {
  States states{};
  Bytes plane;
  std::size_t left = 0;
  bool is_enough = false;

  bool operator==(const GivenBack&) const = default;
};

// Bytes that are left if words run out are nobody's business.
GivenBack give_back(const Stepper& stepper, States states, const Bytes& words, std::size_t size,
                    const Slots& slots) {
  const Bytes exact(words);
  GivenBack given{states, Bytes(size)};
  ByteView left = ByteView(exact).subspan(kStateBytes);
  if (!stepper.give_back_plane(given.states, given.plane, slots, left)) return {};
  given.left = left.size();
  given.is_enough = true;
  return given;
}

class AnsStates : public ::testing::Test {
 protected:
  void SetUp() override {
    if (wide_stepper() == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  }

  // Calls visit(plane, model) for planes that are coded.
  template <typename Visit>
  void for_each_plane(Visit&& visit) {
    int coded = 0;
    for (const std::size_t size : kSizes) {
      for (const unsigned kinds : {2u, 3u, 20u, 256u}) {
        for (const double steepness : {1.0, 2.0, 5.0, 20.0}) {
          const Bytes plane = some_plane(size, kinds, steepness, random_);
          Model model;
          if (!model.take(plane) || !model.is_mixed()) continue;
          SCOPED_TRACE(::testing::Message() << size << " bytes of " << kinds << ", " << steepness);
          visit(plane, model);
          ++coded;
        }
      }
    }
    EXPECT_GT(coded, 60);
  }

  States some_states() {
    States states;
    std::uniform_int_distribution<std::uint32_t> draw(kLeastState, kStateEnd - 1);
    for (std::uint32_t& state : states) state = draw(random_);
    return states;
  }

  std::mt19937 random_{2026};
};

TEST_F(AnsStates, VectorsTakeAndGiveBackWhatNumbersDo) {
  for_each_plane([&](const Bytes& plane, const Model& model) {
    Steps steps;
    Slots slots;
    model.make(steps);
    model.make(slots);
    States least;
    least.fill(kLeastState);
    for (const States& states : {least, some_states()}) {
      const Taken one = take(portable_stepper(), states, plane, steps, 3 * plane.size());
      const Taken other = take(*wide_stepper(), states, plane, steps, 3 * plane.size());
      ASSERT_TRUE(one.fits);
      ASSERT_EQ(one.states, other.states);
      ASSERT_EQ(one.words, other.words);
      const GivenBack given =
          give_back(*wide_stepper(), one.states, one.words, plane.size(), slots);
      ASSERT_TRUE(given.is_enough);
      ASSERT_EQ(given.plane, plane);
      ASSERT_EQ(given.states, states);
      ASSERT_EQ(given.left, 0u);
      ASSERT_EQ(given, give_back(portable_stepper(), one.states, one.words, plane.size(), slots));
    }
  });
}

TEST_F(AnsStates, RoomIsTheSame) {
  for_each_plane([&](const Bytes& plane, const Model& model) {
    Steps steps;
    model.make(steps);
    const States states = some_states();
    const Taken whole = take(portable_stepper(), states, plane, steps, 3 * plane.size());
    const std::size_t needed = whole.words.size() - kStateBytes;
    for (const std::size_t less : {std::size_t{0}, std::size_t{2}, needed / 2, needed}) {
      const std::size_t room = needed - less;
      const bool fits = take(portable_stepper(), states, plane, steps, room).fits;
      EXPECT_EQ(fits, less == 0) << less;
      EXPECT_EQ(take(*wide_stepper(), states, plane, steps, room).fits, fits) << less;
    }
  });
}

TEST_F(AnsStates, WordsAndStatesOfNobodyGiveTheSame) {
  int refused = 0;
  for_each_plane([&](const Bytes& plane, const Model& model) {
    Slots slots;
    model.make(slots);
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, plane.size() / 8, plane.size() / 2, 2 * plane.size()}) {
      Bytes words(kStateBytes + 2 * count);
      for (std::byte& byte : words) byte = static_cast<std::byte>(random_());
      const States states = some_states();
      const GivenBack one = give_back(portable_stepper(), states, words, plane.size(), slots);
      EXPECT_EQ(one, give_back(*wide_stepper(), states, words, plane.size(), slots)) << count;
      refused += !one.is_enough;
    }
  });
  EXPECT_GT(refused, 100);
}

// Returns the first code of the table of two bytes, one of which is there `times` of `all`.
TEST(AnsModel, FrequenciesAreThoseOfTheFormat) {
  for (const std::uint32_t all : {8192u, 8191u, 4096u, 2048u, 1500u, 333u, 64u}) {
    for (std::uint32_t times = 1; times < all / 2; ++times) {
      Bytes plane(all, std::byte{1});
      std::fill_n(plane.begin(), times, std::byte{0});
      Model model;
      if (!model.take(plane)) continue;
      std::byte table[kMostTableBytes];
      ASSERT_EQ(model.write(table) - table, 5);
      ASSERT_EQ(std::to_integer<std::uint32_t>(table[2]) & 0x3f, code_of(times, all))
          << times << " of " << all;
    }
  }
}

}  // namespace
}  // namespace thinwire::codec::ans
