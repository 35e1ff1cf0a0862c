// Several blocks that one launch codes: arrays of one layout, each with a frame, a workspace and an
// outcome of its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thinwire::codec {

struct Block {
  const std::byte* from = nullptr;  // the values of an encode, the frame of a decode
  std::byte* to = nullptr;
  std::uint64_t number = 0;  // in its slot's header, and for whom it is: of an encode that seals
  std::int64_t rank = 0;
};

// Given to a kernel by value. The outcomes follow each other from the job's on; the workspaces lie
// `workspace_stride` bytes apart, the job's first.
struct Blocks {
  static constexpr int kMost = 64;

  int count = 0;
  std::uint64_t workspace_stride = 0;
  // Bytes that an encode may write from the beginning of each frame on. A longer frame is cut off
  // there; its outcome has its whole size.
  std::uint64_t room = 0;
  Block at[kMost];
};

}  // namespace thinwire::codec
