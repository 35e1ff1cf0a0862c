"""The table of foreign programs: a file each, a row or several in it."""

from . import espresso, fftw, gromacs, hdf5, hpcc, lammps, languages, petsc, scalapack

MODULES = (espresso, fftw, gromacs, hdf5, hpcc, lammps, languages, petsc, scalapack)

PROGRAMS = tuple(row for module in MODULES for row in module.ROWS)
