// The functions that CUDA sources define, for libraries that have none: each call goes to the
// kernels' library, and fails if that cannot be used.
#include "codec/registry.h"
#include "kernels/open.h"

namespace thinwire::kernels {
namespace {

template <typename... Parameters, typename... Arguments>
Status call(StatusCode (*Table::*entry)(Failure&, Parameters...), Arguments&&... arguments) {
  const Table* const opened = table();
  if (opened == nullptr) return open_status();
  Failure failure;
  const StatusCode code = (opened->*entry)(failure, arguments...);
  if (code == StatusCode::kOk) [[likely]]
    return {};
  return {code, failure.text};
}

template <CodecSide Table::* kSide>
struct Forwarded {
  static std::uint64_t workspace_bytes(const codec::Layout& layout, std::uint64_t parameter) {
    const Table* const opened = table();
    return opened == nullptr ? 0 : (opened->*kSide).workspace_bytes(layout, parameter);
  }
  static Status encode(const codec::EncodeJob& job) { return run(&CodecSide::encode, job); }
  static Status decode(const codec::DecodeJob& job) { return run(&CodecSide::decode, job); }

 private:
  template <typename Job>
  static Status run(StatusCode (*CodecSide::*function)(Failure&, const Job&), const Job& job) {
    const Table* const opened = table();
    if (opened == nullptr) return open_status();
    Failure failure;
    const StatusCode code = ((opened->*kSide).*function)(failure, job);
    if (code == StatusCode::kOk) [[likely]]
      return {};
    return {code, failure.text};
  }
};

}  // namespace
}  // namespace thinwire::kernels

#define FUNCTION(space, entry, name, parameters, ...)                              \
  namespace space {                                                                \
  Status name parameters {                                                         \
    return thinwire::kernels::call(&thinwire::kernels::Table::entry, __VA_ARGS__); \
  }                                                                                \
  }
#include "kernels/functions.def"

namespace thinwire::codec {

#define CODEC_SIDE(name, zeros, has_seal, blocks)                                         \
  constinit const DeviceCodec k##name##Device = {                                         \
      .workspace_bytes = kernels::Forwarded<&kernels::Table::of_##name>::workspace_bytes, \
      .encode = kernels::Forwarded<&kernels::Table::of_##name>::encode,                   \
      .decode = kernels::Forwarded<&kernels::Table::of_##name>::decode,                   \
      .leaves_zeros = zeros,                                                              \
      .seals = has_seal,                                                                  \
      .takes_blocks = blocks};
#include "kernels/functions.def"

}  // namespace thinwire::codec

namespace thinwire::collective {

std::uint64_t key_ranges(std::uint64_t count) {
  const kernels::Table* const opened = kernels::table();
  return opened == nullptr ? 1 : opened->key_ranges(count);
}

}  // namespace thinwire::collective
