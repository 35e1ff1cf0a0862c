#include "buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace legality {
namespace {

constexpr MPI_Aint kAround = 64;

void span_of(const std::vector<Piece>& pieces, MPI_Aint& low, MPI_Aint& high) {
  for (const Piece& piece : pieces) {
    if (piece.elements() == 0) continue;
    const MPI_Aint last = piece.offset + (piece.items - 1) * piece.type->extent();
    low = std::min(low, piece.offset + piece.type->lowest());
    high = std::max(high, last + piece.type->highest());
  }
}

template <typename Float>
bool near_by(const unsigned char* got, const unsigned char* wanted, double tolerance) {
  Float left, right;
  std::memcpy(&left, got, sizeof left), std::memcpy(&right, wanted, sizeof right);
  if (std::memcmp(got, wanted, sizeof left) == 0) return true;
  if (std::isinf(tolerance)) return true;
  return std::fabs(static_cast<double>(left) - static_cast<double>(right)) <= tolerance;
}

}  // namespace

std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  const unsigned char* at = static_cast<const unsigned char*>(data);
  std::uint64_t sum = 0x2545f4914f6cdd1du + bytes, word = 0;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    std::memcpy(&word, at, 8);
    sum = (sum ^ word) * 0x9fb21c651e98df25u;
    sum ^= sum >> 32;
  }
  word = 0;
  if (bytes > 0) std::memcpy(&word, at, bytes);
  return mix(sum ^ word);
}

Buffer::Buffer(std::shared_ptr<Type> type, int items, std::uint64_t key)
    : Buffer(std::vector<Piece>{{std::move(type), 0, items}}, key) {}

Buffer::Buffer(std::vector<Piece> pieces, std::uint64_t key)
    : pieces_(std::move(pieces)), key_(key) {
  MPI_Aint low = 0, high = 0;
  span_of(pieces_, low, high);
  origin_ = kAround + (-low + 63) / 64 * 64;
  bytes_ = static_cast<std::size_t>(origin_ + high + kAround);
  mapped_ = (bytes_ + 4095) / 4096 * 4096;
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) must(MPI_ERR_NO_MEM, "mmap");
  memory_ = static_cast<unsigned char*>(memory);
  image_.resize(bytes_);
  reset();
}

void Buffer::reset() {
  for (std::size_t at = 0; at < bytes_; at += 8) {
    const std::uint64_t word = mix(key_ + at);
    std::memcpy(&image_[at], &word, std::min<std::size_t>(8, bytes_ - at));
  }
  std::memcpy(memory_, image_.data(), bytes_);
}

Buffer::~Buffer() { munmap(memory_, mapped_); }

MPI_Aint Buffer::place_of(const Piece& piece, int element) const {
  const int each = piece.type->elements();
  const Entry& entry = piece.type->entries()[static_cast<std::size_t>(element % each)];
  return origin_ + piece.offset + (element / each) * piece.type->extent() + entry.at;
}

Base Buffer::base_of(const Piece& piece, int element) const {
  return piece.type->entries()[static_cast<std::size_t>(element % piece.type->elements())].base;
}

void Buffer::expect_number(int piece, int element, std::int64_t value, int part) {
  const Piece& one = pieces_[static_cast<std::size_t>(piece)];
  const int each = size_of(base_of(one, element)) / 2;
  void* to = &image_[static_cast<std::size_t>(place_of(one, element) + part * each)];
  const float as_float = static_cast<float>(value);
  const double as_double = static_cast<double>(value);
  const int as_int = static_cast<int>(value);
  switch (base_of(one, element)) {
    case Base::kFloat:
    case Base::kComplex:
      std::memcpy(to, &as_float, sizeof as_float);
      break;
    case Base::kDouble:
    case Base::kDoubleComplex:
      std::memcpy(to, &as_double, sizeof as_double);
      break;
    case Base::kInt:
      std::memcpy(to, &as_int, sizeof as_int);
      break;
    default:
      std::memcpy(to, &value, sizeof value);
      break;
  }
}

void Buffer::fill_value(int piece, int element, const Content& content, int number) {
  const Piece& one = pieces_[static_cast<std::size_t>(piece)];
  const std::size_t at = static_cast<std::size_t>(place_of(one, element));
  write_value(content, number, base_of(one, element), &image_[at]);
  std::memcpy(memory_ + at, &image_[at], static_cast<std::size_t>(size_of(base_of(one, element))));
}

void Buffer::expect(const Content& content, int piece, int elements) {
  const Piece& one = pieces_[static_cast<std::size_t>(piece)];
  for (int element = 0; element < std::min(elements, one.elements()); ++element) {
    write_value(content, element, base_of(one, element),
                &image_[static_cast<std::size_t>(place_of(one, element))]);
  }
}

void Buffer::fill(const Content& content, int piece, int elements) {
  for (int element = 0; element < elements; ++element) fill_value(piece, element, content, element);
}

void Buffer::read_only() { mprotect(memory_, mapped_, PROT_READ); }
void Buffer::writable() { mprotect(memory_, mapped_, PROT_READ | PROT_WRITE); }

bool Buffer::near(const Piece& piece, int element, double tolerance) const {
  const std::size_t at = static_cast<std::size_t>(place_of(piece, element));
  const unsigned char *got = memory_ + at, *wanted = &image_[at];
  switch (base_of(piece, element)) {
    case Base::kFloat:
      return near_by<float>(got, wanted, tolerance);
    case Base::kDouble:
      return near_by<double>(got, wanted, tolerance);
    case Base::kComplex:
      return near_by<float>(got, wanted, tolerance) &&
             near_by<float>(got + 4, wanted + 4, tolerance);
    case Base::kDoubleComplex:
      return near_by<double>(got, wanted, tolerance) &&
             near_by<double>(got + 8, wanted + 8, tolerance);
    default:
      return true;
  }
}

void Buffer::check(Record& record, const char* what, double codings) const {
  std::vector<unsigned char> kept(memory_, memory_ + bytes_);
  const bool lossy = options.lossy && codings > 0;
  int far = -1;
  for (const Piece& piece : pieces_) {
    if (codings == 0) break;
    for (int element = 0; element < piece.elements(); ++element) {
      const Base base = base_of(piece, element);
      if (!is_float(base)) continue;
      if (lossy && far < 0 && !near(piece, element, codings * options.tolerance)) far = element;
      const std::size_t at = static_cast<std::size_t>(place_of(piece, element));
      std::memcpy(&kept[at], &image_[at], static_cast<std::size_t>(size_of(base)));
    }
  }
  if (far >= 0)
    complain(std::string(what) + ": element " + std::to_string(far) + " is too far off");
  const unsigned char* got = lossy ? kept.data() : memory_;
  if (std::memcmp(got, image_.data(), bytes_) != 0) {
    const std::size_t at = static_cast<std::size_t>(
        std::mismatch(image_.begin(), image_.end(), got).first - image_.begin());
    complain(std::string(what) + ": byte " + std::to_string(static_cast<MPI_Aint>(at) - origin_) +
             " of " + std::to_string(bytes_ - static_cast<std::size_t>(origin_ + kAround)) +
             " is not as it should be");
  }
  record.add(hash_bytes(memory_, bytes_), hash_bytes(kept.data(), bytes_));
}

void Buffer::forget_from(int first) {
  for (const Piece& piece : pieces_) {
    for (int element = std::max(first, 0); element < piece.elements(); ++element) {
      const std::size_t at = static_cast<std::size_t>(place_of(piece, element));
      std::memcpy(memory_ + at, &image_[at],
                  static_cast<std::size_t>(size_of(base_of(piece, element))));
    }
    first -= piece.elements();
  }
}

std::uint64_t Buffer::hash_of(int piece, int elements) const {
  const Piece& one = pieces_[static_cast<std::size_t>(piece)];
  std::uint64_t sum = 0;
  for (int element = 0; element < elements; ++element) {
    sum = join(sum, hash_bytes(memory_ + place_of(one, element),
                               static_cast<std::size_t>(size_of(base_of(one, element)))));
  }
  return sum;
}

}  // namespace legality
