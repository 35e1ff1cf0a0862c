#include "message/pieces.h"

#include <algorithm>
#include <array>

#include "base/float_mode.h"
#include "base/wide_stack.h"
#include "codec/layout.h"
#include "message/allowed.h"
#include "message/host.h"

namespace thinwire::message {
namespace {

constexpr std::uint64_t kRowsAtOnce = 512;
constexpr std::uint64_t kAlignment = 64;

// The workspace, divided.
struct Room {
  std::uint64_t table;    // bytes of rows
  std::uint64_t encoded;  // of a chunk
  std::uint64_t values;

  std::uint64_t bytes() const { return table + encoded + values; }
};

std::uint64_t aligned(std::uint64_t bytes) { return ceil_div(bytes, kAlignment) * kAlignment; }

Room room_of(const Info& info, const codec::Layout& layout) {
  if (layout.chunks == 0) return {};
  const codec::Chunk largest = layout.chunk(0);  // the far ends alone are clipped
  const std::uint64_t most = most_payload_bytes(info, largest);
  return {std::min(layout.chunks, kRowsAtOnce) * codec::kTableRowBytes, aligned(most),
          aligned(largest.raw_bytes())};
}

class Decoder {
 public:
  Decoder(PieceAccess& access, const Info& info, const codec::Layout& layout, const Room& room,
          std::byte* workspace)
      : access_(access),
        info_(info),
        layout_(layout),
        encoded_(workspace),
        values_(encoded_ + room.encoded),
        table_(values_ + room.values) {}

  Status run() {
    at_ = info_.header.header_bytes() + layout_.table_bytes();
    left_ = info_.header.body_bytes - layout_.table_bytes();
    for (std::uint64_t index = 0; index < layout_.chunks; ++index) {
      Status status = index % kRowsAtOnce == 0 ? read_rows(index) : Status();
      if (status.ok()) status = decode(index);
      if (!status.ok()) return status;
    }
    if (left_ != 0) return {StatusCode::kDamaged, "bytes are left after the last chunk"};
    return {};
  }

 private:
  Status read_rows(std::uint64_t first) {
    const std::uint64_t rows = std::min(layout_.chunks - first, kRowsAtOnce);
    return access_.read(info_.header.header_bytes() + first * codec::kTableRowBytes,
                        {table_, rows * codec::kTableRowBytes});
  }

  Status decode(std::uint64_t index) {
    const TableRow row = read_row(table_ + index % kRowsAtOnce * codec::kTableRowBytes);
    if (row.bytes() > left_) return damaged(index, "reaches past the end of the frame");
    // Before it is read: the workspace holds no longer one.
    Status status = check_length(info_, layout_.chunk(index), index, row);
    if (status.ok()) status = access_.read(at_, {encoded_, row.bytes()});
    if (status.ok()) {
      const DefaultFloatMode mode;
      status = on_wide_stack([&] {
        return decode_chunk(info_, layout_, index, row, {encoded_, row.bytes()}, values_);
      });
    }
    at_ += row.bytes();
    left_ -= row.bytes();
    return status.ok() ? write(index) : status;
  }

  Status write(std::uint64_t index) {
    if (!layout_.in_boxes) {
      return access_.write(layout_.raw_offset(index), {values_, layout_.chunk(index).raw_bytes()});
    }
    const codec::Box box = layout_.box(index);
    const std::uint64_t value_bytes = dtype_size(layout_.array.dtype);
    Status status;
    codec::for_each_row(box, value_bytes, [&](std::uint64_t to, std::uint64_t from) {
      if (status.ok()) status = access_.write(to, {values_ + from, box.x * value_bytes});
    });
    return status;
  }

  PieceAccess& access_;
  const Info& info_;
  const codec::Layout& layout_;
  std::byte* encoded_;
  std::byte* values_;
  std::byte* table_;
  std::uint64_t at_ = 0;    // of the next chunk's first byte in the frame
  std::uint64_t left_ = 0;  // of the body from there on
};

}  // namespace

Result<Info> decode_in_pieces(PieceAccess& access, std::uint64_t length, const frame::Mark& mark,
                              MutableByteView workspace, std::uint64_t* needed) {
  *needed = 0;
  std::array<std::byte, frame::kMaxHeaderBytes> start{};
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(length, start.size()));
  Status status = access.read(0, MutableByteView(start).first(count));
  if (!status.ok()) return status;
  auto info = find_coder(frame::unpack_start(ByteView(start).first(count), length, mark), mark);
  if (!info.ok()) return info;
  status = check_allowed(*info->codec);
  if (status.ok()) status = check_usable(*info->codec, false);
  if (!status.ok()) return status;
  const codec::Layout layout = info->layout();
  const Room room = room_of(*info, layout);
  *needed = room.bytes();
  if (workspace.size() < *needed) {
    return {StatusCode::kTooSmall, "the pieces need a workspace of " + std::to_string(*needed) +
                                       " bytes, it has " + std::to_string(workspace.size())};
  }
  status = Decoder(access, *info, layout, room, workspace.data()).run();
  if (!status.ok()) return status;
  return info;
}

}  // namespace thinwire::message
