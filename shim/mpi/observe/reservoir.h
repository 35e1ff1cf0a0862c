// Which of the arrays that come by make a sample of a bounded size. Pure: no clock, no files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thinwire::mpi {

// Every array of a kind has the same chance to be in the sample, whenever it came. Kinds share the
// bytes evenly: where there are too many, one of the kind that has the most makes room. The same
// arrays make the same sample.
class Reservoir {
 public:
  Reservoir(std::uint64_t most_bytes, std::uint64_t seed) : most_(most_bytes), random_(seed) {}

  struct Verdict {
    bool keep = false;
    std::uint64_t number = 0;            // of the array among all that were offered
    std::vector<std::uint64_t> dropped;  // numbers of those that make room for it
  };
  Verdict offer(std::uint32_t kind, std::uint64_t bytes);

  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Kept {
    std::uint64_t number, bytes;
  };
  // The arrays of one kind that are kept: those of the lowest marks.
  struct Kind {
    std::uint64_t below = UINT64_MAX;  // marks that are still taken
    std::uint64_t bytes = 0;
    std::multimap<std::uint64_t, Kept> kept;
  };

  std::uint64_t next_mark();
  std::uint64_t drop_one();

  const std::uint64_t most_;
  std::uint64_t random_;
  std::uint64_t offered_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::uint32_t, Kind> kinds_;
};

// The files of a rank's samples, and the lines that say what each one is.

// Writes a file; returns 0 or errno. Nothing is left of a file that was not written whole. A limit
// on the size of files (`ulimit -f`) is an error like others, not the end of the program.
int write_file(const std::string& path, const void* data, std::uint64_t bytes);

// Adds a line to a file, whole or not at all.
int add_line(const std::string& path, const std::string& line);

// Whether nobody has called it for the same path before, on any rank: makes a file of that name.
bool is_first(const std::string& path);

}  // namespace thinwire::mpi
