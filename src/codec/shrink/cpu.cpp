// Test codec 0xF0: keeps the data in a file of this machine and sends its key. Lossless for any
// data and always smaller, so that conformance suites take the compressed path whatever they send.
// Built for tests only; see tests/README.md.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "codec/codec.h"
#include "codec/registry.h"

namespace thinwire::codec {
namespace {

constexpr std::uint64_t kKeyBytes = 8;

// One file a message: process id in the high half, a running number in the low half.
std::uint64_t next_key() {
  static std::atomic<std::uint32_t> number{0};
  return static_cast<std::uint64_t>(getpid()) << 32 | number.fetch_add(1);
}

struct Name {
  char text[64];
  explicit Name(std::uint64_t key) {
    std::snprintf(text, sizeof text, "/thinwire-shrink-%u-%016llx", getuid(),
                  static_cast<unsigned long long>(key));
  }
};

// The whole array is one chunk: a second row of the chunk table would cost a short message.
Shape chunk_shape(const Shape& shape, Dtype, std::uint64_t) {
  return shape.count() == 0 ? Shape::line(1) : shape;
}

std::uint64_t bound(const Chunk&, std::uint64_t) { return kKeyBytes; }

Status io_error(const char* what) { return {StatusCode::kInternal, what}; }

Result<std::uint64_t> encode(const std::byte* source, const Chunk& chunk, std::uint64_t,
                             std::byte* out) {
  if (chunk.raw_bytes() <= kKeyBytes) return {StatusCode::kDeclined, "shrink: too short"};
  std::uint64_t key = 0;
  int file = -1;
  // Messages that nobody decoded have left their files, and process ids come again.
  do {
    key = next_key();
    file = shm_open(Name(key).text, O_CREAT | O_EXCL | O_WRONLY, 0600);
  } while (file < 0 && errno == EEXIST);
  if (file < 0) return io_error("shrink: cannot create its file");
  std::uint64_t written = 0;
  while (written < chunk.raw_bytes()) {
    const auto count = write(file, source + written, chunk.raw_bytes() - written);
    if (count <= 0) break;
    written += static_cast<std::uint64_t>(count);
  }
  close(file);
  if (written != chunk.raw_bytes()) return io_error("shrink: cannot write its file");
  store(out, key);
  return kKeyBytes;
}

// A message is decoded once: its file goes with it, and a second decode fails.
Status decode(ByteView encoded, const Chunk& chunk, std::uint64_t, std::byte* out) {
  if (encoded.size() != kKeyBytes) return {StatusCode::kDamaged, "shrink: not a key"};
  const Name name(load<std::uint64_t>(encoded.data()));
  const int file = shm_open(name.text, O_RDONLY, 0);
  if (file < 0) return {StatusCode::kDamaged, "shrink: no message with this key"};
  std::uint64_t got = 0;
  while (got < chunk.raw_bytes()) {
    const auto count = read(file, out + got, chunk.raw_bytes() - got);
    if (count <= 0) break;
    got += static_cast<std::uint64_t>(count);
  }
  close(file);
  shm_unlink(name.text);
  if (got != chunk.raw_bytes()) return {StatusCode::kDamaged, "shrink: the message is shorter"};
  return {};
}

}  // namespace

const Codec kShrink = {
    .id = kFirstTestId,
    .name = "shrink",
    .summary = "test codec: the data stays on this machine, its key travels",
    .options = "",
    .example = "shrink",
    .version = 0,
    .lossless = true,
    .fixed_size = true,
    .dtypes = (1u << kDtypeCount) - 1,
    .max_rank = kMaxRank,
    .parse = NoOptions<kShrink>::parse,
    .describe = NoOptions<kShrink>::describe,
    .check = NoOptions<kShrink>::check,
    .chunk_shape = chunk_shape,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};

}  // namespace thinwire::codec
