#include "message/enqueue.h"

#include "capi/boundary.h"
#include "capi/convert.h"

using namespace thinwire;
using namespace thinwire::capi;

namespace {

// Elsewhere NULL is the library's own stream, where nobody could order anything after it; CUDA
// takes it for the legacy default stream. Here it is neither.
constexpr const char* kNoStream =
    "enqueued work needs a stream in its options; the legacy default stream is cudaStreamLegacy";

}  // namespace

tw_status tw_outcome_read(uint64_t outcome, uint64_t* bytes) {
  if (bytes == nullptr || (outcome & device::kKnown) == 0) {
    return misuse("tw_outcome_read: null pointer, or an outcome that is not known yet");
  }
  const StatusCode status = device::outcome_status(outcome);
  *bytes = device::outcome_bytes(outcome);
  return status == StatusCode::kOk ? TW_OK : report({status, status_text(status)});
}

tw_status tw_message_workspace(const tw_codec* codec, const tw_shape* shape, uint64_t* bytes) {
  return guarded([&] {
    const auto array = to_array(shape);
    if (!is_open(codec) || !array || bytes == nullptr) {
      return misuse(
          "tw_message_workspace: null pointer, destroyed codec, unknown dtype, or rank not 1 to 4");
    }
    auto needed = message::workspace_bytes(codec->coder_of(*array), *array);
    if (needed.ok()) *bytes = *needed;
    return report(needed.status());
  });
}

tw_status tw_message_encode_enqueue(const tw_codec* codec, const tw_shape* shape,
                                    const void* source, void* destination, uint64_t capacity,
                                    const tw_message_options* options, void* workspace,
                                    uint64_t workspace_bytes, uint64_t* outcome) {
  return guarded([&] {
    const auto array = to_array(shape);
    const MessageOptions own(options);
    if (!is_open(codec) || !array || source == nullptr || destination == nullptr ||
        workspace == nullptr || outcome == nullptr || !own) {
      return misuse(
          "tw_message_encode_enqueue: null pointer, destroyed codec, unknown dtype, or an unknown "
          "size or flag");
    }
    if (own->stream == nullptr) return misuse(kNoStream);
    // Its receiver may have enqueued the decode of a frame.
    message::EncodeOptions encode_options = to_encode_options(*own);
    encode_options.declines_integers = false;
    return report(message::enqueue_encode(codec->coder_of(*array), *array, bytes_at(source),
                                          {bytes_at(destination), capacity}, encode_options,
                                          {bytes_at(workspace), workspace_bytes, outcome}));
  });
}

tw_status tw_message_decode_enqueue(const tw_codec* codec, const tw_shape* shape,
                                    const void* source, uint64_t length, void* destination,
                                    uint64_t capacity, const tw_message_options* options,
                                    void* workspace, uint64_t workspace_bytes, uint64_t* outcome) {
  return guarded([&] {
    const auto array = to_array(shape);
    const MessageOptions own(options);
    if (!is_open(codec) || !array || source == nullptr || destination == nullptr ||
        workspace == nullptr || outcome == nullptr || !own) {
      return misuse(
          "tw_message_decode_enqueue: null pointer, destroyed codec, unknown dtype, or an unknown "
          "size or flag");
    }
    if (own->stream == nullptr) return misuse(kNoStream);
    return report(message::enqueue_decode(
        codec->coder_of(*array), *array, {bytes_at(source), length},
        {bytes_at(destination), capacity}, to_accumulate(*own), to_encode_options(*own),
        {bytes_at(workspace), workspace_bytes, outcome}));
  });
}
