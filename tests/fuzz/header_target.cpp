// header: any fields under a right checksum. What is sound, unpacks to the same fields; what is
// not, is refused, at every length of what is there.
#include "base/checksum.h"
#include "frame/header.h"
#include "fuzz/all_targets.h"
#include "fuzz/input.h"
#include "thinwire/thinwire.h"

namespace thinwire::fuzz {
namespace {

constexpr std::size_t kMostBehind = 64;

// The header's bytes as the input has them, mark and checksum right, and `behind` bytes of body.
Bytes read_header(Reader& reader) {
  const int rank = 1 + reader.take<std::uint8_t>() % kMaxRank;
  const std::size_t behind = reader.take<std::uint8_t>() % (kMostBehind + 1);
  Bytes bytes(frame::kFixedHeaderBytes + 8 * (rank - 1u) + behind);
  for (std::size_t at = 16; at < bytes.size(); ++at) bytes[at] = reader.take<std::byte>();
  store(bytes.data() + 20, static_cast<std::uint8_t>(rank));
  reseal(bytes, frame::file_mark(), true);
  return bytes;
}

// True for a header that is sound by spec/frame.md, worked out another way than the library does.
bool is_sound(const Bytes& bytes) {
  const auto field = [&](std::size_t at) { return load<std::uint64_t>(bytes.data() + at); };
  const auto byte = [&](std::size_t at) { return load<std::uint8_t>(bytes.data() + at); };
  const std::size_t rank = byte(20);
  const std::uint8_t version = byte(16);
  const std::uint8_t flags = byte(21);
  const bool has_fill = version == 2 && (flags & 4) != 0;
  const std::size_t header_bytes = 56 + 8 * (rank - 1) + (has_fill ? 8 : 0);
  if (header_bytes > bytes.size() || version > 2 || byte(19) > 6 || byte(22) != 0 || byte(23) != 0)
    return false;
  // Version 1 has "as one line" besides checksums, version 2 missing values too.
  if (flags > (2 << version) - 1) return false;
  if (field(40) > bytes.size() - header_bytes) return false;
  constexpr std::uint64_t kElementBytes[] = {1, 4, 8, 2, 2, 1, 1};
  const int value_bits = static_cast<int>(8 * kElementBytes[byte(19)]);
  if (has_fill && value_bits < 64 && field(header_bytes - 8) >> value_bits != 0) return false;
  std::uint64_t left = UINT64_MAX / kElementBytes[byte(19)];  // elements that 64 bits can count
  bool zero = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::uint64_t extent = field(axis == 0 ? 24 : 56 + 8 * (axis - 1));
    zero = zero || extent == 0;
    if (!zero && extent > left) return false;
    if (!zero) left /= extent;
  }
  return !zero || rank == 1;
}

void check_c_abi(const Bytes& bytes, bool sound) {
  tw_message_info info{};
  info.size = sizeof info;
  const tw_status status = tw_message_inspect(bytes.data(), bytes.size(), nullptr, &info);
  if (!sound) {
    THINWIRE_FUZZ_CHECK(status == TW_DAMAGED || status == TW_VERSION);
    return;
  }
  if (status == TW_OK) {
    THINWIRE_FUZZ_CHECK(info.frame_bytes <= bytes.size());
    tw_codec* codec = nullptr;
    THINWIRE_FUZZ_CHECK(tw_codec_create(info.whole_spec, &codec) == TW_OK);
    THINWIRE_FUZZ_CHECK(tw_codec_id(codec) == static_cast<std::int32_t>(info.codec_id));
    tw_codec_destroy(codec);
  } else {
    // The codec that it names is not here, of another version, or not of its dtype, rank or
    // parameter.
    THINWIRE_FUZZ_CHECK(status == TW_UNSUPPORTED || status == TW_VERSION || status == TW_DAMAGED);
  }
}

}  // namespace

void run_header(const Target&, ByteView input) {
  Reader reader(input);
  const Bytes bytes = read_header(reader);
  const frame::Mark mark = frame::file_mark();
  const auto header = frame::unpack(bytes, mark);
  THINWIRE_FUZZ_CHECK(header.ok() == is_sound(bytes));
  check_c_abi(bytes, header.ok());
  if (!header.ok()) return;
  THINWIRE_FUZZ_CHECK(header->frame_bytes() <= bytes.size());

  Bytes packed(header->header_bytes());
  frame::pack(*header, mark, packed.data());
  THINWIRE_FUZZ_CHECK(same(packed, ByteView(bytes).first(packed.size())));
  const std::size_t cut = reader.take<std::uint8_t>() % bytes.size();
  const WatchedBuffer start(ByteView(bytes).first(cut));
  const auto of_start = frame::unpack_start(start.view(), bytes.size(), mark);
  THINWIRE_FUZZ_CHECK(of_start.ok() == (cut >= packed.size()));
  THINWIRE_FUZZ_CHECK(frame::unpack(bytes, frame::job_mark({})).status().code() ==
                      StatusCode::kNotAFrame);
}

// Each sample frame's header, in the order of read_header().
std::vector<Bytes> header_seeds(const Target&) {
  std::vector<Bytes> seeds;
  std::size_t number = 0;
  for (const Bytes& frame : sample_frames(frame::file_mark())) {
    if (++number % 7 != 0 || frame.size() > 400) continue;
    const auto rank = load<std::uint8_t>(frame.data() + 20);
    Bytes seed = {static_cast<std::byte>(rank - 1), std::byte{kMostBehind}};
    const std::size_t bytes = frame::kFixedHeaderBytes + 8 * (rank - 1u);
    seed.insert(seed.end(), frame.begin() + 16, frame.begin() + static_cast<std::ptrdiff_t>(bytes));
    // A body that fits after it.
    store(seed.data() + 2 + 40 - 16, std::uint64_t{number % kMostBehind});
    seeds.push_back(seed);
    // The same array coded as one line, which version 1 alone can say.
    store(seed.data() + 2, std::uint8_t{1});
    seed[2 + 21 - 16] |= std::byte{2};
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

}  // namespace thinwire::fuzz
