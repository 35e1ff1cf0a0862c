// References on streams of host functions; references.h has what GPUs do alike.
#include <algorithm>

#include "codec/reduce.h"
#include "collective/slots/host_slots.h"

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

template <typename Word>
void differ(const DifferStep& step) {
  const std::uint64_t number = nearest<Word>(step);
  const bool found = number != kNoReference;
  const std::uint64_t sum = found ? step.references.sums(step.key, number)[step.block] : 0;
  store(step.said, told_reference(step.call, step.block, number, sum));
  const std::byte* const block =
      found ? step.references.values(number) + step.block * step.key.block_bytes : nullptr;
  for (std::uint64_t at = 0; at < step.key.block_bytes; at += sizeof(Word)) {
    const Word word = load<Word>(step.values + at);
    store(step.to + at, found ? folded_difference(word, load<Word>(block + at)) : word);
  }
}

// Which references the blocks have, and the result's place; an error where one is not sound.
Outcome settle(const RestoreStep& step) {
  Outcome outcome = device::make_outcome(StatusCode::kOk, 0);
  std::uint64_t first = kNoReference, bytes = 0;
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
  step.found[step.key.blocks] = place_result(step.references, step.key, first);
  return is_error(outcome) ? outcome : device::make_outcome(StatusCode::kOk, bytes);
}

template <typename Word>
void restore(const RestoreStep& step, std::uint64_t block, Word nan) {
  const std::uint64_t number = step.found[block], kept = step.found[step.key.blocks];
  const std::uint64_t offset = block * step.key.block_bytes;
  const bool is_own = step.own_values != nullptr && block == step.own;
  const bool adds = !is_own && number != kNoReference && number != kUnsoundReference;
  const std::byte* const reference = adds ? step.references.values(number) + offset : nullptr;
  std::byte* const keeps = kept != kNoReference ? step.references.values(kept) + offset : nullptr;
  const std::byte* const from = is_own ? step.own_values : step.values + offset;
  std::uint64_t sum = 0;
  for (std::uint64_t at = 0; at < step.key.block_bytes; at += sizeof(Word)) {
    Word word = load<Word>(from + at);
    if (adds) word = unfolded_sum(word, load<Word>(reference + at));
    if (!is_own && number == kUnsoundReference) word = nan;
    if (!is_own && number != kNoReference) store(step.values + offset + at, word);
    if (keeps != nullptr) store(keeps + at, word);
    sum += summed(word, at / sizeof(Word));
  }
  if (keeps != nullptr) step.references.sums(step.key, kept)[block] = sum;
}

}  // namespace

Status HostSlots::differ(const DifferStep& step) {
  with_any_float_dtype(settings_->dtype,
                       [&](auto kDtype) { collective::differ<codec::WordOf<kDtype>>(step); });
  return {};
}

Status HostSlots::restore(const RestoreStep& step) {
  *step.outcome = settle(step);
  with_any_float_dtype(settings_->dtype, [&](auto kDtype) {
    for (std::uint64_t block = 0; block < step.key.blocks; ++block) {
      collective::restore(step, block, codec::nan_word<kDtype>());
    }
  });
  return {};
}

}  // namespace thinwire::collective
