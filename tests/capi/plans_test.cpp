// Plans of collectives without a communicator, and tables of costs in place of measuring.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "thinwire/thinwire.h"

// The folder's files are compiled together.
namespace plans {
namespace {

constexpr std::uint64_t kFloats = 1 << 20;
constexpr double kLink = 125e6;

struct CodecDeleter {
  void operator()(tw_codec* codec) const { tw_codec_destroy(codec); }
};
using Codec = std::unique_ptr<tw_codec, CodecDeleter>;
Codec codec_of(const char* spec) {
  tw_codec* made = nullptr;
  EXPECT_EQ(tw_codec_create(spec, &made), TW_OK) << tw_last_error();
  return Codec(made);
}

struct CostsDeleter {
  void operator()(tw_costs* costs) const { tw_costs_destroy(costs); }
};
using Costs = std::unique_ptr<tw_costs, CostsDeleter>;

std::string table_of(const std::string& row) {
  return std::string("thinwire-costs 1\nmachine: ") + tw_machine() + "\nversion: " + tw_version() +
         "\n" + row + "\nend 1\n";
}

Costs costs_of(const std::string& row) {
  tw_costs* made = nullptr;
  EXPECT_EQ(tw_costs_create(table_of(row).c_str(), "table", &made), TW_OK) << tw_last_error();
  return Costs(made);
}

tw_collective_choice plan(const tw_codec* codec, const tw_codec_cost& cost, std::uint32_t operation,
                          double link) {
  tw_plan_settings settings{};
  settings.size = sizeof settings;
  settings.threshold = 65536;
  settings.link_bytes_per_second = link;
  settings.cost = cost;
  tw_collective_facts facts{};
  facts.size = sizeof facts;
  facts.operation = operation;
  facts.dtype = TW_F32;
  facts.bytes = 4 * kFloats;
  facts.ranks = facts.nodes = 2;
  tw_collective_choice choice{};
  choice.size = sizeof choice;
  EXPECT_EQ(tw_plan_collective(codec, &settings, &facts, &choice), TW_OK) << tw_last_error();
  return choice;
}

// The plan of a communicator of two ranks by that table, on rank 0.
tw_collective_report plan_of_communicator(const tw_codec* codec, const tw_costs* costs,
                                          std::uint32_t operation, double link) {
  std::vector<tw_transport> transports(2);
  transports[0].size = sizeof(tw_transport);
  EXPECT_EQ(tw_transport_local(2, transports.data()), TW_OK);
  tw_collective_report reports[2]{};
  const auto rank = [&](std::size_t own) {
    tw_comm_options options{};
    options.size = sizeof options;
    options.codec = codec;
    options.threshold = 65536;
    options.link_bytes_per_second = link;
    // One rank alone has a table: the slower of the two holds.
    options.costs = own == 0 ? costs : nullptr;
    tw_comm* comm = nullptr;
    ASSERT_EQ(tw_comm_create(&transports[own], &options, &comm), TW_OK) << tw_last_error();
    std::vector<float> values(kFloats), result(kFloats);
    tw_collective call{};
    call.size = sizeof call;
    call.operation = operation;
    call.dtype = TW_F32;
    call.send = values.data();
    call.receive = result.data();
    call.count = kFloats;
    reports[own].size = sizeof(tw_collective_report);
    EXPECT_EQ(tw_comm_plan(comm, &call, &reports[own]), TW_OK) << tw_last_error();
    tw_comm_destroy(comm);
  };
  std::thread other(rank, 1);
  rank(0);
  other.join();
  EXPECT_EQ(reports[0].reason, reports[1].reason);
  EXPECT_EQ(reports[0].predicted_seconds, reports[1].predicted_seconds);
  return reports[0];
}

TEST(Plans, ACollectiveIsPlannedAsItsCommunicatorPlansIt) {
  const Codec codec = codec_of("mpc");
  // Slower than any machine, under a sanitizer too, so that the other rank's measured figures do
  // not count.
  const Costs costs = costs_of("mpc:stride=1 f32 1048576 host 4e5 8e5 1.001");
  tw_codec_cost cost{};
  cost.size = sizeof cost;
  ASSERT_EQ(tw_costs_find(costs.get(), codec.get(), TW_F32, 1 << 20, 0, &cost), 1);
  EXPECT_EQ(cost.encode_bytes_per_second, 4e5);
  for (const double link : {1e6, kLink}) {
    const auto found = plan(codec.get(), cost, TW_ALLREDUCE, link);
    const auto agreed = plan_of_communicator(codec.get(), costs.get(), TW_ALLREDUCE, link);
    EXPECT_EQ(found.reason, agreed.reason);
    EXPECT_EQ(found.algorithm, agreed.algorithm);
    EXPECT_EQ(found.predicted_raw_seconds, agreed.predicted_raw_seconds);
    EXPECT_EQ(found.predicted_compressed_seconds, agreed.predicted_seconds);
    EXPECT_GT(found.predicted_raw_seconds, 0);
  }
}

TEST(Plans, TheRatioThatIsNeededIsTheOneFromWhichOnCompressionIsChosen) {
  const Codec codec = codec_of("mpc");
  tw_codec_cost cost{sizeof(tw_codec_cost), 0, 1e9, 1e9, 4};
  const auto choice = plan(codec.get(), cost, TW_ALLGATHER, kLink);
  ASSERT_EQ(choice.reason, std::uint32_t{TW_COMPRESS});
  ASSERT_GT(choice.least_ratio, 1);
  cost.ratio = choice.least_ratio * 1.001;
  EXPECT_EQ(plan(codec.get(), cost, TW_ALLGATHER, kLink).reason, std::uint32_t{TW_COMPRESS});
  cost.ratio = choice.least_ratio * 0.999;
  EXPECT_EQ(plan(codec.get(), cost, TW_ALLGATHER, kLink).reason, std::uint32_t{TW_RAW_LINK_FASTER});
}

// Calls that plan or create with such a link and cost, of which `accepts` says whether all or none
// take it.
void expect_taken(double link, const tw_codec_cost& cost, bool accepts) {
  const Codec codec = codec_of("mpc");
  tw_plan_settings settings{};
  settings.size = sizeof settings;
  settings.link_bytes_per_second = link;
  settings.cost = cost;
  tw_plan_facts facts{};
  facts.size = sizeof facts;
  tw_plan_choice choice{};
  choice.size = sizeof choice;
  tw_collective_facts call{};
  call.size = sizeof call;
  call.ranks = call.nodes = 2;
  tw_collective_choice chosen{};
  chosen.size = sizeof chosen;
  const tw_status expected = accepts ? TW_OK : TW_INVALID_ARGUMENT;
  EXPECT_EQ(tw_plan_message(codec.get(), &settings, &facts, &choice), expected) << link;
  EXPECT_EQ(tw_plan_collective(codec.get(), &settings, &call, &chosen), expected) << link;
}

tw_status status_of_communicator(const tw_comm_options& options, double next_link) {
  tw_transport end{};
  end.size = sizeof end;
  EXPECT_EQ(tw_transport_local(1, &end), TW_OK);
  tw_comm* comm = nullptr;
  tw_status status = tw_comm_create(&end, &options, &comm);
  if (status == TW_OK) status = tw_comm_set_link(comm, next_link);
  tw_comm_destroy(comm);
  return status;
}

TEST(Plans, RatesAndCostsThatAreNoneAreRefusedEverywhere) {
  const double infinite = std::numeric_limits<double>::infinity();
  const tw_codec_cost unmeasured{}, sound{0, 0, 1e9, 2e9, 1.5};
  tw_comm_options options{};
  options.size = sizeof options;
  for (const double link : {0.0, 1e-3, 125e6}) {
    expect_taken(link, unmeasured, true);
    expect_taken(link, sound, true);
    options.link_bytes_per_second = link;
    EXPECT_EQ(status_of_communicator(options, link), TW_OK) << link;
  }
  for (const double none : {std::nan(""), infinite, -infinite, -1.0, 0.0}) {
    for (const int place : {0, 1, 2}) {
      tw_codec_cost cost = sound;
      (place == 0   ? cost.encode_bytes_per_second
       : place == 1 ? cost.decode_bytes_per_second
                    : cost.ratio) = none;
      expect_taken(125e6, cost, false);
    }
    if (none == 0) continue;
    expect_taken(none, sound, false);
    options.link_bytes_per_second = 0;
    EXPECT_EQ(status_of_communicator(options, none), TW_INVALID_ARGUMENT) << none;
    options.link_bytes_per_second = none;
    EXPECT_EQ(status_of_communicator(options, 0), TW_INVALID_ARGUMENT) << none;
  }
}

TEST(Plans, SizesThatNoMemoryHasAreRefused) {
  tw_comm_options options{};
  options.size = sizeof options;
  options.piece_bytes = std::uint64_t{1} << 63;
  EXPECT_EQ(status_of_communicator(options, 0), TW_INVALID_ARGUMENT);
  options.piece_bytes = 0;
  options.reference_bytes = std::uint64_t{1} << 63;
  EXPECT_EQ(status_of_communicator(options, 0), TW_INVALID_ARGUMENT);
}

TEST(Plans, WhatIsNoCollectiveIsRefused) {
  const Codec codec = codec_of("mpc");
  tw_plan_settings settings{};
  settings.size = sizeof settings;
  tw_collective_facts sound{};
  sound.size = sizeof sound;
  sound.ranks = sound.nodes = 2;
  tw_collective_choice choice{};
  choice.size = sizeof choice;
  ASSERT_EQ(tw_plan_collective(codec.get(), &settings, &sound, &choice), TW_OK);
  const auto refused = [&](auto&& change) {
    tw_collective_facts facts = sound;
    change(facts);
    return tw_plan_collective(codec.get(), &settings, &facts, &choice) == TW_INVALID_ARGUMENT;
  };
  EXPECT_TRUE(refused([](auto& facts) { facts.operation = TW_POLICY_SEND; }));
  EXPECT_TRUE(refused([](auto& facts) { facts.dtype = 9; }));
  EXPECT_TRUE(refused([](auto& facts) { facts.ranks = 0; }));
  EXPECT_TRUE(refused([](auto& facts) { facts.nodes = 0; }));
  EXPECT_TRUE(refused([](auto& facts) { facts.nodes = 3; }));
  EXPECT_TRUE(refused([](auto& facts) { facts.algorithm = 99; }));
  EXPECT_TRUE(refused([](auto& facts) { facts.size = 0; }));
  EXPECT_EQ(tw_plan_collective(nullptr, &settings, &sound, &choice), TW_INVALID_ARGUMENT);
}

TEST(Plans, AutoCostsWhatItsCodecForTheTypeCosts) {
  const Costs costs = costs_of("lorenzo:tuple=1 f32 1048576 host 4e9 8e9 1.5");
  tw_codec_cost cost{};
  cost.size = sizeof cost;
  const auto has = [&](const char* spec, std::uint32_t dtype) {
    return tw_costs_find(costs.get(), codec_of(spec).get(), dtype, 1 << 18, 0, &cost);
  };
  EXPECT_EQ(has("auto", TW_F32), 1);
  EXPECT_EQ(has("lossless", TW_F32), 1);
  EXPECT_EQ(has("auto", TW_F64), 0);
  EXPECT_EQ(has("off", TW_F32), 0);
  EXPECT_EQ(has("lorenzo:shape=8x?", TW_F32), 0);  // tables have lines alone
  EXPECT_EQ(tw_costs_count(nullptr), 0U);
}

TEST(Plans, ACodecsCandidatesAreThoseOfTheType) {
  std::uint32_t ids[8] = {};
  const Codec automatic = codec_of("auto"), blockq = codec_of("blockq:bits=8"),
              off = codec_of("off");
  const std::uint32_t all = tw_codec_ids(automatic.get(), nullptr, 0);
  const std::uint32_t of_f32 = tw_codec_ids_for(automatic.get(), TW_F32, ids, 8);
  ASSERT_GE(of_f32, 2U);
  EXPECT_LE(of_f32, all);
  EXPECT_EQ(std::set<std::uint32_t>(ids, ids + of_f32).size(), of_f32);
  EXPECT_LT(tw_codec_ids_for(automatic.get(), TW_F64, nullptr, 0), all);
  EXPECT_EQ(ids[of_f32], 0U);
  EXPECT_EQ(static_cast<std::int64_t>(ids[0]), tw_codec_id(codec_of("lorenzo").get()));
  EXPECT_EQ(tw_codec_ids_for(automatic.get(), TW_BYTES, ids, 8), 0U);
  EXPECT_EQ(tw_codec_ids_for(blockq.get(), TW_F32, ids, 8), 1U);
  EXPECT_EQ(tw_codec_ids_for(blockq.get(), TW_BYTES, ids, 8), 0U);
  EXPECT_EQ(tw_codec_ids_for(off.get(), TW_F32, ids, 8), 0U);
}

}  // namespace
}  // namespace plans
