// Structs that are smaller or larger than today's, and flags that are not known.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "growth.h"
#include "thinwire/thinwire.h"

namespace {

using Codec = std::unique_ptr<tw_codec, decltype(&tw_codec_destroy)>;

Codec codec_of(const char* spec) {
  tw_codec* made = nullptr;
  EXPECT_EQ(tw_codec_create(spec, &made), TW_OK) << tw_last_error();
  return {made, tw_codec_destroy};
}

std::vector<float> values() {
  std::vector<float> made(2000);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = std::sin(static_cast<float>(i) / 40);
  return made;
}

struct Message {
  std::vector<float> array = values();
  tw_shape shape{TW_F32, 1, {array.size()}};
  Codec codec = codec_of("lorenzo");
  std::vector<unsigned char> frame = std::vector<unsigned char>(16 * array.size());
  std::uint64_t length = encode(nullptr);

  tw_status status = TW_OK;
  std::uint64_t encode(const tw_message_options* options) {
    std::uint64_t written = 0;
    status = tw_message_encode(codec.get(), &shape, array.data(), frame.data(), frame.size(),
                               options, &written);
    return written;
  }
  tw_status decode(std::vector<float>& into, const tw_message_options* options) const {
    return tw_message_decode(frame.data(), length, into.data(), 4 * into.size(), options, nullptr);
  }
};

TEST(Growth, Outputs) {
  const Message message;
  const Codec& codec = message.codec;
  expect_output_grows<tw_setting_info>("tw_setting_info",
                                       [](auto* out) { return tw_setting_describe(0, out); });
  expect_output_grows<tw_codec_info>("tw_codec_info",
                                     [](auto* out) { return tw_codec_describe(0, out); });
  expect_output_grows<tw_codec_cost>(
      "tw_codec_cost", [&](auto* out) { return tw_codec_measure(codec.get(), TW_F32, 4096, out); });
  expect_output_grows<tw_place>("tw_place", [&](auto* out) { return tw_place_of(&codec, out); });
  expect_output_grows<tw_pool_counters>(
      "tw_pool_counters", [](auto* out) { return tw_pool_describe(TW_MEMORY_HOST, -1, out); });
  expect_output_grows<tw_integer_counters>("tw_integer_counters", tw_integers_describe);
  expect_output_grows<tw_message_info>("tw_message_info", [&](auto* out) {
    return tw_message_inspect(message.frame.data(), message.length, nullptr, out);
  });
  tw_plan_settings settings{};
  settings.size = sizeof settings;
  tw_plan_facts facts{};
  facts.size = sizeof facts;
  facts.dtype = TW_F32;
  expect_output_grows<tw_plan_choice>("tw_plan_choice", [&](auto* out) {
    return tw_plan_message(codec.get(), &settings, &facts, out);
  });
}

TEST(Growth, Choosers) {
  tw_chooser_options options{};
  options.size = sizeof options;
  expect_input_grows<tw_chooser_options>("tw_chooser_create", options, [](auto* given) {
    tw_chooser* made = nullptr;
    const tw_status status = tw_chooser_create(given, &made);
    tw_chooser_destroy(made);
    return status;
  });
  tw_chooser* of = nullptr;
  ASSERT_EQ(tw_chooser_create(&options, &of), TW_OK) << tw_last_error();
  tw_chooser_facts facts{};  // that compressing loses, so that there is no timing round
  facts.size = sizeof facts;
  facts.compressed_seconds = HUGE_VAL;
  tw_chooser_turn turn{};
  turn.size = sizeof turn;
  expect_input_grows<tw_chooser_facts>(
      "tw_chooser_next", facts, [&](auto* given) { return tw_chooser_next(of, given, &turn); });
  expect_output_grows<tw_chooser_turn>("tw_chooser_turn",
                                       [&](auto* out) { return tw_chooser_next(of, &facts, out); });
  expect_output_grows<tw_chooser_times>("tw_chooser_times",
                                        [&](auto* out) { return tw_chooser_own(of, out); });
  expect_output_grows<tw_chooser_state>("tw_chooser_state",
                                        [&](auto* out) { return tw_chooser_describe(of, out); });
  tw_chooser_destroy(of);
}

TEST(Growth, WhatFitsOfAnOutputIsRight) {
  const Message message;
  tw_message_info today{};
  today.size = sizeof today;
  ASSERT_EQ(tw_message_inspect(message.frame.data(), message.length, nullptr, &today), TW_OK);
  const std::uint32_t shorter = offsetof(tw_message_info, raw_bytes) + 8;
  const Sized<tw_message_info> other(shorter, 0xee);
  ASSERT_EQ(tw_message_inspect(message.frame.data(), message.length, nullptr, other.get()), TW_OK);
  EXPECT_EQ(std::memcmp(&other.at(4), reinterpret_cast<unsigned char*>(&today) + 4, shorter - 4),
            0);
}

TEST(Growth, MessageOptions) {
  Message message;
  tw_message_options today{};
  today.size = sizeof today;
  expect_input_grows<tw_message_options>("encode", today, [&](auto* options) {
    message.length = message.encode(options);
    return message.status;
  });
  std::vector<float> out(message.array.size());
  message.length = message.encode(nullptr);
  expect_input_grows<tw_message_options>(
      "decode", today, [&](auto* options) { return message.decode(out, options); });

  // Zero is every field's default, also if the field is missing: no stream, a `scale` of 1.
  tw_message_options adds{};
  adds.size = sizeof adds;
  adds.flags = TW_MESSAGE_ADD;
  const Sized<tw_message_options> shorter(offsetof(tw_message_options, stream), today);
  shorter.get()->flags = TW_MESSAGE_ADD;
  for (const tw_message_options* options : {&adds, shorter.get()}) {
    out.assign(out.size(), 1.0f);
    ASSERT_EQ(message.decode(out, options), TW_OK) << tw_last_error();
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 1.0f + message.array[i]);
  }
}

// Not set in earnest: what is refused changes nothing, and no GPU asks.
TEST(Growth, DeviceAllocator) {
  tw_device_allocator today{};
  today.size = sizeof today;
  EXPECT_EQ(tw_pool_set_device_allocator(&today), TW_INVALID_ARGUMENT) << "functions are missing";
  today.allocate = [](void*, std::int32_t, std::uint64_t, void**) { return std::int32_t{1}; };
  today.release = [](void*, std::int32_t, void*, std::uint64_t) {};
  expect_input_grows<tw_device_allocator>(
      "tw_pool_set_device_allocator", today,
      [](auto* allocator) { return tw_pool_set_device_allocator(allocator); });
  EXPECT_EQ(tw_pool_set_device_allocator(nullptr), TW_OK);
}

TEST(Growth, UnknownFlagsAreRefused) {
  Message message;
  std::vector<float> out(message.array.size());
  tw_message_options options{};
  options.size = sizeof options;
  for (std::uint32_t flag = 1; flag != 0; flag <<= 1) {
    options.flags = flag;
    const bool known = flag <= TW_MESSAGE_INTEGERS;
    message.encode(&options);
    EXPECT_EQ(message.status, known ? TW_OK : TW_INVALID_ARGUMENT) << flag;
    EXPECT_EQ(message.decode(out, &options), known ? TW_OK : TW_INVALID_ARGUMENT) << flag;
  }
}

TEST(Growth, Plans) {
  const Codec codec = codec_of("lorenzo");
  tw_plan_settings settings{};
  settings.size = sizeof settings;
  tw_plan_facts facts{};
  facts.size = sizeof facts;
  facts.dtype = TW_F32;
  facts.bytes = 1 << 20;
  facts.peer = TW_PEER_OTHER_NODE;
  facts.peer_ready = 1;
  tw_plan_choice choice{};
  choice.size = sizeof choice;
  expect_input_grows<tw_plan_settings>("settings", settings, [&](auto* other) {
    return tw_plan_message(codec.get(), other, &facts, &choice);
  });
  expect_input_grows<tw_plan_facts>("facts", facts, [&](auto* other) {
    return tw_plan_message(codec.get(), &settings, other, &choice);
  });

  tw_collective_facts collective{};
  collective.size = sizeof collective;
  collective.ranks = collective.nodes = 2;
  tw_collective_choice chosen{};
  chosen.size = sizeof chosen;
  expect_input_grows<tw_collective_facts>("collective facts", collective, [&](auto* other) {
    return tw_plan_collective(codec.get(), &settings, other, &chosen);
  });
  expect_output_grows<tw_collective_choice>("tw_collective_choice", [&](auto* out) {
    return tw_plan_collective(codec.get(), &settings, &collective, out);
  });

  // No link stated, as in a struct that ends before it.
  const Sized<tw_plan_settings> shorter(offsetof(tw_plan_settings, link_bytes_per_second),
                                        settings);
  ASSERT_EQ(tw_plan_message(codec.get(), shorter.get(), &facts, &choice), TW_OK);
  EXPECT_EQ(choice.reason, std::uint32_t{TW_COMPRESS});
  // A peer of whom nothing is said is not proven to decode.
  const Sized<tw_plan_facts> unsaid(offsetof(tw_plan_facts, peer), facts);
  ASSERT_EQ(tw_plan_message(codec.get(), &settings, unsaid.get(), &choice), TW_OK);
  EXPECT_NE(choice.reason, std::uint32_t{TW_COMPRESS});
}

TEST(Growth, Pieces) {
  const Message message;
  struct Ends {
    const Message& message;
    std::vector<float> out;
  } ends{message, std::vector<float>(message.array.size())};
  tw_pieces today{};
  today.size = sizeof today;
  today.context = &ends;
  today.read = [](void* context, std::uint64_t offset, std::uint64_t bytes, void* to) {
    std::memcpy(to, static_cast<Ends*>(context)->message.frame.data() + offset, bytes);
    return 0;
  };
  today.write = [](void* context, std::uint64_t offset, std::uint64_t bytes, const void* from) {
    auto* out = reinterpret_cast<unsigned char*>(static_cast<Ends*>(context)->out.data());
    std::memcpy(out + offset, from, bytes);
    return 0;
  };
  alignas(64) static unsigned char workspace[1 << 19];
  today.workspace = workspace;
  today.workspace_bytes = sizeof workspace;
  const auto decode = [&](tw_pieces* pieces) {
    return tw_message_decode_in_pieces(pieces, message.length, nullptr, nullptr);
  };
  expect_input_grows<tw_pieces>("tw_pieces", today, decode);
  EXPECT_EQ(ends.out, message.array);
  const Sized<tw_pieces> shorter(offsetof(tw_pieces, needed_bytes), today);
  EXPECT_EQ(decode(shorter.get()), TW_OK) << tw_last_error();
  today.reserved = 1;
  EXPECT_EQ(decode(&today), TW_INVALID_ARGUMENT);
}

tw_transport one_rank() {
  tw_transport end{};
  end.size = sizeof end;
  EXPECT_EQ(tw_transport_local(1, &end), TW_OK) << tw_last_error();
  return end;
}

// A communicator of one rank over `transport`; its status.
tw_status try_create(tw_transport* transport, tw_comm_options* options) {
  tw_comm* comm = nullptr;
  const tw_status status = tw_comm_create(transport, options, &comm);
  tw_comm_destroy(comm);
  return status;
}

TEST(Growth, CommunicatorOptionsAndTransports) {
  tw_comm_options options{};
  options.size = sizeof options;
  expect_input_grows<tw_comm_options>("tw_comm_options", options, [](auto* other) {
    tw_transport end = one_rank();
    return try_create(&end, other);
  });
  for (const std::size_t end :
       {offsetof(tw_comm_options, nodes), offsetof(tw_comm_options, interrupted)}) {
    const Sized<tw_comm_options> shorter(end, options);
    tw_transport one = one_rank();
    EXPECT_EQ(try_create(&one, shorter.get()), TW_OK) << tw_last_error();
  }
  const tw_transport kept = one_rank();
  tw_transport lent = kept;
  lent.release = nullptr;
  expect_input_grows<tw_transport>("tw_transport", lent,
                                   [&](auto* other) { return try_create(other, &options); });
  // Its last two functions may be missing, as they may be null; the others may not.
  const Sized<tw_transport> without_idle(offsetof(tw_transport, idle), lent);
  EXPECT_EQ(try_create(without_idle.get(), &options), TW_OK) << tw_last_error();
  const Sized<tw_transport> without_test(offsetof(tw_transport, test), lent);
  EXPECT_EQ(try_create(without_test.get(), &options), TW_INVALID_ARGUMENT);
  lent.reserved = 1;
  EXPECT_EQ(try_create(&lent, &options), TW_INVALID_ARGUMENT);
  kept.release(kept.context);
}

TEST(Growth, ArraysStepByTheCallersSize) {
  constexpr std::uint32_t kSize = sizeof(tw_transport) + 16, kRanks = 3;
  std::vector<unsigned char> bytes(kRanks * kSize, 0xee);
  const auto at = [&](std::uint32_t rank) {
    return reinterpret_cast<tw_transport*>(bytes.data() + rank * std::size_t{kSize});
  };
  at(0)->size = kSize;
  ASSERT_EQ(tw_transport_local(kRanks, at(0)), TW_OK) << tw_last_error();
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(at(rank)->size, kSize);
    EXPECT_EQ(at(rank)->rank, static_cast<std::int32_t>(rank));
    EXPECT_EQ(at(rank)->ranks, static_cast<std::int32_t>(kRanks));
    for (std::size_t place = sizeof(tw_transport); place < kSize; ++place) {
      EXPECT_EQ(bytes[rank * kSize + place], 0);
    }
    at(rank)->release(at(rank)->context);
  }
  // Without room for `release` it could not be freed.
  at(0)->size = sizeof(tw_transport) - 8;
  EXPECT_EQ(tw_transport_local(kRanks, at(0)), TW_INVALID_ARGUMENT);
}

TEST(Growth, CollectivesAndTheirReports) {
  tw_transport end = one_rank();
  tw_comm_options options{};
  options.size = sizeof options;
  tw_comm* comm = nullptr;
  ASSERT_EQ(tw_comm_create(&end, &options, &comm), TW_OK) << tw_last_error();
  std::vector<float> array = values();
  tw_collective call{};
  call.size = sizeof call;
  call.operation = TW_BCAST;
  call.dtype = TW_F32;
  call.receive = array.data();
  call.count = array.size();
  expect_input_grows<tw_collective>("tw_comm_run", call,
                                    [&](auto* other) { return tw_comm_run(comm, other, nullptr); });
  expect_output_grows<tw_collective_report>(
      "tw_comm_run", [&](auto* report) { return tw_comm_run(comm, &call, report); });
  expect_output_grows<tw_collective_report>(
      "tw_comm_plan", [&](auto* report) { return tw_comm_plan(comm, &call, report); });
  // Before `codec`, its last field.
  const Sized<tw_collective> shorter(offsetof(tw_collective, codec), call);
  EXPECT_EQ(tw_comm_run(comm, shorter.get(), nullptr), TW_OK) << tw_last_error();
  for (std::uint32_t flag = TW_FORCED << 1; flag != 0; flag <<= 1) {
    call.flags = flag;
    EXPECT_EQ(tw_comm_run(comm, &call, nullptr), TW_INVALID_ARGUMENT) << flag;
  }
  tw_comm_destroy(comm);
}

}  // namespace
