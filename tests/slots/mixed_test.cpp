// Any calls in any order: several communicators, streams and groups under way at once.
#include <gtest/gtest.h>

#include <random>

#include "member.h"

namespace thinwire::slots {
namespace {

struct Step {
  Case what;
  std::size_t comm = 0, stream = 0;
};

Case random_case(std::mt19937& random, int ranks) {
  static const char* const kSpecs[] = {"mpc", "expack", "lorenzo", "szp:abs=1e-3", "zfp:rate=12"};
  const auto any = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  Case made;
  made.ranks = ranks;
  made.operation = any(6);
  if (made.operation == TW_STREAM_RECEIVE) made.operation = TW_STREAM_SEND;  // has both
  made.spec = kSpecs[any(5)];
  made.dtype = 1 + any(4);
  if (!Codec(made.spec).takes(made.dtype)) made.dtype = TW_F32;
  made.count = any(4) == 0 ? any(3) : 1 + any(6000);
  made.capacity = any(3) == 0 ? 1 + any(512) : 512;
  made.way = any(3);
  made.scale = any(2) == 0 ? 0 : 0.25;
  made.root = static_cast<int>(any(static_cast<std::uint32_t>(ranks)));
  made.in_place = any(2) == 0;
  made.offset = any(8);
  made.seed = static_cast<int>(any(1000));
  if (any(3) == 0) made.noisy = {static_cast<int>(any(static_cast<std::uint32_t>(ranks)))};
  return made;
}

// Groups of one to three calls, the same on all ranks.
std::vector<std::vector<Step>> random_groups(std::mt19937& random, int ranks, int groups) {
  std::vector<std::vector<Step>> all(static_cast<std::size_t>(groups));
  for (auto& group : all) {
    for (std::size_t left = 1 + random() % 3; left > 0; --left) {
      const std::size_t comm = random() % 2;
      group.push_back({random_case(random, ranks), comm, random() % 2});
    }
  }
  return all;
}

void run_rank(int rank, const std::vector<std::vector<Step>>& groups, World* worlds,
              Carrier& carrier, const std::vector<std::vector<std::vector<Bytes>>>& sent) {
  const Comm comms[] = {make_comm(worlds[0], rank), make_comm(worlds[1], rank, false)};
  const Mailbox mailboxes[] = {Mailbox(32 * 1024), Mailbox(8 * 1024)};
  for (const Mailbox& mailbox : mailboxes) carrier.serve(rank, mailbox.memory);
  std::vector<std::unique_ptr<CaseOnRank>> cases;
  Stream streams[2];
  std::uint64_t number = 0;
  for (std::size_t at = 0; at < groups.size(); ++at) {
    std::vector<tw_stream_call> calls;
    for (std::size_t each = 0; each < groups[at].size(); ++each) {
      const Step& step = groups[at][each];
      ++number;
      if (!takes_part(step.what, rank)) continue;
      cases.push_back(
          std::make_unique<CaseOnRank>(step.what, rank, comms[step.comm], sent[at][each]));
      calls.push_back(cases.back()->call(number, mailboxes[step.stream], streams[step.stream]));
    }
    const auto count = static_cast<std::uint32_t>(calls.size());
    ASSERT_EQ(tw_stream_enqueue(calls.data(), count), TW_OK) << tw_last_error();
  }
  for (Stream& stream : streams) stream.wait();
  for (const auto& one : cases) one->expect();
  for (const Mailbox& mailbox : mailboxes) carrier.stop_serving(mailbox.memory);
}

class Mixed : public ::testing::TestWithParam<unsigned> {};

TEST_P(Mixed, CallsOfTwoCommunicatorsOnTwoStreamsInGroups) {
  std::mt19937 random(GetParam());
  const int ranks = 2 + static_cast<int>(GetParam() % 3);
  const auto groups = random_groups(random, ranks, 40);
  std::vector<std::vector<std::vector<Bytes>>> sent;
  for (const auto& group : groups) {
    sent.emplace_back();
    for (const Step& step : group) sent.back().push_back(arrays_of(step.what));
  }
  World worlds[] = {World(ranks), World(ranks)};
  Carrier carrier;
  on_ranks(ranks, [&](int rank) { run_rank(rank, groups, worlds, carrier, sent); });
}

INSTANTIATE_TEST_SUITE_P(Seeds, Mixed, ::testing::Range(0U, 12U));

}  // namespace
}  // namespace thinwire::slots
