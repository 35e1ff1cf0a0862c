// Calls that are coded against results of earlier ones: what ranks agree on before, and what they
// keep after; spec/delta.md.
#include <bit>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/log.h"
#include "comm/communicator.h"
#include "comm/exchange.h"
#include "comm/workspace.h"
#include "message/automatic.h"
#include "plan/collective.h"

namespace thinwire::comm {
namespace {

using plan::Operation;

// Results of fewer bytes take about as long as the ranks take to agree.
constexpr std::uint64_t kLeastResultBytes = 256 << 10;

// Bytes from the middle of a block that are looked at, to foresee what a reference saves.
constexpr std::uint64_t kTrialBytes = 256 << 10;

constexpr std::uint64_t kMeasuredBytes = 1 << 20;
constexpr int kMeasurements = 3;

// The word that ranks agree on is the largest of theirs: two bits of state, then what the rank's
// best reference would gain, and its number.
constexpr std::uint64_t kWithout = 1;  // a rank cannot use references in this call
constexpr std::uint64_t kLost = 2;     // a rank has not kept what others have
constexpr int kStateAt = 62;
constexpr int kGainAt = 48;
constexpr std::uint64_t kNumbers = (std::uint64_t{1} << kGainAt) - 1;
constexpr std::uint64_t kGains = (std::uint64_t{1} << (kStateAt - kGainAt)) - 1;
static_assert(plan::kMostGain <= kGains);

bool is_lossless(const codec::Spec& spec) {
  return spec.kind == codec::Spec::Kind::kAuto ||
         (spec.kind == codec::Spec::Kind::kCodec && spec.codec->lossless);
}

ResultClass class_of(const Call& call, int size) {
  ResultClass of{.operation = call.operation, .dtype = call.dtype};
  std::uint64_t values = call.count;
  of.counts = checksum(std::as_bytes(std::span(&call.count, 1)));
  if (call.operation == Operation::kAllgather) {
    values = sum_of(call.receive_counts, call.count, size);
    of.counts = 0;
    for (int rank = 0; rank < size; ++rank) {
      const std::uint64_t pair[2] = {of.counts, count_of(call.receive_counts, call.count, rank)};
      of.counts = checksum(std::as_bytes(std::span(pair)));
    }
  }
  of.bytes = values * dtype_size(call.dtype);
  return of;
}

}  // namespace

// Collective, if references are wanted: what they cost the slowest rank, by the byte.
Status Communicator::open_history() {
  if (options_.reference_bytes == 0) return {};
  history_ = std::make_unique<History>(options_.reference_bytes);
  double seconds = 1;  // where there is no memory to measure in: nothing pays
  Buffer room;
  if (const auto memory = room.on_host(2 * kMeasuredBytes); memory.ok()) {
    std::byte* const values = *memory;
    std::byte* const other = values + kMeasuredBytes;
    std::memset(values, 0, 2 * kMeasuredBytes);
    for (int run = 0; run < kMeasurements; ++run) {
      const auto begin = std::chrono::steady_clock::now();
      // As sender, as receiver, and to keep the result.
      std::uint64_t sum = checksum({other, kMeasuredBytes});
      message::take_difference(Dtype::kBf16, kMeasuredBytes, values, other, values);
      sum += checksum({other, kMeasuredBytes});
      message::add_difference(Dtype::kBf16, kMeasuredBytes, other, values);
      std::memcpy(other, &sum, sizeof sum);
      std::memcpy(values, other, kMeasuredBytes);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      seconds = std::min(seconds, took.count() / kMeasuredBytes);
    }
  }
  // Positive doubles are in the order of their bits.
  auto bits = std::bit_cast<std::uint64_t>(seconds);
  if (Status status = largest(*transport_, &bits); !status.ok()) return status;
  reference_seconds_ = std::bit_cast<double>(bits);
  if (rank() == 0) {
    log(LogLevel::kPlan, "references: up to " + std::to_string(options_.reference_bytes) +
                             " bytes on each rank; they cost " +
                             std::to_string(reference_seconds_ * 1e9) + " ns a byte");
  }
  return {};
}

// By what is equal on all ranks.
bool Communicator::may_refer(const Call& call, const Choice& choice) const {
  if (history_ == nullptr || choice.reason != plan::Reason::kCompress) return false;
  if (call.operation != Operation::kAllgather && call.operation != Operation::kBcast) return false;
  return is_lossless(call.spec) && result_.bytes >= kLeastResultBytes && history_->fits(result_);
}

// The block that this rank has before the call, if it has values; kNone if there is none.
std::uint32_t Communicator::own_block(const Call& call) const {
  const bool gathers = call.operation == Operation::kAllgather;
  if (!gathers && rank() != call.root) return collective::kNone;
  const std::uint32_t block = gathers ? static_cast<std::uint32_t>(rank()) : 0;
  return binding_.blocks()[block].values() == 0 ? collective::kNone : block;
}

// Foresees what `entry` would save of this rank's block, and what ordinary coding leaves of it.
Communicator::Foreseen Communicator::foresee(const Call& call, const History::Entry& entry,
                                             std::uint32_t block) {
  Foreseen foreseen;
  const collective::Cutter cutter(call.spec, call.dtype, kTrialBytes);
  const collective::Block whole = cutter.whole(binding_.blocks()[block].values());
  const codec::Chunk piece{call.dtype, whole.piece_shape(whole.pieces / 2)};
  const std::uint64_t offset = whole.piece_offset(whole.pieces / 2) * dtype_size(call.dtype);
  const auto room = trial_.on_host(piece.raw_bytes());
  if (!room.ok()) return foreseen;
  const std::byte* const values = values_of(call, block) + offset;
  message::take_difference(call.dtype, piece.raw_bytes(), values,
                           entry.values() + first_byte_[block] + offset, *room);
  const auto plain = message::foreseen_share(call.spec, piece, values, settings_.terms.least_ratio);
  const auto difference =
      message::foreseen_share(call.spec, piece, *room, settings_.terms.least_ratio);
  if (!plain.ok() || !difference.ok()) return foreseen;
  foreseen.ordinary_share = *plain;
  foreseen.gain = plan::reference_gain({.ordinary_share = *plain,
                                        .difference_share = *difference,
                                        .link_bytes_per_second = options_.link_bytes_per_second,
                                        .seconds_per_byte = reference_seconds_});
  return foreseen;
}

const std::byte* Communicator::values_of(const Call& call, std::uint32_t block) const {
  const auto arrays = binding_.arrays();
  return (call.operation == Operation::kAllgather ? arrays.input : arrays.output)[block];
}

// This rank's word, by its own block.
std::uint64_t Communicator::propose(const Call& call, Proposal& proposal) {
  const std::uint64_t without = call.unable || device_ >= 0 ? kWithout : 0;
  if (lost_) return (kLost | without) << kStateAt;
  if (without != 0) return without << kStateAt;
  proposal.block = own_block(call);
  if (proposal.block == collective::kNone) return 0;
  const std::uint64_t bytes = binding_.blocks()[proposal.block].values() * dtype_size(call.dtype);
  proposal.entry = history_->most_alike(
      result_, sketch_of(call.dtype, {values_of(call, proposal.block), bytes}));
  if (proposal.entry == nullptr) return 0;
  proposal.foreseen = foresee(call, *proposal.entry, proposal.block);
  if (proposal.foreseen.gain == 0) return 0;
  return std::uint64_t{proposal.foreseen.gain} << kGainAt | proposal.entry->number;
}

// The reference that the ranks have agreed on.
void Communicator::refer_to(const Call& call, std::uint64_t number, Proposal& proposal) {
  const History::Entry* const entry = history_->find(number);
  if (entry == nullptr || !(entry->of == result_) || entry->data == nullptr) {
    lost_ = true;  // what comes against it is refused
    return;
  }
  if (proposal.block != collective::kNone && entry != proposal.entry) {
    proposal.foreseen = foresee(call, *entry, proposal.block);
  }
  reference_ = {.number = number,
                .values = entry->values(),
                .first_byte = first_byte_,
                .ordinary_share = proposal.foreseen.ordinary_share};
  if (proposal.foreseen.gain > 0) reference_.sends_block = proposal.block;
  if (rank() == 0 && !std::exchange(told_, true)) {
    log(LogLevel::kPlan, "references: the first call that is coded against an earlier result; " +
                             std::to_string(history_->bytes()) + " bytes are held");
  }
  settings_.reference = &reference_;
}

Status Communicator::agree_on_reference(const Call& call, const Choice& choice) {
  if (history_ == nullptr) return {};
  result_ = class_of(call, size());
  if (!may_refer(call, choice)) return {};
  if (pause_.next() == choose::Effort::kSkip) {
    history_->pass();
    return {};
  }
  first_byte_.clear();
  std::uint64_t before = 0;
  for (const collective::Block& block : binding_.blocks()) {
    first_byte_.push_back(before);
    before += block.values() * dtype_size(call.dtype);
  }
  Proposal proposal;
  std::uint64_t word = propose(call, proposal);
  if (Status status = largest(*transport_, &word); !status.ok()) return broken(status);
  const std::uint64_t state = word >> kStateAt, gain = word >> kGainAt & kGains;
  if ((state & kLost) != 0) {
    history_->clear();
    lost_ = false;
    misses_ = 0;
  }
  if ((state & kWithout) != 0) {
    history_->pass();
    return {};
  }
  keeps_ = true;
  replaces_ = state == 0 && gain > 0 ? word & kNumbers : 0;
  if (replaces_ != 0) refer_to(call, replaces_, proposal);
  // A program's step may have as many results as there is room for, and more.
  misses_ = replaces_ != 0 ? 0 : misses_ + 1;
  const bool is_in_vain = misses_ > 2 * history_->entries() + 16;
  is_in_vain ? pause_.declined() : pause_.succeeded();
  return {};
}

// Whatever came of the call here: the others do the same.
void Communicator::keep_result(const Call& call, bool succeeded) {
  if (!keeps_) return;
  const History::Entry* const entry = history_->keep(result_, replaces_);
  if (entry == nullptr) return;
  if (!succeeded || entry->data == nullptr) {
    lost_ = true;
    return;
  }
  const auto blocks = binding_.blocks();
  const auto output = binding_.arrays().output;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const std::uint64_t bytes = blocks[at].values() * dtype_size(call.dtype);
    if (bytes > 0) std::memcpy(entry->values() + first_byte_[at], output[at], bytes);
  }
  const std::size_t own =
      call.operation == Operation::kAllgather ? static_cast<std::size_t>(rank()) : 0;
  const std::uint64_t bytes = blocks[own].values() * dtype_size(call.dtype);
  const Sketch sketch = sketch_of(call.dtype, {entry->values() + first_byte_[own], bytes});
  std::memcpy(entry->sketch(), sketch.data(), sketch.size());
}

}  // namespace thinwire::comm
