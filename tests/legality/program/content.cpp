// Values of every kind and base, by their numbers.
#include "buffer.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "run.h"

namespace legality {
namespace {

template <typename Float>
Float special(std::uint64_t bits) {
  using Limits = std::numeric_limits<Float>;
  switch (bits % 12) {
    case 0:
      return Limits::quiet_NaN();
    case 1:
      return Limits::infinity();
    case 2:
      return -Limits::infinity();
    case 3:
      return -Float{0};
    case 4:
      return Limits::denorm_min() * static_cast<Float>(bits % 1000);
    case 5:
      return Limits::max();
    case 6:
      return Limits::min();
    default:
      return static_cast<Float>(bits % 4096) / 64;
  }
}

template <typename Float>
Float float_value(const Content& content, int element) {
  const std::uint64_t bits = join(content.key, static_cast<std::uint64_t>(element));
  switch (content.kind) {
    case Kind::kSmooth: {
      const int x = (element + static_cast<int>(content.key % 512)) % 1024;
      return static_cast<Float>(x) * static_cast<Float>(1024 - x) / 65536;
    }
    case Kind::kWhole:
      return static_cast<Float>((element + content.key % 100) % 1000);
    case Kind::kSpecial:
      return special<Float>(bits);
    case Kind::kConstant:
      return static_cast<Float>(content.key % 7) / 2;
    default:
      return static_cast<Float>(small_value(content, element));
  }
}

template <typename Value>
void put(Value value, void* to) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

int small_value(const Content& content, int element) {
  const int value = static_cast<int>((element / 16 + content.key) % 4) + 1;
  return (content.key + static_cast<std::uint64_t>(element) / 64) % 3 == 0 ? -value : value;
}

Content draw_content(Random& random) {
  Content content;
  content.key = random.next();
  const int drawn = random.below(100);
  if (drawn < 50) {
    content.kind = Kind::kSmooth, mark(Feature::smooth_);
  } else if (drawn < 65) {
    content.kind = Kind::kRandom, mark(Feature::random_bits_);
  } else if (drawn < 80) {
    content.kind = Kind::kWhole, mark(Feature::whole_numbers_);
  } else if (drawn < 90) {
    content.kind = Kind::kSpecial, mark(Feature::special_values_);
  } else {
    content.kind = Kind::kConstant, mark(Feature::constant_);
  }
  return content;
}

void write_value(const Content& content, int element, Base base, void* to) {
  if (base == Base::kDoubleComplex) {
    write_value(content, 2 * element, Base::kDouble, to);
    return write_value(content, 2 * element + 1, Base::kDouble, static_cast<char*>(to) + 8);
  }
  if (content.kind == Kind::kRandom) {
    const std::uint64_t bits = join(content.key, static_cast<std::uint64_t>(element));
    std::memcpy(to, &bits, static_cast<std::size_t>(size_of(base)));
    return;
  }
  switch (base) {
    case Base::kFloat:
      return put(float_value<float>(content, element), to);
    case Base::kDouble:
      return put(float_value<double>(content, element), to);
    case Base::kComplex:
      put(float_value<float>(content, 2 * element), to);
      return put(float_value<float>(content, 2 * element + 1), static_cast<char*>(to) + 4);
    case Base::kDoubleComplex:
      return;
    case Base::kShort:
      return put(static_cast<std::int16_t>(small_value(content, element)), to);
    case Base::kInt:
      return put(small_value(content, element), to);
    case Base::kLong:
      return put(std::int64_t{small_value(content, element)}, to);
    case Base::kByte:
      return put(static_cast<unsigned char>(element + content.key), to);
  }
}

}  // namespace legality
