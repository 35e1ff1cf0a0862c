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
    return signature;
  }
  static const std::vector<Base> bases{Base::kFloat,  Base::kFloat,  Base::kFloat,  Base::kFloat,
                                       Base::kDouble, Base::kDouble, Base::kDouble, Base::kInt,
                                       Base::kLong,   Base::kByte,   Base::kComplex};
  signature.unit = {random.pick(bases)};
  return signature;
}

}  // namespace legality
