// An NCCL program of four processes, ranks of a mesh of two by two: gradients are summed over the
// ranks of a column, and both ranks of a row have them alike, as tensor-parallel ranks have those
// of their norms. After each sum the row compares its bits. Prints "ok", and on what the row
// agrees: how many sums were exact, and which was the first that was not.
//
// mesh_program CALLS split    the columns are the parts of one split
// mesh_program CALLS singles  of splits that leave the others out
// mesh_program CALLS ids      made by ids of their own
// mesh_program CALLS one      the first column alone, which has no sibling
// mesh_program CALLS named    by ids, called "column"; the ranks of the second make another
//                             communicator before, which the first's do not; RANKS=6: columns of
//                             three
// mesh_program CALLS alone    as one, called "column"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ranks.h"

namespace {

constexpr std::size_t kCount = 64 << 10;
constexpr int kNoColor = -1;

// The same on both ranks of a row; sums of two are exact.
float value(int row, int call, std::size_t at) {
  return static_cast<float>((at * 7 + static_cast<std::size_t>(call) * 13) % 1000) / 64 +
         static_cast<float>(row);
}

ncclComm_t part_of(const ranks::Rank& self, int color) {
  ncclComm_t made = nullptr;
  ncclCommSplit(self.comm, color, self.rank, &made, nullptr);
  return made;
}

// Makes a communicator of the ranks of one column, with a configuration as NCCL from 2.27 on has
// it.
ncclComm_t made_by_id(int column, int row, const std::string& what, const char* name) {
  const std::string path = std::string(ranks::file()) + "-" + what + std::to_string(column);
  const ncclUniqueId id = ranks::new_id_by_file(row, path);
  alignas(8) char config[56] = {};
  const ncclConfig_t head{sizeof config, 0xcafebeef, 22809, 1};
  std::memcpy(config, &head, 20);
  std::memcpy(config + 48, &name, sizeof name);
  ncclComm_t made = nullptr;
  ncclCommInitRankConfig(&made, ranks::count(4) / 2, id, row,
                         reinterpret_cast<ncclConfig_t*>(config));
  return made;
}

ncclComm_t column_of(const ranks::Rank& self, const std::string& way) {
  const int column = self.rank % 2, row = self.rank / 2;
  if (way == "named" && column == 1) made_by_id(column, row, "other", "colder");
  if (way == "named") return made_by_id(column, row, "", "column");
  if (way == "alone") return column == 1 ? nullptr : made_by_id(column, row, "", "column");
  if (way == "split") return part_of(self, column);
  if (way == "ids") {
    const std::string path = std::string(ranks::file()) + "-" + std::to_string(column);
    ncclComm_t made = nullptr;
    ncclCommInitRank(&made, 2, ranks::new_id_by_file(row, path), row);
    return made;
  }
  const ncclComm_t first = part_of(self, column == 0 ? 0 : kNoColor);
  if (way == "one") return first;
  const ncclComm_t second = part_of(self, column == 1 ? 0 : kNoColor);
  return column == 0 ? first : second;
}

struct Seen {
  int exact = 0;
  int first_other = -1;
  bool alike = true;
};

// Whether the row's other rank has the same bits.
bool is_alike(const ranks::Rank& self, ncclComm_t row, const std::vector<float>& sums) {
  const auto* const own = reinterpret_cast<const std::byte*>(sums.data());
  std::vector<std::byte> both(2 * kCount * sizeof(float));
  ncclAllGather(own, both.data(), kCount * sizeof(float), ncclInt8, row, self.stream);
  self.synchronize();
  return std::memcmp(both.data(), both.data() + kCount * sizeof(float), kCount * sizeof(float)) ==
         0;
}

Seen train(const ranks::Rank& self, ncclComm_t column, ncclComm_t row, int calls) {
  Seen seen;
  std::vector<float> gradients(kCount), sums(kCount);
  for (int call = 0; call < calls; ++call) {
    for (std::size_t at = 0; at < kCount; ++at) gradients[at] = value(self.rank / 2, call, at);
    sums = gradients;
    if (column != nullptr) {
      ncclAllReduce(gradients.data(), sums.data(), kCount, ncclFloat32, ncclSum, column,
                    self.stream);
      self.synchronize();
      bool exact = true;
      for (std::size_t at = 0; at < kCount; ++at) {
        float wanted = 0;
        for (int each = 0; each < self.ranks / 2; ++each) wanted += value(each, call, at);
        exact = exact && sums[at] == wanted;
      }
      if (exact) ++seen.exact;
      if (!exact && seen.first_other < 0) seen.first_other = call;
    }
    if (row != nullptr && !is_alike(self, row, sums)) seen.alike = false;
  }
  return seen;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || ranks::file() == nullptr) return 2;
  const int calls = std::atoi(words[1]);
  const std::string way = words[2];
  Seen seen;
  ranks::run(ranks::count(4), [&](ranks::Rank& self) {
    const ncclComm_t column = column_of(self, way);
    const ncclComm_t row = way == "one" || way == "alone" ? nullptr : part_of(self, self.rank / 2);
    seen = train(self, column, row, calls);
    for (const ncclComm_t each : {column, row}) {
      if (each != nullptr) ncclCommDestroy(each);
    }
  });
  if (!seen.alike) std::puts("the row's ranks differ");
  std::printf("%s: %d exact, the first other %d\n", seen.alike ? "ok" : "wrong", seen.exact,
              seen.first_other);
  return seen.alike ? 0 : 1;
}
