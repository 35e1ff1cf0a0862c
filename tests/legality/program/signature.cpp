#include <algorithm>

#include "run.h"
#include "types.h"

namespace legality {
namespace {

int draw_units(Random& random) {
  const int drawn = random.below(100);
  const int factor = random.pick(std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16});
  if (drawn < 8) return 0;
  if (drawn < 20) return random.between(1, 16);
  if (drawn < 66) return factor * random.between(8, 128);
  if (drawn < 95) return factor * random.between(64, 512);
  mark(Feature::large_);
  return factor * random.between(2000, 3000);
}

// Bytes that an MPI moves at once, in any collective too.
constexpr int kPiece = 512;

int bytes_of(const std::vector<Base>& unit) {
  int bytes = 0;
  for (Base base : unit) bytes += size_of(base);
  return bytes;
}

// Several bases, all of one size.
bool mixes_one_size(const std::vector<Base>& unit) {
  const auto other = [&](Base base) { return base != unit.front(); };
  const auto as_long = [&](Base base) { return size_of(base) == size_of(unit.front()); };
  return std::any_of(unit.begin(), unit.end(), other) &&
         std::all_of(unit.begin(), unit.end(), as_long);
}

// Half of what is drawn as bytes travels as 16-bit integers, half of what is complex in doubles.
Base wider(Random random, Base base) {
  const bool is_wide = random.chance(50);
  if (base == Base::kComplex && is_wide && admit(Feature::double_complex_))
    base = Base::kDoubleComplex;
  if (base == Base::kByte && is_wide) base = Base::kShort;
  if (is_complex(base)) mark(Feature::complex_);
  if (base == Base::kByte || base == Base::kShort) mark(Feature::bytes_and_words_);
  return base;
}

}  // namespace

Signature draw_signature(Random& random) {
  Signature signature;
  signature.units = draw_units(random);
  const int drawn = random.below(100);
  if (drawn < 12) {
    const std::vector<Base> bases{Base::kFloat, Base::kInt, Base::kDouble, Base::kByte,
                                  Base::kLong};
    const int members = random.between(2, 5);
    for (int each = 0; each < members; ++each) {
      const Base base = random.pick(bases);
      for (int copies = random.between(1, 3); copies > 0; --copies) signature.unit.push_back(base);
    }
    signature.units = std::min(signature.units, 2000);
    if (mixes_one_size(signature.unit) && !admit(Feature::mixed_of_one_size_))
      signature.unit.assign(signature.unit.size(), signature.unit.front());
    const int few = kPiece / bytes_of(signature.unit);
    if (signature.units > few && !admit(Feature::mixed_in_pieces_)) signature.units = few;
    return signature;
  }
  static const std::vector<Base> bases{Base::kFloat,  Base::kFloat,  Base::kFloat,  Base::kFloat,
                                       Base::kDouble, Base::kDouble, Base::kDouble, Base::kInt,
                                       Base::kLong,   Base::kByte,   Base::kComplex};
  signature.unit = {wider(random.part(1), random.pick(bases))};
  return signature;
}

}  // namespace legality
