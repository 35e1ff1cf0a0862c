// Which collectives NCCL_ALGO leaves NCCL.
#include "run/gathers.h"

#include <gtest/gtest.h>

namespace thinwire::nccl {
namespace {

TEST(Gathers, RingsDoAll) {
  for (const char* list : {"", "Ring", "ring", "Tree,Ring", "^Tree", "^collnet,nvls", "NVLS,RING"})
    EXPECT_TRUE(has_ring(list, "allgather")) << list;
}

TEST(Gathers, ListsWithoutRingsDoNot) {
  for (const char* list : {"Tree", "tree", "NVLSTree,Tree", "^ring", "^Tree,Ring"})
    EXPECT_FALSE(has_ring(list, "allgather")) << list;
}

TEST(Gathers, AFunctionHasAListOfItsOwn) {
  EXPECT_TRUE(has_ring("allreduce:tree,collnetdirect", "allgather"));
  EXPECT_FALSE(has_ring("allreduce:ring;allgather:nvls", "allgather"));
  EXPECT_TRUE(has_ring("allreduce:ring;allgather:nvls", "broadcast"));
  EXPECT_TRUE(has_ring("tree;AllGather:Ring", "allgather"));
  EXPECT_FALSE(has_ring("tree;AllGather:Ring", "broadcast"));
  EXPECT_FALSE(has_ring("broadcast:^ring", "broadcast"));
}

}  // namespace
}  // namespace thinwire::nccl
