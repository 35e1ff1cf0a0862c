#include "message/sample.h"

#include <algorithm>

namespace thinwire::message {
namespace {

// 256 values of fp32. A run begins with what no codec can predict: shorter ones would say so too
// often.
constexpr std::uint64_t kRunBytes = 1024;
constexpr std::uint64_t kLeastRuns = 16;
constexpr std::uint64_t kRunsShare = 256;  // one of so many

constexpr std::uint64_t kLeastBoxes = 4;
constexpr std::uint64_t kMostBoxes = 16;
constexpr std::uint64_t kBoxesShare = 8;
// In each box, for codecs that see lines.
constexpr std::uint64_t kBoxRunBytes = 2048;
constexpr std::uint64_t kRunsOfBox = 2;

struct Spread {
  std::uint64_t first, step;
};

// `count` of `all`, evenly. The step is odd: what returns in an array does so after even numbers
// most often, and would be met at the same point each time.
Spread spread(std::uint64_t all, std::uint64_t count) {
  const std::uint64_t step = std::max<std::uint64_t>((all / count - 1) | 1, 1);
  return {(all - (count - 1) * step) / 2, step};
}

void place_runs(Sample& sample, std::uint64_t count, std::uint64_t run_bytes) {
  sample.places.count = static_cast<std::uint32_t>(count);
  sample.places.row_bytes = run_bytes;
  sample.array.shape.extent[0] = count * run_bytes / dtype_size(sample.array.dtype);
}

// As many runs in each box, spread over its rows: what is alike in one row may not be so in others.
void place_in_boxes(Sample& sample, const device::Places& boxes, std::uint64_t raw_bytes) {
  const std::uint64_t rows = std::uint64_t{boxes.planes} * boxes.rows;
  const std::uint64_t each =
      std::max(kRunsOfBox, kLeastRuns * kRunBytes / kBoxRunBytes / boxes.count);
  const Spread at = spread(rows, std::min(each, rows));
  std::uint64_t count = 0;
  for (std::uint32_t box = 0; box < boxes.count; ++box) {
    for (std::uint64_t run = 0; run < std::min(each, rows); ++run) {
      const std::uint64_t row = at.first + run * at.step;
      const std::uint64_t offset = boxes.offset[box] + row / boxes.rows * boxes.plane_step +
                                   row % boxes.rows * boxes.row_step;
      sample.places.offset[count++] = std::min(offset, raw_bytes - kBoxRunBytes);
    }
  }
  place_runs(sample, count, kBoxRunBytes);
}

}  // namespace

Sample sample_runs(const codec::Chunk& array, const Sample* boxes) {
  Sample sample{{array.dtype, Shape::line(array.shape.count())}, {}};
  const std::uint64_t runs = array.raw_bytes() / kRunBytes;
  if (runs <= kLeastRuns) return sample;
  if (boxes != nullptr && !boxes->is_whole()) {
    place_in_boxes(sample, boxes->places, array.raw_bytes());
    return sample;
  }
  const std::uint64_t count =
      std::clamp<std::uint64_t>(runs / kRunsShare, kLeastRuns, device::kMostPlaces);
  const Spread at = spread(runs, count);
  place_runs(sample, count, kRunBytes);
  for (std::uint64_t run = 0; run < count; ++run) {
    sample.places.offset[run] = (at.first + run * at.step) * kRunBytes;
  }
  return sample;
}

Sample sample_boxes(const codec::Chunk& array, const Coder& coder) {
  const codec::Layout layout = coder.layout(array);
  Sample sample{array, {}};
  // Along each axis the boxes that are not clipped; if there are none, the one that is.
  std::uint64_t grid[kMaxRank], whole[kMaxRank], boxes = 1;
  const int rank = layout.array.shape.rank;
  for (int axis = 0; axis < rank; ++axis) {
    const auto each = static_cast<std::size_t>(axis);
    grid[axis] = layout.grid.extent[each];
    whole[axis] =
        std::max<std::uint64_t>(layout.array.shape.extent[each] / layout.whole.extent[each], 1);
    boxes *= whole[axis];
  }
  const std::uint64_t most = std::clamp(layout.chunks / kBoxesShare, kLeastBoxes, kMostBoxes);
  if (layout.chunks <= most) return sample;
  const std::uint64_t count = std::min(most, boxes);
  const Spread at = spread(boxes, count);
  const std::uint64_t value_bytes = dtype_size(array.dtype);
  codec::Box box{};
  for (std::uint64_t place = 0; place < count; ++place) {
    std::uint64_t rest = at.first + place * at.step, index = 0, below = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      index += rest % whole[axis] * below;
      rest /= whole[axis];
      below *= grid[axis];
    }
    box = layout.box(index);
    sample.places.offset[place] = box.offset * value_bytes;
  }
  sample.places.count = static_cast<std::uint32_t>(count);
  sample.places.planes = box.z;
  sample.places.rows = box.y;
  sample.places.row_bytes = box.x * value_bytes;
  sample.places.plane_step = box.plane * value_bytes;
  sample.places.row_step = box.row * value_bytes;
  // A plane alone has two axes to the codec as well.
  sample.array.shape = box.z > 1 ? Shape{.rank = 3, .extent = {count * box.z, box.y, box.x}}
                                 : Shape{.rank = 2, .extent = {count * box.y, box.x}};
  return sample;
}

}  // namespace thinwire::message
