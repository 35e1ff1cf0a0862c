// Passes doubles around a ring of ranks and hands out an array by MPI's C functions, declared for the
// handles of Open MPI or of MPICH's family; each rank writes all that it got.
#![allow(unused_unsafe)] // newer compilers take an address of these without
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{addr_of_mut, null_mut};

#[cfg(openmpi)]
mod handles {
    use std::os::raw::c_void;
    pub type Handle = *mut c_void;
    extern "C" {
        pub static mut ompi_mpi_comm_world: c_void;
        pub static mut ompi_mpi_double: c_void;
    }
    pub fn world() -> Handle {
        unsafe { std::ptr::addr_of_mut!(ompi_mpi_comm_world) }
    }
    pub fn double() -> Handle {
        unsafe { std::ptr::addr_of_mut!(ompi_mpi_double) }
    }
}

#[cfg(mpich)]
mod handles {
    pub type Handle = std::os::raw::c_int;
    pub fn world() -> Handle {
        0x44000000
    }
    pub fn double() -> Handle {
        0x4c00080b
    }
}

use handles::{double, world, Handle};

extern "C" {
    fn MPI_Init(words: *mut c_int, list: *mut *mut *mut c_char) -> c_int;
    fn MPI_Comm_rank(of: Handle, rank: *mut c_int) -> c_int;
    fn MPI_Comm_size(of: Handle, ranks: *mut c_int) -> c_int;
    fn MPI_Sendrecv(
        sent: *const f64, count: c_int, datatype: Handle, to: c_int, tag: c_int,
        received: *mut f64, room: c_int, into: Handle, from: c_int, its_tag: c_int,
        on: Handle, status: *mut c_void,
    ) -> c_int;
    fn MPI_Bcast(data: *mut f64, count: c_int, datatype: Handle, root: c_int, on: Handle) -> c_int;
    fn MPI_Finalize() -> c_int;
}

fn main() -> std::io::Result<()> {
    let (mut rank, mut ranks) = (0, 0);
    unsafe {
        MPI_Init(null_mut(), null_mut());
        MPI_Comm_rank(world(), addr_of_mut!(rank));
        MPI_Comm_size(world(), addr_of_mut!(ranks));
    }
    const COUNT: usize = 40000;
    let (to, from) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    let mine: Vec<f64> = (0..COUNT).map(|i| f64::from(rank + 1) + i as f64 / 1024.0).collect();
    let (mut passed, mut shared) = (vec![0.0; COUNT], vec![0.0; COUNT]);
    if rank == 0 {
        shared = mine.iter().map(|x| x.sqrt()).collect();
    }
    let mut status = [0i64; 8]; // longer than any family's
    unsafe {
        MPI_Sendrecv(
            mine.as_ptr(), COUNT as c_int, double(), to, 1,
            passed.as_mut_ptr(), COUNT as c_int, double(), from, 1,
            world(), status.as_mut_ptr().cast(),
        );
        MPI_Bcast(shared.as_mut_ptr(), COUNT as c_int, double(), 0, world());
    }
    let all: Vec<u8> = passed.iter().chain(&shared).flat_map(|x| x.to_ne_bytes()).collect();
    std::fs::write(format!("rank-{rank}"), all)?;
    unsafe { MPI_Finalize() };
    Ok(())
}
