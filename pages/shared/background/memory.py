"""Tell how much memory the server has left, and refuse a run that does not fit. No Streamlit here."""

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # a container's own limit
SPARE_BYTES = 256 * 2**20  # kept free for the pages of all visitors


def check_run(needed: int, left: int | None) -> None:
    """Raise MemoryError, in words for readers, unless a run's bytes fit into those left (None: unknown)."""
    if left is not None and needed > left - SPARE_BYTES:
        most = max(left - SPARE_BYTES, 0)
        raise MemoryError(
            f"This run takes {megabytes(needed)}, and the server has {megabytes(most)} left. "
            "Try again later, or choose fewer hospitals, features or rounds."
        )


def available() -> int | None:
    """Return the bytes of memory still available to this machine and container, None where neither says."""
    limits = []
    try:
        fields = dict(line.split(":", 1) for line in _MEMINFO.read_text(encoding="ascii").splitlines())
        limits.append(1024 * int(fields["MemAvailable"].split()[0]))  # as "123 kB"
    except (OSError, KeyError, ValueError):
        pass
    try:
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        limits.append(int((_GROUP / "memory.max").read_text(encoding="ascii")) - used)
    except (OSError, ValueError):  # no group, or "max"
        pass
    return min(limits, default=None)


def megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MB"
