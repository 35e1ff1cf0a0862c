// Decoding without memory for the message: the frame is read and the array written a chunk at a
// time, so that neither has to lie in memory as a whole.
#pragma once

#include <cstdint>

#include "message/message.h"

namespace thinwire::message {

// Access to where the frame comes from and the array goes to; a failure ends the decode.
class PieceAccess {
 public:
  virtual ~PieceAccess() = default;

  // Bytes of the frame from `offset` on. Nothing is read twice, but for the header.
  virtual Status read(std::uint64_t offset, MutableByteView to) = 0;

  // Bytes of the array that begin `offset` bytes from its start.
  virtual Status write(std::uint64_t offset, ByteView from) = 0;
};

// As decode() of a frame of `length` bytes, on the host. kTooSmall, before anything is written,
// where the workspace is below `*needed` bytes: rows of the table, and a chunk before and after.
Result<Info> decode_in_pieces(PieceAccess& access, std::uint64_t length, const frame::Mark& mark,
                              MutableByteView workspace, std::uint64_t* needed);

}  // namespace thinwire::message
