#include "codec/nvcomp/device.h"

#include <string>

#include "codec/nvcomp/batch.h"

namespace thinwire::codec::nvcomp {
namespace {

template <int kRow>
constexpr DeviceCodec make_device() {
  return {.workspace_bytes =
              [](const Layout& layout, std::uint64_t parameter) {
                const auto plan = make_plan(kRows[kRow], layout, parameter);
                return plan.ok() ? plan->workspace_bytes() : 0;
              },
          .encode = [](const EncodeJob& job) { return encode(kRows[kRow], job); },
          .decode = [](const DecodeJob& job) { return decode(kRows[kRow], job); },
          .leaves_zeros = false};
}

}  // namespace

Status unchecked(const Row& row) {
  return {StatusCode::kUnsupported,
          std::string(row.name) +
              " needs chunk checksums: nvCOMP's decoders are not safe against damage"};
}

constinit const DeviceCodec kDevices[kRowCount] = {
    make_device<0>(), make_device<1>(), make_device<2>(), make_device<3>(), make_device<4>()};

}  // namespace thinwire::codec::nvcomp
