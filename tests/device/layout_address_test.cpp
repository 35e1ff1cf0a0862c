// The addresses that the pack kernels compute, against a plain walk through the segments.
#include "device/memory_layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace thinwire::device {
namespace {

struct Element {
  std::vector<std::int64_t> offsets;
  std::vector<std::uint64_t> bytes;
  std::int64_t extent;
};

LayoutView view_of(const Element& element, std::vector<std::uint64_t>& starts, bool uniform) {
  starts.assign(1, 0);
  for (const std::uint64_t bytes : element.bytes) starts.push_back(starts.back() + bytes);
  LayoutView view{};
  view.offsets = element.offsets.data();
  view.starts = starts.data();
  view.segments = element.offsets.size();
  view.element_bytes = starts.back();
  view.extent = element.extent;
  if (uniform) {
    view.uniform_bytes = element.bytes[0];
    view.uniform_stride = element.offsets.size() > 1 ? element.offsets[1] - element.offsets[0] : 0;
  }
  return view;
}

void expect_walk(const Element& element, bool uniform) {
  std::vector<std::uint64_t> starts;
  const LayoutView view = view_of(element, starts, uniform);
  std::uint64_t at = 0;
  for (std::int64_t copy = 0; copy < 5; ++copy) {
    for (std::size_t segment = 0; segment < element.offsets.size(); ++segment) {
      for (std::uint64_t byte = 0; byte < element.bytes[segment]; ++byte, ++at) {
        ASSERT_EQ(address_of(view, at), copy * element.extent + element.offsets[segment] +
                                            static_cast<std::int64_t>(byte))
            << at;
      }
    }
  }
}

TEST(LayoutAddress, OneSegment) { expect_walk({{0}, {12}, 16}, false); }
TEST(LayoutAddress, Vector) { expect_walk({{0, 40, 80, 120}, {8, 8, 8, 8}, 160}, true); }
TEST(LayoutAddress, VectorBySearch) { expect_walk({{0, 40, 80}, {8, 8, 8}, 160}, false); }
TEST(LayoutAddress, NegativeStride) { expect_walk({{80, 40, 0}, {8, 8, 8}, -160}, true); }
TEST(LayoutAddress, Irregular) {
  expect_walk({{4, -20, 100, 9, 50}, {3, 17, 1, 8, 40}, 333}, false);
}

}  // namespace
}  // namespace thinwire::device
