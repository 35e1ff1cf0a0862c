#include "calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/bytes.h"
#include "base/dtype.h"
#include "codec/accumulate.h"
#include "collective/exact.h"

namespace thinwire::slots {

Codec::Codec(const std::string& spec) : handle(nullptr, tw_codec_destroy) {
  tw_codec* made = nullptr;
  EXPECT_EQ(tw_codec_create(spec.c_str(), &made), TW_OK) << tw_last_error();
  handle.reset(made);
}

bool Codec::takes(std::uint32_t dtype) const {
  for (std::uint32_t index = 0; index < tw_codec_count(); ++index) {
    tw_codec_info info{};
    info.size = sizeof info;
    EXPECT_EQ(tw_codec_describe(index, &info), TW_OK);
    if (static_cast<std::int32_t>(info.id) == tw_codec_id(handle.get())) {
      return (info.dtypes >> dtype & 1) != 0;
    }
  }
  return true;  // "auto"
}

Comm make_comm(World& world, int rank, bool collectives, const std::vector<std::uint32_t>& nodes) {
  const tw_stream_transport table = world.end(rank, collectives);
  tw_stream_comm_options options{};
  options.size = sizeof options;
  options.job = "slots";
  options.job_bytes = 5;
  if (!nodes.empty()) options.nodes = nodes.data();
  tw_stream_comm* made = nullptr;
  EXPECT_EQ(tw_stream_comm_create(&table, &options, &made), TW_OK) << tw_last_error();
  return {made, tw_stream_comm_destroy};
}

tw_stream_plan_options options_of(std::uint32_t operation, std::uint32_t dtype, std::uint64_t count,
                                  const tw_codec* codec) {
  tw_stream_plan_options options{};
  options.size = sizeof options;
  options.operation = operation;
  options.dtype = dtype;
  options.count = count;
  options.capacity[0] = 512;
  options.codec = codec;
  return options;
}

Plan make_plan(const Comm& comm, const tw_stream_plan_options& options) {
  tw_stream_plan* made = nullptr;
  EXPECT_EQ(tw_stream_plan_create(comm.get(), &options, &made), TW_OK) << tw_last_error();
  return {made, tw_stream_plan_destroy};
}

tw_stream_plan_info describe(const Plan& plan) {
  tw_stream_plan_info info{};
  info.size = sizeof info;
  EXPECT_EQ(tw_stream_plan_describe(plan.get(), &info), TW_OK);
  return info;
}

tw_stream_report check(const Plan& plan, const void* record, tw_status expected) {
  tw_stream_report report{};
  report.size = sizeof report;
  EXPECT_EQ(tw_stream_check(plan.get(), record, &report), expected) << tw_last_error();
  return report;
}

Memory::Memory(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t offset)
    : bytes_(bytes + alignment + offset, std::byte{0xA5}) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data());
  at_ = bytes_.data() + (alignment - begin % alignment) % alignment + offset;
}

Lent::Lent(const Plan& plan)
    : device(describe(plan).device_bytes),
      record(describe(plan).record_bytes),
      workspace(describe(plan).workspace_bytes),
      workspace_bytes(describe(plan).workspace_bytes) {
  std::memset(workspace, 0, workspace_bytes);
}

void Lent::lend(tw_stream_call& call) const {
  call.device = device;
  call.record = record;
  call.workspace = workspace;
}

void Lent::expect_zeros() const {
  for (std::uint64_t at = 0; at < workspace_bytes; ++at) {
    ASSERT_EQ(workspace.get()[at], std::byte{0}) << "of the workspace, at " << at;
  }
}

Mailbox::Mailbox(std::uint64_t bytes) : memory(bytes) {
  EXPECT_EQ(tw_mailbox_open(memory, bytes), TW_OK) << tw_last_error();
}

std::uint64_t value_bytes(std::uint32_t dtype) { return dtype_size(static_cast<Dtype>(dtype)); }

Bytes values_of(std::uint32_t dtype, std::uint64_t count, int seed, Data data) {
  Bytes values(count * value_bytes(dtype));
  std::mt19937_64 random(static_cast<std::uint64_t>(seed) + 1);
  with_float_dtype(static_cast<Dtype>(dtype), [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    for (std::uint64_t at = 0; at < count; ++at) {
      const double place = static_cast<double>(at) * 0.002 + seed;
      double value = 1.5 + std::sin(place);
      if (data == Data::kLarge) value *= 26'000;
      // All bits of the fraction, any exponent that leaves room to add, either sign. Not below 1,
      // where an error bound would make zeros of them.
      if (data == Data::kNoise) {
        const unsigned most = dtype == TW_F16 ? 12 : dtype == TW_F64 ? 1000 : 120;
        const int exponent = static_cast<int>(random() % most);
        value = std::ldexp(1 + static_cast<double>(random() >> 11) * 0x1p-53, exponent);
        if (random() % 2 == 0) value = -value;
      }
      const auto word = codec::word_of<kDtype>(static_cast<Number>(value));
      store(values.data() + at * sizeof word, word);
    }
  });
  return values;
}

Bytes through_slot(const Codec& codec, std::uint32_t dtype, const Bytes& values,
                   std::uint64_t slot_bytes) {
  if (values.empty()) return values;
  tw_shape shape{};
  shape.dtype = dtype;
  shape.rank = 1;
  shape.extent[0] = values.size() / value_bytes(dtype);
  std::uint64_t bound = 0, written = 0;
  EXPECT_EQ(tw_message_bound(codec.handle.get(), &shape, &bound), TW_OK) << tw_last_error();
  Bytes frame(bound), decoded(values.size());
  tw_message_options options{};
  options.size = sizeof options;
  options.flags = TW_MESSAGE_DECLINE;
  const tw_status status = tw_message_encode(codec.handle.get(), &shape, values.data(),
                                             frame.data(), bound, &options, &written);
  if (status == TW_DECLINED || (status == TW_OK && written + 64 > slot_bytes)) return values;
  EXPECT_EQ(status, TW_OK) << tw_last_error();
  EXPECT_EQ(
      tw_message_decode(frame.data(), written, decoded.data(), decoded.size(), nullptr, nullptr),
      TW_OK)
      << tw_last_error();
  return decoded;
}

double factor_of(int rank) { return rank == 0 ? 0.75 : 0.5 - rank * 0.125; }

Bytes sum_of(std::uint32_t dtype, const std::vector<Bytes>& arrays, double scale, bool factors,
             const std::vector<int>& ranks) {
  Bytes result(arrays[0].size());
  with_float_dtype(static_cast<Dtype>(dtype), [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    using Word = codec::WordOf<kDtype>;
    for (std::uint64_t at = 0; at < result.size(); at += sizeof(Word)) {
      const auto number = [&](std::size_t rank) {
        const Number value = codec::number_of<kDtype>(load<Word>(arrays[rank].data() + at));
        const int whose = ranks.empty() ? static_cast<int>(rank) : ranks[rank];
        const double own = factors ? factor_of(whose) : 1;
        return value * static_cast<Number>(own * (scale != 0 ? scale : 1));
      };
      Number sum = number(0);
      for (std::size_t rank = 1; rank < arrays.size(); ++rank) sum += number(rank);
      store(result.data() + at, codec::word_of<kDtype>(sum));
    }
  });
  return result;
}

Bytes exact_sum_of(std::uint32_t dtype, const std::vector<Bytes>& arrays, double scale,
                   bool factors) {
  Bytes result(arrays[0].size());
  const bool is_mean = scale == 1.0 / static_cast<double>(arrays.size());
  with_float_dtype(static_cast<Dtype>(dtype), [&](auto kDtype) {
    using Number = codec::NumberOf<kDtype>;
    using Word = codec::WordOf<kDtype>;
    for (std::uint64_t at = 0; at < result.size(); at += sizeof(Word)) {
      collective::ExactTotal<kDtype> total;
      for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
        const double own = factors ? factor_of(static_cast<int>(rank)) : 1;
        const double factor = own * (scale != 0 && !is_mean ? scale : 1);
        total.add(codec::number_of<kDtype>(load<Word>(arrays[rank].data() + at)) *
                  static_cast<Number>(factor));
      }
      const auto divisor = static_cast<std::uint32_t>(is_mean ? arrays.size() : 1);
      store(result.data() + at, total.rounded(divisor));
    }
  });
  return result;
}

std::string Case::text() const {
  std::string text = "operation " + std::to_string(operation) + " dtype " + std::to_string(dtype) +
                     " " + spec + " ranks " + std::to_string(ranks) + " count " +
                     std::to_string(count) + " capacity " + std::to_string(capacity) + " way " +
                     std::to_string(way) + (in_place ? " in place" : "") + " factors " +
                     std::to_string(static_cast<int>(factors)) + " offset " +
                     std::to_string(offset) + " noisy";
  for (const int rank : noisy) text += " " + std::to_string(rank);
  if (!nodes.empty()) text += " nodes";
  for (const std::uint32_t node : nodes) text += " " + std::to_string(node);
  return text;
}

}  // namespace thinwire::slots
