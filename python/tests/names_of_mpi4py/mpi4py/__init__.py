"""mpi4py's names for the calls of ``lehr.ranks``, so that programs written for mpi4py run on it. Tests only."""

__version__ = "4.1"
