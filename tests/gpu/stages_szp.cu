// szp: the lattice, values against it, and digits, as the core has them on both sides.
#include "codec/szp/core.h"
#include "codec/szp/format.h"
#include "stages.cuh"

namespace thinwire::stages {
namespace {

using namespace codec::szp;

template <typename Value>
struct LatticeBits {
  BitsOf<Value> half, step, inverse;
};

template <typename Value>
struct MakeLattice {
  using In = std::uint64_t;
  using Out = LatticeBits<Value>;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    const Lattice<Value> lattice = make_lattice<Value>(in);
    out = {to_bits(lattice.half), to_bits(lattice.step), to_bits(lattice.inverse)};
  }
};

template <typename Value>
struct BoundedValue {
  std::uint64_t parameter;
  std::uint64_t value;  // its bits, in the low half of fp32
};

template <typename Value>
struct QuantisedBits {
  std::uint64_t decoded;
  std::uint32_t index;
  std::uint32_t is_bounded;
};

template <typename Value>
struct Quantise {
  using In = BoundedValue<Value>;
  using Out = QuantisedBits<Value>;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    const Lattice<Value> lattice = make_lattice<Value>(in.parameter);
    const auto value = from_bits<Value>(static_cast<BitsOf<Value>>(in.value));
    const Quantised<Value> quantised = quantise(value, lattice);
    out = {to_bits(value_at(quantised.index, lattice)), quantised.index,
           static_cast<std::uint32_t>(quantised.is_bounded)};
  }
};

struct Folded {
  std::uint32_t fold, code, radix, row_bits, reciprocal, quotient;
};

struct Fold {
  using In = std::uint32_t;
  using Out = Folded;
  THINWIRE_HOST_DEVICE static void run(const In& in, Out& out) {
    out.fold = fold(static_cast<std::int32_t>(in));
    out.code = out.fold < 256 ? 1 + out.fold % (kFirstWideCode - 1) : wide_code_of(out.fold);
    const Radix radix = radix_of(out.code);
    out.radix = radix.radix;
    out.row_bits = radix.row_bits;
    out.reciprocal = radix.reciprocal();
    out.quotient = divide(in, out.reciprocal);
  }
};

// Bounds of all magnitudes, those near the ends of what has a lattice among them.
std::vector<std::uint64_t> make_bounds() {
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> bounds = {0, 1, 0x7FEFFFFFFFFFFFFFu};
  for (int at = 0; at < 50000; ++at) {
    const std::uint64_t exponent = at % 2 == 0 ? random() % 2047 : 1023 - 130 + random() % 260;
    std::uint64_t mantissa = random() >> 12;
    if (at % 3 == 0) mantissa &= ~((std::uint64_t{1} << (random() % 52)) - 1);
    bounds.push_back(exponent << 52 | mantissa);
  }
  return bounds;
}

template <typename Value>
std::vector<BoundedValue<Value>> make_values() {
  std::mt19937_64 random(13);
  std::vector<BoundedValue<Value>> values;
  for (int at = 0; at < 200000; ++at) {
    const double bound = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52,
                                    static_cast<int>(random() % 40) - 20);
    const Lattice<Value> lattice = make_lattice<Value>(to_bits(bound));
    // Any bits; points of the lattice; the middles between them and their neighbours.
    const auto index = static_cast<Value>(static_cast<double>(random() % (1 << 23)) - (1 << 22));
    const Value middle = (index + Value(0.5)) * lattice.step;
    std::uint64_t bits = to_bits(middle) + random() % 3 - 1;
    if (at % 3 == 0) bits = static_cast<BitsOf<Value>>(random());
    if (at % 3 == 1) bits = to_bits(index * lattice.step);
    values.push_back({to_bits(bound), static_cast<BitsOf<Value>>(bits)});
  }
  return values;
}

std::vector<std::uint32_t> make_residuals() {
  std::mt19937 random(17);
  std::vector<std::uint32_t> residuals;
  for (int at = 0; at < 100000; ++at) {
    const std::uint32_t magnitude = static_cast<std::uint32_t>(random()) >> (random() % 32);
    residuals.push_back(at % 2 == 0 ? magnitude : 0u - magnitude);
  }
  return residuals;
}

void compare_szp(Report& report) {
  compare<MakeLattice<float>>(report, "szp lattice, fp32", make_bounds());
  compare<MakeLattice<double>>(report, "szp lattice, fp64", make_bounds());
  compare<Quantise<float>>(report, "szp values on the lattice, fp32", make_values<float>());
  compare<Quantise<double>>(report, "szp values on the lattice, fp64", make_values<double>());
  compare<Fold>(report, "szp folds, codes and quotients", make_residuals());
}

const Comparison kComparison(compare_szp);

}  // namespace
}  // namespace thinwire::stages
