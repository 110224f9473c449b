"""Workers in a Ray cluster."""

import shutil
import tempfile
from pathlib import Path

from .. import _spawn, _symm
from ..errors import BootstrapError, MissingDependencyError


class Ray:
    """Workers as Ray actors: ranks of one world on one node, which end with this program.

    Joins the cluster at `address` if this program has joined none: "auto", "ray://host:10001", or None for one of its
    own on this host. Each actor has `cpus` CPUs and, with `device="cuda"`, a GPU; `launch(…, gpu="H200")` says of which
    type, by Ray's name (`accelerator_type`). With `spread` they may be on several nodes, and are then not ranks.
    `command`, a list of words, starts a worker there, the node's own `symm-worker` if not given. The workers listen on
    TCP, with TLS and a token made for this launch, which Ray carries to them.

    `modules`, `allow_code`, `memory_limit`, `environment` and `deadline` are those of `Processes`.
    """

    chooses_gpus = True

    def __init__(
        self,
        address=None,
        device="cuda",
        cpus=1,
        spread=False,
        command=None,
        modules=(),
        allow_code=False,
        memory_limit=None,
        environment=None,
        deadline=_spawn.START,
    ):
        self._address, self._device, self._cpus, self._spread = address, device, cpus, spread
        self._options = _spawn.options(device, modules, allow_code, memory_limit)
        self._command, self._environment, self._deadline = command, environment or {}, deadline
        self._group, self._actors, self._joined = None, [], False

    def start(self, count, gpu=None):
        ray = _ray()
        folder = Path(tempfile.mkdtemp(prefix="symm-remote-"))
        try:
            if not ray.is_initialized():
                ray.init(self._address, include_dashboard=False, configure_logging=False)
                self._joined = True
            token, certificate, _ = files = _symm.remote_secrets(folder / "secrets")
            self._place(ray, count, gpu)
            secrets = {file.name: file.read_bytes() for file in files}
            addresses = self._start_all(ray, count, secrets)
            return [_symm.Link.connect(address, token.read_text(), certificate) for address in addresses]
        except BaseException:
            self.stop()
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def stop(self):
        ray = _ray()
        if ray.is_initialized():
            ended = [actor.stop.remote() for actor in self._actors]
            ray.wait(ended, num_returns=len(ended), timeout=2 * _spawn.END) if ended else None
            for actor in self._actors:
                ray.kill(actor)
            if self._group is not None:
                ray.util.remove_placement_group(self._group)
            if self._joined:
                ray.shutdown()
        self._group, self._actors, self._joined = None, [], False

    def _place(self, ray, count, gpu):
        """Reserves what the actors need, and makes them."""
        needs = {"CPU": self._cpus} if self._device == "cpu" else {"CPU": self._cpus, "GPU": 1}
        if gpu is not None:
            needs[f"accelerator_type:{gpu}"] = 0.001
        strategy = "SPREAD" if self._spread else "STRICT_PACK"
        self._group = ray.util.placement_group([needs] * count, strategy=strategy)
        if not self._group.wait(self._deadline):
            where = "its nodes have" if self._spread else "none of its nodes has"
            what = ", ".join(f"{name}: {number}" for name, number in needs.items())
            raise BootstrapError(
                f"Ray's cluster has no room: {where} {count} times {{{what}}} free within {self._deadline} s"
            )
        from .._ray_actor import Actor

        resources = {name: number for name, number in needs.items() if ":" in name}
        remote = ray.remote(Actor)
        for index in range(count):
            strategy = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(self._group, index)
            self._actors.append(
                remote.options(
                    num_cpus=self._cpus, num_gpus=needs.get("GPU", 0), resources=resources, scheduling_strategy=strategy
                ).remote()
            )

    def _start_all(self, ray, count, secrets):
        worlds = [self._environment] * count if self._spread else _spawn.worlds(count, self._environment)
        device = "cpu" if self._device == "cpu" else "cuda:0"
        started = [
            actor.start.remote(rank, secrets, device, self._command, self._options, world, self._deadline)
            for rank, (actor, world) in enumerate(zip(self._actors, worlds, strict=True))
        ]
        try:
            return ray.get(started, timeout=self._deadline)
        except ray.exceptions.RayTaskError as error:
            raise BootstrapError(str(error.cause)) from None
        except ray.exceptions.GetTimeoutError:
            raise BootstrapError(f"the Ray actors have started no workers within {self._deadline} s") from None


def _ray():
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise MissingDependencyError("symm.remote.Ray needs Ray: pip install ray") from None
    return ray
