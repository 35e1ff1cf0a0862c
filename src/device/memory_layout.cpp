#include "device/memory_layout.h"

#include <numeric>

#include "device/place.h"
#include "device/work_stream.h"

namespace thinwire::device {
namespace {

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// Segments without the empty ones, and neighbours in memory as one.
std::vector<Segment> merge(const Segment* segments, std::uint64_t count) {
  std::vector<Segment> merged;
  for (std::uint64_t at = 0; at < count; ++at) {
    const Segment& next = segments[at];
    if (next.bytes == 0) continue;
    const auto end = [](const Segment& segment) {
      return static_cast<std::uint64_t>(segment.offset) + segment.bytes;
    };
    if (!merged.empty() && end(merged.back()) == static_cast<std::uint64_t>(next.offset)) {
      merged.back().bytes += next.bytes;
    } else {
      merged.push_back(next);
    }
  }
  return merged;
}

void find_uniformity(const std::vector<Segment>& segments, LayoutView& view) {
  if (segments.empty()) return;
  const std::int64_t stride = segments.size() > 1 ? segments[1].offset - segments[0].offset : 0;
  for (std::uint64_t at = 0; at < segments.size(); ++at) {
    if (segments[at].bytes != segments[0].bytes ||
        segments[at].offset != segments[0].offset + static_cast<std::int64_t>(at) * stride) {
      return;
    }
  }
  view.uniform_bytes = segments[0].bytes;
  view.uniform_stride = stride;
}

}  // namespace

Result<std::unique_ptr<MemoryLayout>> MemoryLayout::create(const Segment* segments,
                                                           std::uint64_t count,
                                                           std::int64_t extent) {
  auto layout = std::make_unique<MemoryLayout>();
  std::uint64_t total = 0;
  std::uint64_t common = std::gcd<std::uint64_t>(16, magnitude(extent));
  const std::vector<Segment> merged = merge(segments, count);
  for (const Segment& segment : merged) {
    layout->offsets_.push_back(segment.offset);
    layout->starts_.push_back(total);
    if (__builtin_add_overflow(total, segment.bytes, &total)) {
      return {StatusCode::kInvalidArgument, "the layout's size overflows"};
    }
    common = std::gcd(std::gcd(common, magnitude(segment.offset)), segment.bytes);
  }
  layout->starts_.push_back(total);
  layout->alignment_ = common;
  layout->view_ = {.offsets = layout->offsets_.data(),
                   .starts = layout->starts_.data(),
                   .segments = merged.size(),
                   .element_bytes = total,
                   .extent = extent,
                   .uniform_bytes = 0,
                   .uniform_stride = 0};
  find_uniformity(merged, layout->view_);
  return layout;
}

// The arrays lie after each other in one buffer.
Result<LayoutView> MemoryLayout::view_on(int device) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t offset_bytes = offsets_.size() * sizeof(std::int64_t);
  const std::uint64_t start_bytes = starts_.size() * sizeof(std::uint64_t);
  auto found = copies_.find(device);
  if (found == copies_.end()) {
    auto copy = acquire_device(device, offset_bytes + start_bytes);
    if (!copy.ok()) return copy.status();
    auto work = acquire_work_stream(device, 0);
    if (!work.ok()) return work.status();
    Status status = work->copy(copy->data(), offsets_.data(), offset_bytes);
    if (status.ok()) status = work->copy(copy->data() + offset_bytes, starts_.data(), start_bytes);
    if (status.ok()) status = work->finish();
    if (!status.ok()) return status;
    found = copies_.emplace(device, std::move(*copy)).first;
  }
  LayoutView view = view_;
  view.offsets = reinterpret_cast<const std::int64_t*>(found->second.data());
  view.starts = reinterpret_cast<const std::uint64_t*>(found->second.data() + offset_bytes);
  return view;
}

template <typename Launch>
Status MemoryLayout::run(const std::byte* elements, const std::byte* packed, std::uint64_t bytes,
                         Launch&& launch) {
  if (bytes == 0) return {};
  if (view_.element_bytes == 0) {
    return {StatusCode::kInvalidArgument, "the layout has no bytes of its own"};
  }
  auto place = place_of(elements);
  if (!place.ok()) return place.status();
  if (!place->on_device()) {
    return {StatusCode::kInvalidArgument, "the elements do not lie in GPU memory"};
  }
  auto view = view_on(place->device);
  if (!view.ok()) return view.status();
  auto work = acquire_work_stream(place->device, 0);
  if (!work.ok()) return work.status();
  const std::uint64_t addresses =
      reinterpret_cast<std::uintptr_t>(elements) | reinterpret_cast<std::uintptr_t>(packed);
  const auto unit = static_cast<int>(std::gcd(std::gcd(alignment_, addresses), bytes));
  if (Status status = launch(*view, unit, work->stream()); !status.ok()) return status;
  return work->finish();
}

Status MemoryLayout::pack(const std::byte* elements, std::byte* packed, std::uint64_t bytes) {
  return run(elements, packed, bytes, [&](const LayoutView& view, int unit, StreamHandle stream) {
    return enqueue_pack(view, elements, packed, bytes, unit, stream);
  });
}

Status MemoryLayout::unpack(const std::byte* packed, std::byte* elements, std::uint64_t bytes) {
  return run(elements, packed, bytes, [&](const LayoutView& view, int unit, StreamHandle stream) {
    return enqueue_unpack(view, packed, elements, bytes, unit, stream);
  });
}

}  // namespace thinwire::device
