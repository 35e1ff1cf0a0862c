// Enqueueing allocates nothing, nor do the steps on the stream.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "thinwire/thinwire.h"

namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (counting) ++allocations;
  void* const made = std::malloc(bytes);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
[[gnu::noinline]] void operator delete(void* at) noexcept { std::free(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { std::free(at); }

namespace {

// The work that two ranks, driven by one thread, put on their streams, in its order.
struct Put {
  void (*function)(void*);
  void* argument;
};
struct Posted {
  const void* from = nullptr;
  void* to = nullptr;
  uint64_t bytes = 0;
};
struct Ends {
  Put put[64];
  int count = 0;
  Posted way[2];  // from rank 0, from rank 1
};
struct End {
  Ends* ends;
  int rank;
};

End& end_at(void* context) { return *static_cast<End*>(context); }
tw_status nothing(void*) { return TW_OK; }

// A message is a host function like all others, after both posts of it.
void meet(Ends& ends, Posted& way) {
  if (way.from == nullptr || way.to == nullptr) return;
  static Posted copies[64];
  static int next = 0;
  Posted& copy = copies[next++ % 64];
  copy = way;
  way = {};
  ends.put[ends.count++] = {[](void* argument) {
                              const Posted& own = *static_cast<Posted*>(argument);
                              std::copy_n(static_cast<const char*>(own.from), own.bytes,
                                          static_cast<char*>(own.to));
                            },
                            &copy};
}

tw_status send(void* context, int32_t, const void* data, uint64_t bytes, void*) {
  End& end = end_at(context);
  Posted& way = end.ends->way[end.rank];
  way.from = data;
  way.bytes = bytes;
  meet(*end.ends, way);
  return TW_OK;
}

tw_status receive(void* context, int32_t peer, void* data, uint64_t, void*) {
  End& end = end_at(context);
  Posted& way = end.ends->way[peer];
  way.to = data;
  meet(*end.ends, way);
  return TW_OK;
}

tw_status call(void* context, void (*function)(void*), void* argument, void*) {
  Ends& ends = *end_at(context).ends;
  ends.put[ends.count++] = {function, argument};
  return TW_OK;
}

struct alignas(512) Room {
  std::byte bytes[1 << 16];
};

TEST(Allocations, AreNoneBehindThePlan) {
  Ends ends;
  End both[2] = {{&ends, 0}, {&ends, 1}};
  std::vector<float> arrays[2];
  std::vector<Room> rooms(4);
  alignas(64) static unsigned char mailboxes[2][4096];
  tw_stream_comm* comms[2];
  tw_stream_plan* plans[2];
  tw_stream_call calls[2]{};
  for (int rank : {0, 1}) {
    tw_stream_transport table{};
    table.size = sizeof table;
    table.rank = rank;
    table.ranks = 2;
    table.context = &both[rank];
    table.begin_group = table.end_group = nothing;
    table.send = send;
    table.receive = receive;
    table.call = call;
    ASSERT_EQ(tw_stream_comm_create(&table, nullptr, &comms[rank]), TW_OK) << tw_last_error();
    tw_stream_plan_options options{};
    options.size = sizeof options;
    options.operation = TW_STREAM_ALLREDUCE;
    options.dtype = TW_F32;
    options.count = 3000;
    options.capacity[0] = 512;
    options.way = TW_STREAM_DIRECT;
    ASSERT_EQ(tw_stream_plan_create(comms[rank], &options, &plans[rank]), TW_OK);
    tw_stream_plan_info info{};
    info.size = sizeof info;
    ASSERT_EQ(tw_stream_plan_describe(plans[rank], &info), TW_OK);
    ASSERT_LE(info.device_bytes, sizeof(Room));
    ASSERT_EQ(tw_mailbox_open(mailboxes[rank], sizeof mailboxes[rank]), TW_OK);
    arrays[rank].assign(3000, static_cast<float>(rank + 1));
    calls[rank].size = sizeof calls[rank];
    calls[rank].plan = plans[rank];
    calls[rank].send = calls[rank].receive = arrays[rank].data();
    calls[rank].device = rooms[static_cast<std::size_t>(2 * rank)].bytes;
    calls[rank].record = rooms[static_cast<std::size_t>(2 * rank + 1)].bytes;
    calls[rank].mailbox = mailboxes[rank];
  }
  counting = true;
  const tw_status status = tw_stream_enqueue(calls, 2);
  for (int at = 0; at < ends.count; ++at) ends.put[at].function(ends.put[at].argument);
  counting = false;
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(status, TW_OK);
  for (int rank : {0, 1}) {
    tw_stream_report report{};
    report.size = sizeof report;
    EXPECT_EQ(tw_stream_check(plans[rank], calls[rank].record, &report), TW_OK);
    EXPECT_EQ(report.complete, 1U);
    EXPECT_EQ(arrays[rank], std::vector<float>(3000, 3));
    tw_stream_plan_destroy(plans[rank]);
    tw_stream_comm_destroy(comms[rank]);
  }
}

}  // namespace
