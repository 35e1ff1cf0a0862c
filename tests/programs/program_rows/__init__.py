"""The table of foreign programs: a file each, a row or several in it."""

from . import lammps, petsc

PROGRAMS = tuple(row for module in (lammps, petsc) for row in module.ROWS)
