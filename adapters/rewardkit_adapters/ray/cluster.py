"""Connect to a cluster or start Ray on this machine, and load the reward in any process in the cluster.

::

    with connected(None, "reward.py:reward") as cluster:  # this machine; or "auto", "10.0.0.1:6379", "ray://host:10001"
        cluster.load                                      # returns the reward in any process in the cluster
"""

from __future__ import annotations

import functools
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

from rewardkit.errors import DataError, MissingExtraError, shorten
from rewardkit.scoring.processes import cores, in_progress, one_reward
from rewardkit.tree.loading import is_file, split
from rewardkit.tree.reward import Reward, bindings

_AHEAD = 4
"""The number of items in progress per core. It is an arbitrary number greater than 1, so that no core waits for the
next item."""

_STORE_BYTES = 200_000_000
"""The size of the object store in bytes if rewardkit starts Ray. The size is arbitrary, but small because the store
contains descriptions of parts but never rows. Ray's default would use a third of the memory."""


@final
@dataclass(frozen=True)
class Load:
    """A picklable loader for the reward, for use in other processes: ``Load.of("reward.py:reward")()``.

    Attributes:
        target: ``/path/reward.py:reward`` or ``module:reward``.
        home: the folder in which the command runs. Relative paths, such as the path of a judge's cache, are relative to
            this folder.
        shipped: the target in the folder that Ray copied to the nodes, or "" if no folder was copied.
        environment: the environment variables that the reward needs, such as a judge's API key.
    """

    target: str
    home: str
    shipped: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, target: str, *, shipped: bool = False) -> Load:
        """Load the reward in this process, and return a `Load` for other processes.

        Args:
            shipped: whether the Python files in the reward's folder are copied to the nodes.

        Raises:
            RewardDefinitionError: there is no such reward.
        """
        source, name = split(target)
        keys = {key for _, binding in bindings(one_reward(target)) if (key := _key(binding.function))}
        environment = {key: os.environ[key] for key in keys | {"OPENAI_BASE_URL"} if key in os.environ}
        if not is_file(source):
            return cls(target, os.getcwd(), "", environment)
        path = Path(source).resolve()
        suffix = f":{name}" if name else ""
        return cls(f"{path}{suffix}", os.getcwd(), f"{path.name}{suffix}" if shipped else "", environment)

    def __call__(self) -> Reward:
        return one_reward(self.here)

    @property
    def here(self) -> str:
        """The target in this process. The first access sets the environment variables and the working directory."""
        return _prepared(self)

    def __hash__(self) -> int:
        return hash((self.target, self.home, self.shipped))


@functools.cache
def _prepared(load: Load) -> str:
    target = os.path.join(os.getcwd(), load.shipped) if load.shipped else load.target
    for name, value in load.environment.items():
        os.environ.setdefault(name, value)
    with suppress(OSError):  # the folder may not exist on this node
        os.chdir(load.home)
    return target


def _key(function: Any) -> str:
    """Return the name of the environment variable with a judge's API key, or "" for other functions."""
    access = getattr(getattr(getattr(function, "brief", None), "service", None), "access", None)
    return str(access.key) if access is not None else ""


@final
@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes:
        reward: the reward as loaded in this process.
        load: a function that loads the reward in any process in the cluster.
        cpus, gpus: the total resources on all nodes.
    """

    reward: Reward
    load: Load
    cpus: int
    gpus: int

    def mapped(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply a function to items on all nodes, and yield the results in order. A few items are computed ahead."""
        import ray

        def apply(item: Any) -> Any:
            return function(item)

        applied = ray.remote(apply)
        for _, reference in in_progress(applied.remote, items, _AHEAD * self.cpus):
            yield ray.get(reference)

    @property
    def share(self) -> float:
        """The fraction of a core that an actor reserves, so that two cores stay free for Ray Data's own tasks.

        Without the two free cores, a resumed run would wait forever. Ray needs one core for filtering out finished
        parts, and another one for listing files.
        """
        return max(0.0, (self.cpus - 2) / self.cpus)


@contextmanager
def connected(address: str | None, target: str) -> Iterator[Cluster]:
    """Connect to a cluster, or start Ray on this machine. An existing connection is reused.

    Args:
        address: ``"auto"``, ``"host:6379"``, or ``"ray://host:10001"``; None for this machine.
        target: ``path.py:name`` or ``module:name``. With an address, the Python files in the target's folder are copied
            to all nodes.

    Raises:
        DataError: no cluster is running at the address.
        MissingExtraError: Ray is not installed.
        RewardDefinitionError: there is no such reward.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # turn off Ray's usage reports
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError.of("scoring with Ray", "ray") from error
    source, _ = split(target)
    shipped = address is not None and is_file(source)
    load = Load.of(target, shipped=shipped)
    before = ray.is_initialized()
    if not before:
        log_options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        try:
            if address is None:
                ray.init(
                    "local", num_cpus=cores(), include_dashboard=False, object_store_memory=_STORE_BYTES, **log_options
                )
            else:
                with TemporaryDirectory() as working_dir:
                    if shipped:
                        _copy_modules(Path(source).resolve().parent, Path(working_dir))
                    ray.init(address, runtime_env={"working_dir": working_dir} if shipped else None, **log_options)
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            where = "on this machine" if address is None else f"at {address}"
            reason = shorten(str(error).strip().partition("\n")[0])
            raise DataError(
                f"there is no Ray cluster {where}: {reason}. Start one with `ray start --head`, or fix --address"
            ) from None
    try:
        resources = ray.cluster_resources()
        yield Cluster(one_reward(target), load, max(1, int(resources.get("CPU", 1))), int(resources.get("GPU", 0)))
    finally:
        if not before:
            ray.shutdown()


def _copy_modules(folder: Path, to: Path) -> None:
    """Copy the modules and packages that modules in `folder` can import from it. Data files are not copied."""
    to.mkdir(exist_ok=True)
    for entry in folder.iterdir():
        if entry.suffix == ".py" and entry.is_file():
            shutil.copyfile(entry, to / entry.name)
        elif (entry / "__init__.py").is_file():
            _copy_modules(entry, to / entry.name)
