#include "streams.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace thinwire::slots {
namespace {

constexpr auto kLongest = std::chrono::seconds(60);

// The object that a table's context points to.
struct End {
  World* world;
  int rank;
};

// Work that is posted in groups that lie inside one another goes when the outermost ends, on each
// stream as one task, whichever communicators it is of.
struct Groups {
  struct Part {
    End end;
    std::vector<World::Message> messages;
  };
  struct OnStream {
    Stream* stream;
    std::vector<Part> parts;
  };
  int depth = 0;
  std::vector<OnStream> posted;
};
thread_local Groups groups;

template <typename Each, typename Same>
Each& find_or_add(std::vector<Each>& all, Each fresh, const Same& same) {
  const auto at = std::find_if(all.begin(), all.end(), same);
  return at != all.end() ? *at : all.emplace_back(std::move(fresh));
}

void post(End& end, void* stream, World::Message message) {
  EXPECT_GT(groups.depth, 0);
  EXPECT_GT(message.bytes, 0U);
  EXPECT_NE(message.peer, end.rank);
  end.world->give_place(end.rank, message);
  auto* const on = static_cast<Stream*>(stream);
  auto& posted = find_or_add(groups.posted, Groups::OnStream{on, {}},
                             [&](const auto& each) { return each.stream == on; });
  auto& part = find_or_add(posted.parts, Groups::Part{end, {}}, [&](const auto& each) {
    return each.end.world == end.world && each.end.rank == end.rank;
  });
  part.messages.push_back(message);
}

End& end_at(void* context) { return *static_cast<End*>(context); }

tw_status begin_group(void*) {
  ++groups.depth;
  return TW_OK;
}

tw_status end_group(void*) {
  EXPECT_GT(groups.depth, 0);
  if (--groups.depth > 0) return TW_OK;
  for (Groups::OnStream& each : groups.posted) {
    const auto parts = std::make_shared<std::vector<Groups::Part>>(std::move(each.parts));
    each.stream->put([parts] {
      for (auto& part : *parts) part.end.world->post(part.end.rank, part.messages);
      for (auto& part : *parts) part.end.world->await(part.end.rank, part.messages);
    });
  }
  groups.posted.clear();
  return TW_OK;
}

tw_status post_send(void* context, int32_t peer, const void* data, uint64_t bytes, void* stream) {
  End& end = end_at(context);
  if (end.world->sends_to_fail > 0) {
    --end.world->sends_to_fail;
    return TW_DEVICE;
  }
  auto* const begin = static_cast<std::byte*>(const_cast<void*>(data));
  post(end, stream, {peer, true, begin, bytes});
  return TW_OK;
}

tw_status post_receive(void* context, int32_t peer, void* data, uint64_t bytes, void* stream) {
  post(end_at(context), stream, {peer, false, static_cast<std::byte*>(data), bytes});
  return TW_OK;
}

tw_status all_gather(void* context, void* blocks, uint64_t bytes, void* stream) {
  End& end = end_at(context);
  auto* const begin = static_cast<std::byte*>(blocks);
  for (int peer = 0; peer < end.world->ranks(); ++peer) {
    if (peer == end.rank) continue;
    post_send(context, peer, begin + static_cast<std::uint64_t>(end.rank) * bytes, bytes, stream);
    post_receive(context, peer, begin + static_cast<std::uint64_t>(peer) * bytes, bytes, stream);
  }
  return TW_OK;
}

tw_status broadcast(void* context, int32_t root, void* data, uint64_t bytes, void* stream) {
  End& end = end_at(context);
  if (end.rank != root) return post_receive(context, root, data, bytes, stream);
  for (int peer = 0; peer < end.world->ranks(); ++peer) {
    if (peer != root) post_send(context, peer, data, bytes, stream);
  }
  return TW_OK;
}

tw_status call(void*, void (*function)(void*), void* argument, void* stream) {
  static_cast<Stream*>(stream)->put([=] { function(argument); });
  return TW_OK;
}

void release(void* context) {
  const std::lock_guard lock(end_at(context).world->mutex);
  ++end_at(context).world->released;
  delete &end_at(context);
}

}  // namespace

tw_stream_transport World::end(int rank, bool collectives) {
  tw_stream_transport table{};
  table.size = sizeof table;
  table.rank = rank;
  table.ranks = ranks_;
  table.context = new End{.world = this, .rank = rank};
  table.begin_group = begin_group;
  table.end_group = end_group;
  table.send = post_send;
  table.receive = post_receive;
  if (collectives) {
    table.all_gather = all_gather;
    table.broadcast = broadcast;
  }
  table.call = call;
  table.release = release;
  return table;
}

void World::give_place(int rank, Message& message) {
  const std::lock_guard lock(mutex);
  const Way way = message.sends ? Way(rank, message.peer) : Way(message.peer, rank);
  message.place = (message.sends ? sends_ : receives_)[way]++;
}

void World::meet(Way way) {
  auto &sent = sent_[way], &received = received_[way];
  for (auto at = sent.begin(); at != sent.end();) {
    const auto other = received.find(at->first);
    if (other == received.end()) {
      ++at;
      continue;
    }
    Message &out = *at->second, &in = *other->second;
    EXPECT_EQ(out.bytes, in.bytes) << "from " << way.first << " to " << way.second;
    std::memcpy(in.data, out.data, std::min(in.bytes, out.bytes));
    bytes[way] += in.bytes;
    if (tamper_) tamper_(way.first, way.second, in.data, in.bytes);
    out.complete = in.complete = true;
    received.erase(other);
    at = sent.erase(at);
  }
}

void World::post(int rank, std::vector<Message>& messages) {
  const std::lock_guard lock(mutex);
  most_together = std::max(most_together, messages.size());
  for (Message& message : messages) {
    const Way way = message.sends ? Way(rank, message.peer) : Way(message.peer, rank);
    (message.sends ? sent_ : received_)[way][message.place] = &message;
    meet(way);
  }
  moved_.notify_all();
}

void World::await(int rank, const std::vector<Message>& messages) {
  std::unique_lock lock(mutex);
  const bool done = moved_.wait_for(lock, kLongest, [&] {
    return std::all_of(messages.begin(), messages.end(),
                       [](const Message& message) { return message.complete; });
  });
  if (!done) {
    ADD_FAILURE() << "rank " << rank << " waits for ever";
    std::abort();  // its memory is under way
  }
}

}  // namespace thinwire::slots
