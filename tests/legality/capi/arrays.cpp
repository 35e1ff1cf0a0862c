#include "arrays.h"

#include <algorithm>
#include <cstring>

#include "marks.h"

namespace legality {
namespace {

constexpr std::uint64_t kMargin = 64;

}  // namespace

void Array::lay_out(std::uint64_t elements, std::uint32_t dtype, std::uint64_t key) {
  dtype_ = dtype, each_ = size_of(dtype), origin_ = kMargin + key % 8;
  memory_.resize(origin_ + elements * each_ + kMargin);
  for (std::size_t at = 0; at < memory_.size(); ++at)
    memory_[at] = static_cast<unsigned char>(mix(key + at));
  image_ = memory_;
  freed_.assign(memory_.size(), 0);
}

void Array::fill(const Part& part) {
  for (std::uint64_t at = 0; at < part.count; ++at) {
    const std::uint64_t place = origin_ + (part.place + at) * each_;
    write_value(part.content, dtype_, part.first + at, &memory_[place]);
    std::memcpy(&image_[place], &memory_[place], each_);
  }
}

void Array::free(std::uint64_t place, std::uint64_t count) {
  const auto begin = freed_.begin() + static_cast<std::ptrdiff_t>(origin_ + place * each_);
  std::fill_n(begin, count * each_, 1);
}

bool Array::is_untouched() const {
  for (std::size_t at = 0; at < memory_.size(); ++at)
    if (freed_[at] == 0 && memory_[at] != image_[at]) return false;
  return true;
}

Arrays::Arrays(const Drawn& drawn, int rank, int size) : drawn_(drawn), rank_(rank), size_(size) {
  if (drawn.reduces()) prepare_reduction();
  if (!drawn.reduces()) prepare_moves();
  for (const Part& part : results_) receive_.free(part.place, part.count);
}

// Blocks one after the other or, with lists, in any order and with gaps.
void Arrays::lay_blocks(bool sends, Array& array, std::vector<std::uint64_t>& counts,
                        std::vector<std::uint64_t>& places) {
  Random random = Random(drawn_.key).part(static_cast<std::uint64_t>(2 * rank_ + sends));
  for (int peer = 0; peer < size_; ++peer)
    counts.push_back(sends ? drawn_.block(size_, rank_, peer) : drawn_.block(size_, peer, rank_));
  std::vector<int> order = random.permutation(size_);
  if (!drawn_.lists) std::sort(order.begin(), order.end());
  places.resize(counts.size());
  std::uint64_t place = 0;
  for (int peer : order) {
    if (drawn_.lists && random.chance(30))
      place += static_cast<std::uint64_t>(random.between(1, 9)), mark(Feature::gaps_);
    places[static_cast<std::size_t>(peer)] = place;
    place += counts[static_cast<std::size_t>(peer)];
  }
  array.lay_out(place, drawn_.dtype, random.next());
}

void Arrays::contribute(Array& array, const Part& part) {
  array.lay_out(part.count, drawn_.dtype, join(drawn_.key, static_cast<std::uint64_t>(rank_)));
  array.fill(part);
}

void Arrays::prepare_moves() {
  const bool is_root = rank_ == drawn_.root;
  const auto own = static_cast<std::size_t>(rank_);
  count_ = drawn_.block(size_, rank_, rank_);
  if (drawn_.operation == TW_BCAST) {
    const Part part{0, drawn_.count, drawn_.content_of(drawn_.root, 0)};
    if (is_root) contribute(receive_, part);
    if (!is_root) receive_.lay_out(part.count, drawn_.dtype, join(drawn_.key, 99));
    results_ = {part};
    return;
  }
  const bool gathers = drawn_.operation == TW_ALLGATHER || drawn_.operation == TW_GATHER;
  const bool has_blocks = drawn_.operation == TW_ALLGATHER || is_root;
  const bool in_place = drawn_.in_place && (has_blocks || drawn_.operation == TW_ALLTOALL);
  if (gathers) {
    const Part mine{0, count_, drawn_.content_of(rank_, 0)};
    if (!in_place) contribute(send_, mine);
    if (!has_blocks) return;
    lay_blocks(false, receive_, receive_counts_, receive_places_);
    for (int peer = 0; peer < size_; ++peer) {
      const auto at = static_cast<std::size_t>(peer);
      results_.push_back({receive_places_[at], receive_counts_[at], drawn_.content_of(peer, 0)});
    }
    if (in_place) receive_.fill(results_[own]);
    return;
  }
  const bool all = drawn_.operation == TW_ALLTOALL;
  if (all || is_root) {
    Array& array = all && in_place ? receive_ : send_;
    lay_blocks(true, array, send_counts_, send_places_);
    for (std::size_t at = 0; at < send_counts_.size(); ++at)
      array.fill(
          {send_places_[at], send_counts_[at], drawn_.content_of(rank_, static_cast<int>(at))});
  }
  if (!all && in_place) return;
  if (!all) {
    receive_.lay_out(count_, drawn_.dtype, join(drawn_.key, 98));
    results_ = {{0, count_, drawn_.content_of(drawn_.root, rank_)}};
    return;
  }
  if (!in_place) lay_blocks(false, receive_, receive_counts_, receive_places_);
  if (in_place) receive_counts_ = send_counts_, receive_places_ = send_places_;
  for (std::size_t at = 0; at < receive_counts_.size(); ++at)
    results_.push_back(
        {receive_places_[at], receive_counts_[at], drawn_.content_of(static_cast<int>(at), rank_)});
}

void Arrays::prepare_reduction() {
  const bool scatters = drawn_.operation == TW_REDUCE_SCATTER;
  std::uint64_t whole = scatters ? 0 : drawn_.count;
  for (int peer = 0; scatters && peer < size_; ++peer) {
    receive_counts_.push_back(drawn_.block(size_, peer, peer));
    if (peer < rank_) first_ += receive_counts_.back();
    whole += receive_counts_.back();
  }
  count_ = drawn_.count;
  const Part mine{0, whole, drawn_.content_of(rank_, 0)};
  const bool has_result = drawn_.operation != TW_REDUCE || rank_ == drawn_.root;
  const bool in_place = drawn_.in_place && has_result;
  contribute(in_place ? receive_ : send_, mine);
  if (!has_result) return;
  const std::uint64_t results = scatters ? receive_counts_[static_cast<std::size_t>(rank_)] : whole;
  if (!in_place) receive_.lay_out(results, drawn_.dtype, join(drawn_.key, 97));
  results_ = {{0, results, {}, first_}};
  if (in_place) receive_.free(results, whole - results);  // MPI leaves open what lies there
}

tw_collective Arrays::call() {
  tw_collective call{};
  call.size = sizeof call;
  call.operation = drawn_.operation, call.dtype = drawn_.dtype, call.reduction = drawn_.reduction;
  call.root = drawn_.root, call.algorithm = drawn_.algorithm, call.coding = drawn_.coding;
  call.send = send_.address(), call.receive = receive_.address();
  call.count = count_;
  call.codec = drawn_.names_codec ? drawn_.spec.codec.get() : nullptr;
  if (drawn_.in_place) call.flags |= TW_IN_PLACE;
  if (drawn_.verify) call.flags |= TW_VERIFY;
  if (drawn_.root_decodes && rank_ == drawn_.root) call.flags |= TW_ROOT_DECODES;
  if (!drawn_.lists) return call;
  const bool rooted = drawn_.operation == TW_GATHER || drawn_.operation == TW_SCATTER;
  if (rooted) call.flags |= TW_VARIED;
  const auto list = [](const std::vector<std::uint64_t>& from) {
    return from.empty() ? nullptr : from.data();
  };
  call.send_counts = list(send_counts_), call.send_displacements = list(send_places_);
  call.receive_counts = list(receive_counts_), call.receive_displacements = list(receive_places_);
  return call;
}

std::uint64_t Arrays::hash() const {
  std::uint64_t sum = 0;
  for (const Part& part : results_)
    for (std::uint64_t at = 0; at < part.count; ++at) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, receive_.at(part.place + at), size_of(drawn_.dtype));
      sum = join(sum, bits);
    }
  return sum;
}

}  // namespace legality
