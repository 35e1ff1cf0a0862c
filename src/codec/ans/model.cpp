#include "codec/ans/model.h"

#include <algorithm>
#include <bit>

#include "base/vector_units.h"
#include "codec/ans/counts.h"
#include "codec/ans/pieces.h"

namespace thinwire::codec::ans {
namespace {

constexpr std::uint32_t kCodes = 64;  // of 6 bits, not all of which mean something

// The frequency of each code; 0 for the code of the most frequent byte, whose frequency is what the
// others leave of kScale.
constexpr auto kFrequencies = [] {
  std::array<std::uint16_t, kCodes> frequencies{};
  for (std::uint32_t code = 0; code <= kLastCode; ++code) {
    frequencies[code] = static_cast<std::uint16_t>(frequency_of(code));
  }
  return frequencies;
}();

// A number from 1 on as a float: its exponent, and the two bits below its highest one, are at once
// the code of a frequency and what it costs. Loops over that have no table.
constexpr int kBelowQuarters = 21;

struct Share {
  std::uint32_t frequency, code, cost;
};

// code_of() of a byte that is there `times` of `all`, at most 32768, frequency_of() that, and
// cost_of() that; 0 if it is not there. `part` is 1 / all.
inline Share share_of(std::uint32_t times, std::uint32_t all, float part) {
  const auto number = static_cast<std::int32_t>(kScale * times + all / 2);
  // At most 1 off.
  auto quotient = static_cast<std::int32_t>(static_cast<float>(number) * part);
  const std::int32_t left = number - quotient * static_cast<std::int32_t>(all);
  quotient += (left >= static_cast<std::int32_t>(all)) - (left < 0);
  quotient = std::max(quotient, static_cast<std::int32_t>(std::min(times, 1u)));
  const auto exact = static_cast<std::uint32_t>(quotient);
  constexpr std::uint32_t kBelowHalf = (1u << (kBelowQuarters - 1)) - 1;
  const std::uint32_t near =
      (std::bit_cast<std::uint32_t>(static_cast<float>(quotient)) + kBelowHalf) >> kBelowQuarters;
  const auto rounded = static_cast<std::uint32_t>(
      static_cast<std::int32_t>(std::bit_cast<float>(near << kBelowQuarters)));
  const std::uint32_t log = near / 4 - 127, quarter = near % 4;
  const std::uint32_t of_quarter = 82 * quarter - 7 * quarter * (quarter - 1) + 3 * (quarter == 3);
  return {.frequency = rounded,
          .code = exact < 4 ? exact : near - 512,
          .cost = kCostOfScale - 256 * log - of_quarter};
}

struct Sums {
  std::uint32_t frequencies = 0, cost = 0;
};

// The shares of bytes from `begin` to `end`, as if there was no rest.
THINWIRE_VECTOR_CLONES Sums share_out(const Counts& counts, std::uint32_t all, std::uint32_t begin,
                                      std::uint32_t end, std::uint32_t* frequencies,
                                      std::uint32_t* codes) {
  const float part = 1 / static_cast<float>(all);
  Sums sums;
  for (std::uint32_t byte = begin; byte < end; ++byte) {
    const Share share = share_of(counts[byte], all, part);
    frequencies[byte] = share.frequency;
    codes[byte] = share.code;
    sums.frequencies += share.frequency;
    sums.cost += counts[byte] * share.cost;
  }
  return sums;
}

// The lowest of the most frequent bytes.
THINWIRE_VECTOR_CLONES std::uint32_t most_frequent(const Counts& counts) {
  std::uint32_t most = 0;
  for (std::uint32_t byte = 0; byte < kBytes; ++byte) {
    most = std::max(most, counts[byte] << 8 | (kBytes - 1 - byte));
  }
  return kBytes - 1 - most % kBytes;
}

THINWIRE_VECTOR_CLONES void fill(const std::uint32_t* frequencies, std::uint32_t begin,
                                 std::uint32_t end, std::uint32_t* next) {
  for (std::uint32_t byte = begin; byte < end; ++byte) {
    const std::uint32_t frequency = frequencies[byte], slot = byte | frequency << 8;
    for (std::uint32_t at = 0; at < frequency; at += Slots::kAtOnce) {
      for (std::uint32_t each = 0; each < Slots::kAtOnce; ++each) {
        next[at + each] = slot | (at + each) << 20;
      }
    }
    next += frequency;
  }
}

}  // namespace

// Frequencies of the bytes in the table's groups. False if none is left for the most frequent one.
bool Model::share(const Counts& counts, std::uint32_t all) {
  rest_ = most_frequent(counts);
  const Sums sums = share_out(counts, all, begin(), end(), frequency_.data(), code_.data());
  const std::uint32_t others = sums.frequencies - frequency_[rest_];
  if (others >= kScale) return false;
  const std::uint32_t times = counts[rest_];
  cost_ = sums.cost - times * cost_of(frequency_[rest_]) + times * cost_of(kScale - others);
  code_[rest_] = kRestCode;
  frequency_[rest_] = kScale - others;
  return true;
}

bool Model::take(const Counts& counts, std::uint32_t all) {
  bytes_ = all;
  if (all == 0) return false;
  std::uint32_t low = 0, high = kBytes - 1;
  while (counts[low] == 0) ++low;
  while (counts[high] == 0) --high;
  first_ = low / 4;
  groups_ = high / 4 - low / 4 + 1;
  if (!share(counts, all) || !pays(cost_, groups_, all)) return false;
  bytes_ = coded_bytes(cost_, 2 + 3 * groups_);
  return true;
}

bool Model::take_mask(const Counts& counts, std::uint32_t all) {
  first_ = 0;
  groups_ = kQuads / 4;
  const bool is_coded = share(counts, all);
  bytes_ = coded_bytes(cost_, kMaskTableBytes);
  return is_coded;
}

bool Model::read(ByteView& bytes) {
  if (bytes.size() < 2) return false;
  first_ = static_cast<std::uint32_t>(bytes[0]);
  groups_ = static_cast<std::uint32_t>(bytes[1]);
  const std::size_t size = 2 + 3 * groups_;
  if (groups_ == 0 || first_ + groups_ > kBytes / 4 || bytes.size() < size) return false;
  if (!read_codes(bytes.data() + 2)) return false;
  bytes = bytes.subspan(size);
  return true;
}

bool Model::read_mask(const std::byte* codes) {
  first_ = 0;
  groups_ = kQuads / 4;
  return read_codes(codes);
}

bool Model::read_codes(const std::byte* group) {
  std::uint32_t others = 0, rests = 0, unknown = 0;
  for (std::uint32_t byte = begin(); byte < end(); byte += 4, group += 3) {
    const std::uint32_t codes = load<std::uint16_t>(group) | static_cast<std::uint32_t>(group[2])
                                                                 << 16;
    for (std::uint32_t place = 0; place < 4; ++place) {
      const std::uint32_t code = codes >> (6 * place) & 0x3f;
      const bool is_rest = code == kRestCode;
      frequency_[byte + place] = kFrequencies[code];
      others += kFrequencies[code];
      rests += is_rest;
      unknown += code > kLastCode && !is_rest;
      rest_ = is_rest ? byte + place : rest_;
    }
  }
  if (rests != 1 || unknown != 0 || others >= kScale) return false;
  frequency_[rest_] = kScale - others;
  return true;
}

std::byte* Model::write(std::byte* out) const {
  *out++ = static_cast<std::byte>(first_);
  *out++ = static_cast<std::byte>(groups_);
  return write_codes(out);
}

std::byte* Model::write_codes(std::byte* out) const {
  for (std::uint32_t byte = begin(); byte < end(); byte += 4) {
    std::uint32_t codes = 0;
    for (std::uint32_t place = 0; place < 4; ++place) {
      codes |= code_[byte + place] << (6 * place);
    }
    for (int part = 0; part < 3; ++part) *out++ = static_cast<std::byte>(codes >> (8 * part));
  }
  return out;
}

void Model::make(Steps& steps) const {
  static const auto kSteps = [] {
    std::array<Step, kCodes> of{};
    for (std::uint32_t code = 1; code <= kLastCode; ++code) {
      of[code] = step_of(frequency_of(code), 0);
    }
    return of;
  }();
  std::uint32_t start = 0;
  for (std::uint32_t byte = begin(); byte < end(); ++byte) {
    const Step& step = kSteps[code_[byte]];
    steps.of[byte] = {step.factor, step.packed + (start << 12)};
    if (byte == rest_) steps.of[byte] = step_of(frequency_[byte], start);
    start += frequency_[byte];
  }
}

void Model::make(Slots& slots) const { fill(frequency_.data(), begin(), end(), slots.of.data()); }

}  // namespace thinwire::codec::ans
