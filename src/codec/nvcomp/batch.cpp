#include "codec/nvcomp/batch.h"

#include <algorithm>
#include <string>

namespace thinwire::codec::nvcomp {
namespace {

constexpr std::uint64_t kAlignment = 256;

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Hands out one area after the other.
class Areas {
 public:
  explicit Areas(std::byte* start) : next_(start) {}

  template <typename Item>
  Item* take(std::uint64_t count) {
    std::byte* const area = next_;
    next_ += rounded(count * sizeof(Item));
    return reinterpret_cast<Item*>(area);
  }

 private:
  std::byte* next_;
};

}  // namespace

std::uint64_t Plan::workspace_bytes() const {
  const std::uint64_t words = rounded(8 * chunks);
  return rounded(sizeof(State)) + 6 * words + rounded(sizeof(Code) * chunks) +
         rounded(std::max(encode_temporary, decode_temporary)) + chunks * slot_bytes +
         rounded(array_bytes) + 2 * kAlignment;
}

Batch Plan::batch(std::byte* workspace) const {
  Batch batch{};
  // The state lies at the start itself, whose alignment is 16.
  batch.state = reinterpret_cast<State*>(workspace);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace) + sizeof(State);
  Areas areas(reinterpret_cast<std::byte*>(rounded(address)));
  batch.offsets = areas.take<std::uint64_t>(chunks);
  batch.sources = areas.take<const std::byte*>(chunks);
  batch.source_bytes = areas.take<std::size_t>(chunks);
  batch.targets = areas.take<std::byte*>(chunks);
  batch.target_bytes = areas.take<std::size_t>(chunks);
  batch.result_bytes = areas.take<std::size_t>(chunks);
  batch.codes = areas.take<Code>(chunks);
  batch.temporary = areas.take<std::byte>(std::max(encode_temporary, decode_temporary));
  batch.slots = areas.take<std::byte>(kAlignment + chunks * slot_bytes) + kAlignment;
  batch.array = areas.take<std::byte>(array_bytes);
  return batch;
}

Status engine_error(const Row& row, const char* what, Code code) {
  return {StatusCode::kInternal,
          std::string(row.name) + ": nvCOMP " + what + " (its code " + std::to_string(code) + ")"};
}

Result<Plan> make_plan(const Row& row, const Layout& layout, std::uint64_t parameter) {
  if (Status status = library_status(); !status.ok()) return status;
  const Dtype dtype = layout.array.dtype;
  Plan plan{};
  plan.row = &row;
  plan.encode = encode_options(row, unpack(parameter), dtype);
  plan.decode = decode_options(row, unpack(parameter), dtype);
  plan.chunks = layout.chunks;
  plan.chunk_bytes = layout.whole.count() * dtype_size(dtype);
  plan.array_bytes = layout.array.raw_bytes();
  if (plan.chunks == 0) return plan;
  const std::uint64_t most = std::min(plan.chunk_bytes, plan.array_bytes);
  const Entries& entries = entries_of(row.engine);
  std::size_t most_encoded = 0;
  Code code = entries.encode_alignments(plan.encode, &plan.encode_alignments);
  if (code == kSuccess) code = entries.decode_alignments(plan.decode, &plan.decode_alignments);
  if (code == kSuccess) code = entries.most_encoded(most, plan.encode, &most_encoded);
  if (code == kSuccess) {
    code = entries.encode_temporary(plan.chunks, most, plan.encode, &plan.encode_temporary,
                                    plan.array_bytes, nullptr);
  }
  if (code == kSuccess) {
    code = entries.decode_temporary(plan.chunks, most, plan.decode, &plan.decode_temporary,
                                    plan.array_bytes, nullptr);
  }
  if (code != kSuccess) return engine_error(row, "does not take such an array", code);
  plan.slot_bytes = rounded(std::max<std::uint64_t>(most_encoded, most));
  return plan;
}

}  // namespace thinwire::codec::nvcomp
