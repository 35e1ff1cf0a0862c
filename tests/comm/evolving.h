// Arrays that change a little from step to step, as every rank knows them.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "comm/communicator.h"
#include "ranks.h"

namespace thinwire::comm {

inline constexpr std::uint64_t kMiB = 1 << 20;

inline Options with_references(std::uint64_t bytes, const char* spec = "expack") {
  Options options;
  options.spec = spec_of(spec);
  options.piece_bytes = 64 << 10;
  options.reference_bytes = bytes;
  return options;
}

// Words of a dtype that look like weights: of a few exponents, with mantissas that no codec
// shrinks.
class Evolving {
 public:
  Evolving(Dtype dtype, std::uint64_t count, std::uint64_t seed)
      : dtype_(dtype), random_(seed), bytes_(count * dtype_size(dtype)) {
    const std::uint64_t width = dtype_size(dtype);
    for (std::uint64_t at = 0; at < count; ++at) {
      // Biased exponents around those of 2^-6 in any type, sign and mantissa at random.
      std::uint64_t word = random_();
      if (width == 4) word = (word & 0x807FFFFF) | (121 + word % 3) << 23;
      if (width == 8) word = (word & 0x800FFFFFFFFFFFFF) | (1017 + word % 3) << 52;
      if (dtype == Dtype::kBf16) word = (word & 0x807F) | (121 + word % 3) << 7;
      if (dtype == Dtype::kF16) word = (word & 0x83FF) | (9 + word % 3) << 10;
      std::memcpy(bytes_.data() + at * width, &word, width);
    }
  }

  // One element in 32 moves by one unit in its last place.
  void step() {
    const std::uint64_t width = dtype_size(dtype_);
    for (std::uint64_t at = random_() % 32 * width; at < bytes_.size(); at += 32 * width) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes_.data() + at, width);
      ++word;
      std::memcpy(bytes_.data() + at, &word, width);
    }
  }

  Dtype dtype() const { return dtype_; }
  std::uint64_t count() const { return bytes_.size() / dtype_size(dtype_); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  Dtype dtype_;
  std::mt19937_64 random_;
  std::vector<std::byte> bytes_;
};

// One call that moves all of `array` to every rank; whether the result is right, bit by bit.
struct Moved {
  Status status;
  Report report;
  bool is_right = false;
};

struct How {
  plan::Operation operation = plan::Operation::kAllgather;
  int root = 0;
  bool in_place = false;
  bool varied = false;  // Allgather: blocks of different sizes
  bool unable = false;
  plan::Algorithm algorithm = plan::Algorithm::kPlanned;
  plan::Coding coding = plan::Coding::kPlanned;
};

inline Moved move(Communicator& communicator, const Evolving& array, const How& how) {
  const auto size = static_cast<std::uint64_t>(communicator.size());
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const std::uint64_t width = dtype_size(array.dtype()), count = array.count();
  std::vector<std::uint64_t> counts, places;
  std::uint64_t before = 0;
  for (std::uint64_t peer = 0; peer < size; ++peer) {
    const std::uint64_t even = count / size;
    const std::uint64_t shift = how.varied && size > 1 ? even / 3 : 0;
    const std::uint64_t own = peer == 0 ? even - shift : peer == 1 ? even + shift : even;
    places.push_back(before);
    counts.push_back(how.varied && peer + 1 == size ? count - before : own);
    before += counts.back();
  }
  const bool gathers = how.operation == plan::Operation::kAllgather;
  const std::uint64_t moved = (gathers ? before : count) * width;
  std::vector<std::byte> result(moved, std::byte{0xCD}), sent;
  const std::byte* const own = array.bytes().data() + (gathers ? places[rank] * width : 0);
  const std::uint64_t own_bytes = (gathers ? counts[rank] : count) * width;
  Call call;
  call.operation = how.operation;
  call.dtype = array.dtype();
  call.root = how.root;
  call.algorithm = how.algorithm;
  call.coding = how.coding;
  call.in_place = how.in_place && gathers;
  call.unable = how.unable;
  call.spec = communicator.options().spec;
  call.count = gathers ? counts[rank] : count;
  if (gathers && how.varied) {
    call.receive_counts = counts.data();
    call.receive_displacements = places.data();
  }
  if (!gathers && communicator.rank() == how.root) std::memcpy(result.data(), own, own_bytes);
  if (call.in_place) std::memcpy(result.data() + places[rank] * width, own, own_bytes);
  if (gathers && !call.in_place) sent.assign(own, own + own_bytes);
  call.send = sent.data();
  call.receive = result.data();
  Moved made;
  made.status = communicator.run(call, made.report);
  made.is_right = std::memcmp(result.data(), array.bytes().data(), moved) == 0;
  return made;
}

}  // namespace thinwire::comm
