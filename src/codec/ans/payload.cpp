#include "codec/ans/payload.h"

#include <algorithm>
#include <array>

#include "codec/ans/format.h"
#include "codec/ans/model.h"
#include "codec/ans/planes.h"
#include "codec/ans/states.h"

namespace thinwire::codec::ans {
namespace {

// The models of those planes of a chunk that are coded.
class Models {
 public:
  bool has(std::uint32_t plane) const { return (coded_ >> plane & 1) != 0; }
  bool is_mixed(std::uint32_t plane) const { return has(plane) && models_[plane].is_mixed(); }
  bool has_states() const {
    for (std::uint32_t plane = 0; plane < kPlanes; ++plane) {
      if (is_mixed(plane)) return true;
    }
    return false;
  }
  std::uint32_t coded() const { return coded_; }

  Model& operator[](std::uint32_t plane) { return models_[plane]; }
  const Model& operator[](std::uint32_t plane) const { return models_[plane]; }
  void add(std::uint32_t plane) { coded_ |= 1u << plane; }

  static constexpr std::uint32_t kPlanes = 8;

 private:
  std::array<Model, kPlanes> models_;
  std::uint32_t coded_ = 0;
};

std::byte* fill_up(const std::byte* begin, std::byte* end) {
  return std::fill_n(end, filled(static_cast<std::uint32_t>(end - begin)) - (end - begin),
                     std::byte{0});
}

// Head and states are written after they are known.
std::byte* write_front(const Models& models, Planes& planes, std::uint32_t count, std::byte* out) {
  std::byte* const tables = out + kHeadBytes;
  std::byte* next = tables;
  for (std::uint32_t plane = 0; plane < count; ++plane) {
    if (models.has(plane)) next = models[plane].write(next);
  }
  next = fill_up(tables, next);
  for (std::uint32_t plane = 0; plane < count; ++plane) {
    if (models.has(plane)) continue;
    const ByteView bytes = planes.of(plane);
    next = fill_up(next, std::copy(bytes.begin(), bytes.end(), next));
  }
  return next;
}

static_assert(kMostFrontBytes >= kBehindWords);  // bytes that may be written past `end`

// Writes the states and the words; returns the end of the words, nullptr if they do not fit before
// `end`.
std::byte* write_words(const Models& models, Planes& planes, std::byte* out, const std::byte* end) {
  States states;
  Steps steps;
  states.fill(kLeastState);
  std::byte* const words = out + kStateBytes;
  if (end < words) return nullptr;
  end = std::min<const std::byte*>(end, words + 2 * kMostWords);
  std::byte* next = words;
  for (std::uint32_t plane = 0; plane < Models::kPlanes && next != nullptr; ++plane) {
    if (!models.is_mixed(plane)) continue;
    models[plane].make(steps);
    next = stepper().take_plane(states, planes.of(plane), steps, next, end);
  }
  std::copy_n(reinterpret_cast<const std::byte*>(states.data()), kStateBytes, out);
  return next;
}

// ---- Decoding ----

Status damaged(const char* what) { return {StatusCode::kDamaged, what}; }

// Takes them off the front of `bytes`.
bool read_models(const Head& head, ByteView& bytes, Models& models) {
  const std::size_t all = bytes.size();
  for (std::uint32_t plane = 0; plane < Models::kPlanes; ++plane) {
    if (!is_coded(head, plane)) continue;
    if (!models[plane].read(bytes)) return false;
    models.add(plane);
  }
  const std::size_t filling = (4 - (all - bytes.size()) % 4) % 4;
  if (bytes.size() < filling) return false;
  bytes = bytes.subspan(filling);
  return true;
}

// Finds each plane's bytes, and takes the stored planes off `bytes`, where they stay. False if
// `bytes` is too short.
bool read_stored(const Models& models, std::uint32_t count, ByteView& bytes, Planes& planes) {
  for (std::uint32_t plane = 0; plane < count; ++plane) {
    planes.place[plane] = planes.of(plane).data();
    if (models.has(plane)) continue;
    if (bytes.size() < filled(planes.size_of(plane))) return false;
    planes.place[plane] = bytes.data();
    bytes = bytes.subspan(filled(planes.size_of(plane)));
  }
  return true;
}

// `bytes` are states and words.
bool read_coded(const Models& models, ByteView bytes, Planes& planes) {
  States states;
  std::copy_n(bytes.data(), kStateBytes, reinterpret_cast<std::byte*>(states.data()));
  const auto is_state = [](std::uint32_t state) {
    return state >= kLeastState && state < kStateEnd;
  };
  if (!std::ranges::all_of(states, is_state)) return false;
  ByteView words = bytes.subspan(kStateBytes);
  Slots slots;
  for (std::uint32_t plane = Models::kPlanes; plane-- > 0;) {
    if (!models.is_mixed(plane)) continue;
    models[plane].make(slots);
    if (!stepper().give_back_plane(states, planes.of(plane), slots, words)) return false;
  }
  const auto is_least = [](std::uint32_t state) { return state == kLeastState; };
  return words.empty() && std::ranges::all_of(states, is_least);
}

}  // namespace

template <typename Word>
std::uint64_t encode_values(const std::byte* source, std::uint32_t values, std::uint32_t tuple,
                            std::byte* out) {
  const std::uint64_t raw = std::uint64_t{values} * sizeof(Word);
  Planes planes;
  split<Word>(source, values, tuple, planes);
  Models models;
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if (models[plane].take(planes.of(plane))) models.add(plane);
  }
  Head head{
      .words = 0, .kept = planes.kept, .coded = models.coded(), .is_sparse = planes.is_sparse};
  std::byte* end = write_front(models, planes, sizeof(Word), out);
  if (models.has_states()) {
    const std::byte* const words = end + kStateBytes;
    end = write_words(models, planes, end, out + raw);
    if (end == nullptr) return raw;
    head.words = static_cast<std::uint32_t>(end - words) / 2;
  }
  store(out, pack(head));
  return std::min(raw, static_cast<std::uint64_t>(end - out));
}

template <typename Word>
Status decode_values(ByteView encoded, std::uint32_t values, std::uint32_t tuple, std::byte* out) {
  if (encoded.size() < kHeadBytes) return damaged("ans: shorter than its head");
  const auto word = load<std::uint64_t>(encoded.data());
  if (!is_sound<Word>(word, values)) return damaged("ans: its head is none of such a chunk");
  const Head head = unpack(word);
  Planes planes;
  planes.values = values;
  planes.kept = head.kept;
  planes.is_sparse = head.is_sparse;
  ByteView bytes = encoded.subspan(kHeadBytes);
  Models models;
  if (!read_models(head, bytes, models)) return damaged("ans: a table is none");
  if (!read_stored(models, sizeof(Word), bytes, planes)) {
    return damaged("ans: shorter than its planes");
  }
  const bool has = models.has_states();
  if (bytes.size() != (has ? kStateBytes : 0) + std::size_t{2} * head.words ||
      (!has && head.words != 0)) {
    return damaged("ans: its length is not what its head says");
  }
  for (std::uint32_t plane = 0; plane < sizeof(Word); ++plane) {
    if (!models.has(plane) || models[plane].is_mixed()) continue;
    std::ranges::fill(planes.of(plane), std::byte{models[plane].only_byte()});
  }
  if (has && !read_coded(models, bytes, planes)) return damaged("ans: its words are no planes");
  if (!join<Word>(planes, tuple, out)) return damaged("ans: its planes are of other lengths");
  return {};
}

#define THINWIRE_WORD(Word)                                                                  \
  template std::uint64_t encode_values<Word>(const std::byte*, std::uint32_t, std::uint32_t, \
                                             std::byte*);                                    \
  template Status decode_values<Word>(ByteView, std::uint32_t, std::uint32_t, std::byte*);
THINWIRE_WORD(std::uint8_t)
THINWIRE_WORD(std::uint16_t)
THINWIRE_WORD(std::uint32_t)
THINWIRE_WORD(std::uint64_t)
#undef THINWIRE_WORD

}  // namespace thinwire::codec::ans
