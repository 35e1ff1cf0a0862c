// The libnccl over host memory behaves as NCCL does where tests rely on it.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>

#include "ranks.h"

namespace {

using ranks::Rank;

constexpr std::size_t kCount = 40'000;  // several rings full

std::vector<float> values(int rank, std::size_t count) {
  std::vector<float> made(count);
  std::iota(made.begin(), made.end(), static_cast<float>(1000 * rank));
  return made;
}

ncclResult_t state_of(const Rank& self) {
  ncclResult_t state = ncclSuccess;
  ncclCommGetAsyncError(self.comm, &state);
  return state;
}

TEST(FakeNccl, SumsAreThoseOfAllRanks) {
  ranks::run(4, [](Rank& self) {
    std::vector<float> data = values(self.rank, kCount);
    ncclAllReduce(data.data(), data.data(), kCount, ncclFloat32, ncclSum, self.comm, self.stream);
    self.synchronize();
    for (std::size_t i = 0; i < kCount; i += 997) {
      ASSERT_EQ(data[i], 4 * static_cast<float>(i) + 6000);
    }
  });
}

TEST(FakeNccl, BlocksGoToTheirPlaces) {
  ranks::run(3, [](Rank& self) {
    const std::vector<float> mine = values(self.rank, kCount);
    std::vector<float> all(3 * kCount), block(kCount);
    ncclAllGather(mine.data(), all.data(), kCount, ncclFloat32, self.comm, self.stream);
    ncclReduceScatter(all.data(), block.data(), kCount, ncclFloat32, ncclMax, self.comm,
                      self.stream);
    self.synchronize();
    for (int rank = 0; rank < 3; ++rank) ASSERT_EQ(all[rank * kCount + 7], values(rank, 8)[7]);
    ASSERT_EQ(block, mine);
  });
}

TEST(FakeNccl, BroadcastAndReduceHaveARoot) {
  ranks::run(3, [](Rank& self) {
    std::vector<float> data = values(self.rank, kCount);
    std::vector<float> sum(kCount, -1);
    ncclBcast(data.data(), kCount, ncclFloat32, 2, self.comm, self.stream);
    ncclReduce(data.data(), sum.data(), kCount, ncclFloat32, ncclAvg, 1, self.comm, self.stream);
    self.synchronize();
    ASSERT_EQ(data, values(2, kCount));
    // Values are multiplied before they are added, so the average is rounded more than once.
    ASSERT_FLOAT_EQ(sum[5], self.rank == 1 ? data[5] : -1);
  });
}

TEST(FakeNccl, AGroupsMessagesProgressTogether) {
  ranks::run(4, [](Rank& self) {
    const std::vector<float> mine = values(self.rank, kCount);
    std::vector<float> from(4 * kCount);
    ncclGroupStart();
    for (int peer = 0; peer < 4; ++peer) {
      ncclSend(mine.data(), kCount, ncclFloat32, peer, self.comm, self.stream);
      ncclRecv(&from[peer * kCount], kCount, ncclFloat32, peer, self.comm, self.stream);
    }
    ASSERT_EQ(cudaStreamQuery(self.stream), 0) << "enqueued before the group's end";
    ncclGroupEnd();
    self.synchronize();
    for (int peer = 0; peer < 4; ++peer)
      ASSERT_EQ(from[peer * kCount + 9], mine[9] + 1000 * (peer - self.rank));
  });
}

// A call reads the data that is there when the stream reaches it.
TEST(FakeNccl, TheHostRunsAhead) {
  ranks::run(2, [](Rank& self) {
    std::promise<void> gate;
    std::vector<float> data(16, 0);
    struct Step {
      std::vector<float>* data;
      std::shared_future<void> open;
    } step{&data, gate.get_future().share()};
    cudaLaunchHostFunc(
        self.stream,
        [](void* argument) {
          auto& step = *static_cast<Step*>(argument);
          step.open.wait();
          step.data->assign(16, 1);
        },
        &step);
    for (int call = 0; call < 10; ++call) {
      ncclAllReduce(data.data(), data.data(), 16, ncclFloat32, ncclSum, self.comm, self.stream);
    }
    ASSERT_EQ(cudaStreamQuery(self.stream), 600);
    gate.set_value();
    self.synchronize();
    ASSERT_EQ(data[3], 1024);
  });
}

// NCCL promises it for the calls of a communicator, whatever their streams.
TEST(FakeNccl, CallsOnTwoStreamsRunInOrder) {
  ranks::run(2, [](Rank& self) {
    cudaStream_t other{};
    cudaStreamCreate(&other);
    std::vector<float> data(kCount, 1);
    for (int call = 0; call < 6; ++call) {
      ncclAllReduce(data.data(), data.data(), kCount, ncclFloat32, ncclSum, self.comm,
                    call % 2 == 0 ? self.stream : other);
    }
    cudaStreamSynchronize(other);
    self.synchronize();
    ASSERT_EQ(data[kCount - 1], 64);
    cudaStreamDestroy(other);
  });
}

// Each is what invalidates a capture; a call of NCCL's finds out.
TEST(FakeNccl, ACapturedStreamAnswersNoQuestions) {
  ranks::run(2, [](Rank& self) {
    unsigned long long id = 0, other = 0;
    ASSERT_EQ(cudaStreamGetId(self.stream, &id), 0);
    ASSERT_EQ(cudaStreamGetId(nullptr, &other), 0);
    ASSERT_NE(id, other);
    std::vector<float> data(kCount, 1);
    for (const auto ask : {+[](cudaStream_t of) { return cudaStreamQuery(of); },
                           +[](cudaStream_t of) { return cudaStreamSynchronize(of); },
                           +[](cudaStream_t of) {
                             unsigned long long answer = 0;
                             return cudaStreamGetId(of, &answer);
                           }}) {
      cudaStreamBeginCapture(self.stream, cudaStreamCaptureModeRelaxed);
      const auto call = [&] {
        return ncclAllReduce(data.data(), data.data(), kCount, ncclFloat32, ncclSum, self.comm,
                             self.stream);
      };
      ASSERT_EQ(call(), ncclSuccess);
      ASSERT_EQ(ask(self.stream), 900);
      ASSERT_EQ(ask(self.stream), 901);
      ASSERT_EQ(call(), ncclUnhandledCudaError);
      ASSERT_EQ(cudaLaunchHostFunc(self.stream, [](void*) {}, nullptr), 901);
      auto state = cudaStreamCaptureStatusNone;
      cudaStreamIsCapturing(self.stream, &state);
      ASSERT_EQ(state, cudaStreamCaptureStatusInvalidated);
      cudaGraph_t graph{};
      ASSERT_EQ(cudaStreamEndCapture(self.stream, &graph), 901);
      ASSERT_EQ(graph, nullptr);
    }
    ASSERT_EQ(data[5], 1);
  });
}

TEST(FakeNccl, AGroupIsCapturedWholeOrNotAtAll) {
  ranks::run(2, [](Rank& self) {
    cudaStream_t other{};
    cudaStreamCreate(&other);
    cudaStreamBeginCapture(self.stream, cudaStreamCaptureModeRelaxed);
    std::vector<float> data(kCount, 1);
    ncclGroupStart();
    for (const cudaStream_t stream : {self.stream, other}) {
      ncclAllReduce(data.data(), data.data(), kCount, ncclFloat32, ncclSum, self.comm, stream);
    }
    ASSERT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    cudaGraph_t graph{};
    ASSERT_EQ(cudaStreamEndCapture(self.stream, &graph), 0);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(other);
  });
}

TEST(FakeNccl, DifferentCallsAreFoundOut) {
  std::atomic<int> told{0};
  ranks::run(3, [&](Rank& self) {
    std::vector<float> data(3 * kCount), out(3 * kCount);
    if (self.rank == 1) {
      ncclAllGather(data.data(), out.data(), kCount, ncclFloat32, self.comm, self.stream);
    } else {
      ncclAllReduce(data.data(), out.data(), kCount, ncclFloat32, ncclSum, self.comm, self.stream);
    }
    self.synchronize();
    ASSERT_NE(state_of(self), ncclSuccess);
    if (state_of(self) == ncclInternalError) ++told;
    ASSERT_NE(ncclBcast(data.data(), 1, ncclFloat32, 0, self.comm, self.stream), ncclSuccess);
  });
  EXPECT_GE(told, 1);
}

TEST(FakeNccl, AnAbortEndsTheOthersCalls) {
  ranks::run(2, [](Rank& self) {
    float value = 0;
    if (self.rank == 0) {
      ncclCommAbort(self.comm);
      self.comm = nullptr;
      return;
    }
    ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, self.comm, self.stream);
    self.synchronize();
    ASSERT_EQ(state_of(self), ncclRemoteError);
  });
}

// Each rank's values by its own factor, wherever that lies; the operation may end at once.
TEST(FakeNccl, SumsOfTheProgramsOwn) {
  ranks::run(2, [](Rank& self) {
    std::vector<float> data(kCount, 3), sum(kCount), part(kCount / 2);
    float factor = self.rank == 0 ? 0.5F : 10;
    const auto where = self.rank == 0 ? ncclScalarHostImmediate : ncclScalarDevice;
    ncclRedOp_t op{};
    ASSERT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, where, self.comm), ncclSuccess);
    ncclAllReduce(data.data(), sum.data(), kCount, ncclFloat32, op, self.comm, self.stream);
    ncclReduceScatter(data.data(), part.data(), kCount / 2, ncclFloat32, op, self.comm,
                      self.stream);
    if (self.rank == 0) factor = 99;
    ASSERT_EQ(ncclRedOpDestroy(op, self.comm), ncclSuccess);
    self.synchronize();
    ASSERT_EQ(sum[kCount - 1], 31.5F);
    ASSERT_EQ(part[7], 31.5F);
    ASSERT_EQ(data[7], 3);
    ASSERT_EQ(ncclRedOpDestroy(op, self.comm), ncclInvalidArgument);
    ASSERT_NE(
        ncclAllReduce(data.data(), sum.data(), kCount, ncclFloat32, op, self.comm, self.stream),
        ncclSuccess);
  });
}

TEST(FakeNccl, SplitsAreOrderedByKey) {
  ranks::run(4, [](Rank& self) {
    ncclComm_t half{};
    ncclCommSplit(self.comm, self.rank % 2, -self.rank, &half, nullptr);
    int rank = -1, count = -1;
    ncclCommUserRank(half, &rank);
    ncclCommCount(half, &count);
    ASSERT_EQ(count, 2);
    ASSERT_EQ(rank, self.rank < 2 ? 1 : 0);
    std::vector<float> data(1, 1.0F + self.rank);
    ncclAllReduce(data.data(), data.data(), 1, ncclFloat32, ncclSum, half, self.stream);
    self.synchronize();
    ASSERT_EQ(data[0], self.rank % 2 == 0 ? 4 : 6);
    ncclCommDestroy(half);
  });
}

TEST(FakeNccl, OneThreadMakesAllCommunicatorsInAGroup) {
  ncclComm_t comms[3] = {};
  ASSERT_EQ(ncclCommInitAll(comms, 3, nullptr), ncclSuccess);
  for (int rank = 0; rank < 3; ++rank) {
    int said = -1;
    ASSERT_EQ(ncclCommUserRank(comms[rank], &said), ncclSuccess);
    EXPECT_EQ(said, rank);
    ncclCommDestroy(comms[rank]);
  }
}

TEST(FakeNccl, ACommunicatorThatDoesNotBlockIsReadyLater) {
  ncclUniqueId id{};
  ncclGetUniqueId(&id);
  ncclConfig_t config{sizeof(ncclConfig_t), 0xcafebeef, 22809, 0};
  ncclComm_t comms[2] = {};
  ASSERT_EQ(ncclCommInitRankConfig(&comms[0], 2, id, 0, &config), ncclInProgress);
  ncclResult_t state = ncclSuccess;
  ncclCommGetAsyncError(comms[0], &state);
  ASSERT_EQ(state, ncclInProgress);
  ASSERT_EQ(ncclCommInitRankConfig(&comms[1], 2, id, 1, &config), ncclInProgress);
  for (ncclComm_t comm : comms) {
    do {
      ncclCommGetAsyncError(comm, &state);
    } while (state == ncclInProgress);
    EXPECT_EQ(state, ncclSuccess);
  }
  for (ncclComm_t comm : comms) ncclCommDestroy(comm);
}

// By NCCL's rules a call fails for good if the call before it has not been seen to succeed.
TEST(FakeNccl, ACallTooEarlyFailsACommunicatorThatDoesNotBlock) {
  ranks::run(2, [](Rank& self) {
    ncclConfig_t config{sizeof(ncclConfig_t), 0xcafebeef, 22809, 0};
    ncclComm_t later = nullptr;
    ASSERT_EQ(ncclCommSplit(self.comm, 0, self.rank, &later, &config), ncclSuccess);
    ASSERT_EQ(ranks::state_of(later), ncclSuccess);
    float value = 1;
    ASSERT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, later, self.stream),
              ncclInProgress);
    ASSERT_EQ(ranks::state_of(later), ncclSuccess);
    self.synchronize();
    ASSERT_EQ(value, 2);
    // A part leaves its parent in progress, though the call has succeeded, and is there when that
    // has ended.
    ncclComm_t part = nullptr;
    ASSERT_EQ(ncclCommSplit(later, 0, self.rank, &part, nullptr), ncclSuccess);
    ASSERT_EQ(ranks::state_of(later), ncclSuccess);
    ASSERT_NE(part, nullptr);
    ASSERT_EQ(ncclCommFinalize(part), ncclInProgress);
    ASSERT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, part, self.stream),
              ncclInvalidUsage);
    ncclCommAbort(part);
    ncclResult_t second = ncclSuccess;
    while (second == ncclSuccess) {
      const ncclResult_t first =
          ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, later, self.stream);
      ASSERT_TRUE(first == ncclInProgress || first == ncclInvalidArgument);
      second = ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, later, self.stream);
      if (second == ncclInProgress) second = ranks::state_of(later);
    }
    ASSERT_EQ(ranks::state_of(later), ncclInvalidArgument);
    ncclCommAbort(later);
  });
}

TEST(FakeNccl, CommunicatorsThatBlockAndSuchThatDoNotGoInNoGroup) {
  ranks::run(2, [](Rank& self) {
    ncclConfig_t config{sizeof(ncclConfig_t), 0xcafebeef, 22809, 0};
    ncclComm_t later = nullptr;
    ncclCommSplit(self.comm, 0, self.rank, &later, &config);
    ASSERT_EQ(ranks::state_of(later), ncclSuccess);
    float value = 1;
    ncclGroupStart();
    ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, later, self.stream);
    ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, self.comm, self.stream);
    ASSERT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    ncclCommDestroy(later);
  });
}

}  // namespace
