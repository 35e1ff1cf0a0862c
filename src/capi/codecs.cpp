#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "capi/boundary.h"
#include "capi/handles.h"
#include "capi/policies.h"
#include "codec/registry.h"
#include "message/allowed.h"
#include "message/measure.h"

using namespace thinwire;

namespace {

// The text of what the codec says is missing, kept for ever; "" if nothing is.
const char* missing_for(const codec::Codec& row) {
  if (row.available == nullptr) return "";
  static std::mutex mutex;
  static auto* const texts = new std::map<codec::CodecId, std::string>;
  const std::lock_guard lock(mutex);
  const auto [text, is_new] = texts->try_emplace(row.id);
  if (is_new) text->second = row.available().message();
  return text->second.c_str();
}

bool is_lossy(const codec::Spec& spec) {
  return spec.kind == codec::Spec::Kind::kCodec && !spec.codec->lossless;
}

// A wrong setting does not tell what the user wanted: no value may change on a guess.
Status permit(const codec::Spec& spec) {
  const std::string& wrong = capi::wrong_wish();
  if (wrong.empty() || !is_lossy(spec)) return {};
  return {StatusCode::kInvalidArgument,
          spec.text() + " is lossy, and a setting is wrong: " + wrong};
}

}  // namespace

uint32_t tw_codec_count(void) { return static_cast<uint32_t>(codec::all_codecs().size()); }

tw_status tw_codec_describe(uint32_t index, tw_codec_info* to) {
  if (!capi::has_size(to)) {
    return capi::misuse("tw_codec_describe: info is null or its size is not set");
  }
  if (index >= tw_codec_count()) return capi::misuse("tw_codec_describe: no such index");
  const codec::Codec& row = *codec::all_codecs()[index];
  tw_codec_info info{};
  info.id = row.id;
  info.version = row.version;
  info.lossless = row.lossless;
  info.fixed_size = row.fixed_size;
  info.dtypes = row.dtypes;
  info.max_rank = static_cast<uint32_t>(row.max_rank);
  info.flat = row.flat;
  info.gpu_only = row.gpu_only;
  info.name = row.name;
  info.summary = row.summary;
  info.options = row.options;
  info.example = row.example;
  capi::give(info, to);
  return TW_OK;
}

const char* tw_codec_missing(uint32_t index) {
  return index < tw_codec_count() ? missing_for(*codec::all_codecs()[index]) : nullptr;
}

tw_status tw_decode_allow(const char* codecs) {
  return capi::guarded([&] {
    if (codecs == nullptr) return capi::misuse("tw_decode_allow: null pointer");
    return capi::report(message::allow(std::string_view(codecs)));
  });
}

uint32_t tw_decode_allows(uint32_t id) {
  const codec::Codec* const row =
      id < 256 ? codec::find_codec(static_cast<codec::CodecId>(id)) : nullptr;
  return row != nullptr && message::may_decode(*row);
}

tw_status tw_codec_create(const char* spec, tw_codec** codec) {
  return capi::guarded([&] {
    if (spec == nullptr || codec == nullptr) return capi::misuse("tw_codec_create: null pointer");
    auto parsed = codec::parse_spec(spec);
    if (!parsed.ok()) return capi::report(parsed.status());
    if (auto permitted = permit(*parsed); !permitted.ok()) return capi::report(permitted);
    *codec = capi::Shells<tw_codec>::make(*parsed, parsed->text()).release();
    if (parsed->codec != nullptr) message::allow(*parsed->codec);
    return TW_OK;
  });
}

void tw_codec_destroy(tw_codec* codec) {
  capi::close_handle(codec, "tw_codec_destroy: the codec is destroyed already");
}

const char* tw_codec_spec(const tw_codec* codec) {
  return !capi::is_open(codec) ? "" : codec->text.c_str();
}

int32_t tw_codec_id(const tw_codec* codec) {
  if (!capi::is_open(codec) || codec->spec.kind != codec::Spec::Kind::kCodec) return -1;
  return codec->spec.codec->id;
}

uint32_t tw_codec_needs_link(const tw_codec* codec) {
  return capi::is_open(codec) && codec->spec.needs_link();
}

uint32_t tw_codec_has_fill(const tw_codec* codec) {
  return capi::is_open(codec) && codec->spec.fill.exists();
}

tw_reductions tw_codec_reductions(const tw_codec* codec) {
  using Reductions = codec::Spec::Reductions;
  if (!capi::is_open(codec) || codec->spec.kind == codec::Spec::Kind::kOff)
    return TW_REDUCTIONS_NATIVE;
  if (codec->spec.reductions_alone) return TW_REDUCTIONS_ALONE;
  if (codec->spec.kind == codec::Spec::Kind::kCodec) return TW_REDUCTIONS_CODED;
  if (!codec->spec.insists) return TW_REDUCTIONS_NATIVE;
  switch (codec->spec.reductions) {
    case Reductions::kNative:
      return TW_REDUCTIONS_NATIVE;
    case Reductions::kCoded:
      return TW_REDUCTIONS_CODED;
    case Reductions::kOrdered:
      return TW_REDUCTIONS_ORDERED;
    case Reductions::kExact:
      return TW_REDUCTIONS_EXACT;
    case Reductions::kUnsaid:
      break;
  }
  return TW_REDUCTIONS_UNSAID;
}

uint32_t tw_codec_ids(const tw_codec* codec, uint32_t* ids, uint32_t capacity) {
  if (!capi::is_open(codec) || codec->spec.kind == codec::Spec::Kind::kOff) return 0;
  uint32_t count = 0;
  const auto add = [&](const codec::Codec* row) {
    if (ids != nullptr && count < capacity) ids[count] = row->id;
    ++count;
  };
  if (!codec->is_auto()) {
    add(codec->spec.codec);
    return count;
  }
  for (const codec::Codec* row : codec::all_codecs()) {
    if (message::may_choose(*row)) add(row);
  }
  return count;
}

uint32_t tw_codec_ids_for(const tw_codec* codec, uint32_t dtype, uint32_t* ids, uint32_t capacity) {
  if (!capi::is_open(codec) || codec->spec.kind == codec::Spec::Kind::kOff ||
      dtype >= kDtypeCount) {
    return 0;
  }
  const auto type = static_cast<Dtype>(dtype);
  if (!codec->is_auto()) {
    return codec->spec.codec->takes(type, codec->spec.parameter)
               ? tw_codec_ids(codec, ids, capacity)
               : 0;
  }
  const auto tried = message::automatic_candidates(type);
  for (std::size_t at = 0; ids != nullptr && at < std::min<std::size_t>(tried.size(), capacity);
       ++at) {
    ids[at] = tried[at].codec->id;
  }
  return static_cast<uint32_t>(tried.size());
}

tw_status tw_codec_shape(const tw_codec* codec, uint32_t dtype, uint64_t count, tw_shape* shape) {
  return capi::guarded([&] {
    if (!capi::is_open(codec) || shape == nullptr || dtype >= kDtypeCount) {
      return capi::misuse("tw_codec_shape: null pointer, destroyed codec or unknown dtype");
    }
    const auto fitted = codec->spec.shape_of(count);
    if (!fitted.ok()) return capi::report(fitted.status());
    *shape = {.dtype = static_cast<uint32_t>(dtype),
              .rank = static_cast<uint32_t>(fitted->rank),
              .extent = {}};
    for (int axis = 0; axis < fitted->rank; ++axis) shape->extent[axis] = fitted->extent[axis];
    return TW_OK;
  });
}

namespace {

// `device` is a GPU's ordinal, or -1.
tw_status measure(const tw_codec* codec, int32_t device, uint32_t dtype, uint64_t bytes,
                  tw_codec_cost* cost) {
  return capi::guarded([&] {
    if (!capi::is_open(codec) || !capi::has_size(cost) || dtype >= kDtypeCount) {
      return capi::misuse(
          "tw_codec_measure: null pointer, destroyed codec, unknown dtype, or size not set");
    }
    const auto type = static_cast<Dtype>(dtype);
    const std::uint64_t count = std::max<std::uint64_t>(1, bytes / dtype_size(type));
    const codec::Chunk array{type, Shape::line(count)};
    const auto coder = codec->coder_of(array);
    auto speed = device < 0 ? message::measure(coder, array)
                            : message::measure_on_device(coder, array, device);
    if (!speed.ok()) return capi::report(speed.status());
    capi::give(tw_codec_cost{0, 0, speed->encode_bytes_per_second, speed->decode_bytes_per_second,
                             speed->ratio},
               cost);
    return TW_OK;
  });
}

}  // namespace

tw_status tw_codec_measure(const tw_codec* codec, uint32_t dtype, uint64_t bytes,
                           tw_codec_cost* cost) {
  return measure(codec, -1, dtype, bytes, cost);
}

tw_status tw_codec_measure_device(const tw_codec* codec, int32_t device, uint32_t dtype,
                                  uint64_t bytes, tw_codec_cost* cost) {
  if (device < 0) return capi::misuse("tw_codec_measure_device: a GPU's ordinal is not negative");
  return measure(codec, device, dtype, bytes, cost);
}
