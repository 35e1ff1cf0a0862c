// References on streams of host functions; references.h has what GPUs do alike.
#include <cstring>

#include "codec/accumulate.h"
#include "collective/slots/host_slots.h"
#include "message/delta.h"

namespace thinwire::collective {
namespace {

using device::Outcome;

template <typename Word>
std::uint64_t nearest(const DifferStep& step) {
  const std::uint64_t count = step.key.block_bytes / sizeof(Word);
  const std::uint64_t samples = sampled_places(count);
  const ReferenceTable& table = step.references.table();
  std::uint64_t best = kNoReference, least = ~std::uint64_t{0};
  for (std::uint64_t number = 1; number <= table.count; ++number) {
    if (!is_of(table.entries[number - 1], step.key)) continue;
    const std::byte* const block =
        step.references.values(number) + step.block * step.key.block_bytes;
    std::uint64_t bits = 0;
    for (std::uint64_t at = 0; at < samples; ++at) {
      const std::uint64_t place = sampled_place(at, count) * sizeof(Word);
      const Word folded =
          folded_difference(load<Word>(step.values + place), load<Word>(block + place));
      bits += static_cast<std::uint64_t>(bits_in(folded));
    }
    if (bits >= least || !is_near(bits, samples, 8 * sizeof(Word))) continue;
    least = bits;
    best = number;
  }
  return best;
}

// Which references the blocks have; and an error if one is not sound.
Outcome find_all(const RestoreStep& step, std::uint64_t& first) {
  Outcome outcome = device::make_outcome(StatusCode::kOk, 0);
  std::uint64_t bytes = 0;
  for (std::uint64_t block = 0; block < step.key.blocks; ++block) {
    const std::uint64_t number = reference_in(load<slot::SlotWords>(step.said + block * kSlotUnit),
                                              step.call, block, step.references, step.key);
    step.found[block] = number;
    if (number == kUnsoundReference) {
      outcome = device::make_outcome(StatusCode::kDamaged, 0);
    } else if (number != kNoReference) {
      if (first == kNoReference) first = number;
      bytes += step.key.block_bytes;
    }
  }
  return is_error(outcome) ? outcome : device::make_outcome(StatusCode::kOk, bytes);
}

template <typename Word>
std::uint64_t sum_of(const std::byte* values, std::uint64_t bytes) {
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < bytes; at += sizeof(Word)) {
    sum += summed(load<Word>(values + at), at / sizeof(Word));
  }
  return sum;
}

}  // namespace

Status HostSlots::differ(const DifferStep& step) {
  const Dtype dtype = settings_->dtype;
  const std::uint64_t bytes = step.key.block_bytes;
  const std::uint64_t number = with_any_float_dtype(
      dtype, [&](auto kDtype) { return nearest<codec::WordOf<kDtype>>(step); });
  if (number == kNoReference) {
    store(step.said, told_reference(step.call, step.block, number, 0));
    std::memcpy(step.to, step.values, bytes);
    return {};
  }
  const std::uint64_t sum = step.references.sums(step.key, number)[step.block];
  store(step.said, told_reference(step.call, step.block, number, sum));
  const std::byte* const reference = step.references.values(number) + step.block * bytes;
  message::take_difference(dtype, bytes, step.values, reference, step.to);
  return {};
}

void HostSlots::restore(const RestoreStep& step, std::uint64_t block) const {
  const Dtype dtype = settings_->dtype;
  const std::uint64_t bytes = step.key.block_bytes, offset = block * bytes;
  const std::uint64_t number = step.found[block], kept = step.found[step.key.blocks];
  const bool is_own = step.own_values != nullptr && block == step.own;
  std::byte* const values = step.values + offset;
  if (!is_own && number == kUnsoundReference) {
    make_nan(values, Shape::line(bytes / dtype_size(dtype)));
  } else if (step.adds && !is_own && number != kNoReference) {
    message::add_difference(dtype, bytes, step.references.values(number) + offset, values);
  }
  if (!step.keeps || kept == kNoReference) return;
  const std::byte* const from = is_own ? step.own_values : values;
  std::memcpy(step.references.values(kept) + offset, from, bytes);
  step.references.sums(step.key, kept)[block] = with_any_float_dtype(
      dtype, [&](auto kDtype) { return sum_of<codec::WordOf<kDtype>>(from, bytes); });
}

Status HostSlots::match(const RestoreStep& step) {
  std::uint64_t first = kNoReference;
  *step.outcome = find_all(step, first);
  step.found[step.key.blocks] = place_result(step.references, step.key, first);
  return {};
}

Status HostSlots::restore(const RestoreStep& step) {
  for (int at = 0; at < step.listed; ++at) restore(step, step.blocks[at]);
  for (std::uint64_t block = 0; step.listed == 0 && block < step.key.blocks; ++block) {
    restore(step, block);
  }
  return {};
}

}  // namespace thinwire::collective
