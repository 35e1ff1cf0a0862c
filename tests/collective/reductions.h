// Reductions of all ranks' arrays in one process: the codec's own functions, no schedules, no
// transport. A value is coded and added exactly as often as by the algorithm of that name.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "codec/codec.h"
#include "collective/reduce.h"

namespace thinwire::collective {

template <typename Value>
using Array = std::vector<Value>;
template <typename Value>
using Ranks = std::vector<Array<Value>>;

template <typename Value>
constexpr Dtype kDtypeOf = sizeof(Value) == 4 ? Dtype::kF32 : Dtype::kF64;

template <typename Value>
class Reducer {
 public:
  Reducer(const codec::Codec& codec, std::uint64_t parameter, Reduction reduction)
      : codec_(codec), parameter_(parameter), reduction_(reduction) {}

  // Values that `values` become if they are coded, chunk by chunk, and chunks that do not shrink
  // stay.
  Array<Value> coded(const Array<Value>& values) const {
    Array<Value> result = values;
    const Shape chunk = codec_.chunk_shape(Shape::line(values.size()), kDtypeOf<Value>, parameter_);
    std::vector<std::byte> packet;
    for (std::size_t first = 0; first < values.size(); first += chunk.extent[0]) {
      const auto count = std::min<std::uint64_t>(chunk.extent[0], values.size() - first);
      const codec::Chunk piece{kDtypeOf<Value>, Shape::line(count)};
      packet.resize(codec_.bound(piece, parameter_));
      const auto* source = reinterpret_cast<const std::byte*>(values.data() + first);
      const auto bytes = codec_.encode(source, piece, parameter_, packet.data());
      if (*bytes >= piece.raw_bytes()) continue;
      auto* out = reinterpret_cast<std::byte*>(result.data() + first);
      if (!codec_.decode({packet.data(), *bytes}, piece, parameter_, out).ok()) std::abort();
    }
    return result;
  }

  void add(Array<Value>& into, const Array<Value>& from) const {
    combine(reduction_, kDtypeOf<Value>, into.size(), reinterpret_cast<std::byte*>(into.data()),
            reinterpret_cast<const std::byte*>(from.data()));
  }

  // The owner's result; `order` of the ranks, the owner first, whose own values are coded by
  // themselves if `quantises_own`.
  Array<Value> direct(const Ranks<Value>& ranks, const std::vector<std::size_t>& order,
                      bool quantises_own) const {
    Array<Value> sum = quantises_own ? coded(ranks[order[0]]) : ranks[order[0]];
    for (std::size_t at = 1; at < order.size(); ++at) add(sum, coded(ranks[order[at]]));
    return coded(sum);
  }

  Array<Value> ring(const Ranks<Value>& ranks, std::size_t first) const {
    Array<Value> sum = ranks[first];
    for (std::size_t hop = 1; hop < ranks.size(); ++hop) {
      sum = coded(sum);
      add(sum, ranks[(first + hop) % ranks.size()]);
    }
    return coded(sum);
  }

  // The result is coded anew by each rank that it passes.
  Array<Value> ring_per_hop(const Ranks<Value>& ranks) const {
    Array<Value> sum = ring(ranks, 0);
    for (std::size_t hop = 2; hop < ranks.size(); ++hop) sum = coded(sum);
    return sum;
  }

  // All results, which must be the same. Ranks above a power of two are added to others before, who
  // code what they have themselves if `quantises_own`.
  Ranks<Value> recursive_doubling(const Ranks<Value>& ranks, bool quantises_own) const {
    const std::size_t places = std::bit_floor(ranks.size());
    Ranks<Value> partial(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(places));
    for (std::size_t above = places; above < ranks.size(); ++above) {
      Array<Value>& into = partial[above - places];
      if (quantises_own) into = coded(into);
      add(into, coded(ranks[above]));
    }
    for (std::size_t step = 1; step < places; step *= 2) {
      for (Array<Value>& each : partial) each = coded(each);
      Ranks<Value> next = partial;
      for (std::size_t rank = 0; rank < places; ++rank) add(next[rank], partial[rank ^ step]);
      partial = std::move(next);
    }
    return partial;
  }

 private:
  const codec::Codec& codec_;
  std::uint64_t parameter_;
  Reduction reduction_;
};

}  // namespace thinwire::collective
