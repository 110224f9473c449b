"""Random numbers are the worker's device's own, and random programs do what they do here."""

import os
import random
import signal

import pytest

torch = pytest.importorskip("torch")

from symm import errors, remote  # noqa: E402

DEVICE = remote.launch(1)[0]
PROGRAMS, OPS = 100, 200
# Without --all, this many programs run.
USUAL = 8


def test_manual_seed_gives_the_stream_of_the_workers_device():
    def draw(device):
        torch.manual_seed(11)
        x = torch.rand(10, device=device)
        y = torch.nn.functional.dropout(torch.ones(10, device=device), 0.5)
        return torch.cat([x, y, torch.randn(3, device=device), torch.randperm(5, device=device)]).cpu()

    assert torch.equal(draw(DEVICE), draw("cpu"))


@pytest.mark.parametrize("seed", [2**63 + 7, 2**64 - 1, -5, -(2**63)])
def test_seeds_have_64_bits_with_a_sign_or_without(seed):
    def draw(device, generator):
        torch.manual_seed(seed)
        generator.manual_seed(seed)
        return [torch.rand(3, device=device).tolist(), torch.rand(3, device=device, generator=generator).tolist()]

    assert draw(DEVICE, remote.Generator(DEVICE)) == draw("cpu", torch.Generator())


def test_a_worker_that_is_lost_is_not_seeded_and_others_are():
    with remote.launch(2) as later:
        os.kill(later._links[0].pid, signal.SIGKILL)
        with pytest.raises(errors.WorkerLostError):
            torch.remote.synchronize(later[0])
        torch.manual_seed(13)
        assert torch.equal(torch.rand(4, device=later[1]).cpu(), torch.rand(4))


def test_a_worker_that_comes_later_has_the_seed():
    torch.manual_seed(12)
    with remote.launch(1) as later:
        assert torch.equal(torch.rand(4, device=later[0]).cpu(), torch.rand(4))


def test_generators():
    here, there = torch.Generator(), remote.Generator(DEVICE)
    assert there.device == DEVICE
    here.manual_seed(5)
    there.manual_seed(5)
    assert torch.equal(torch.randn(4, generator=there, device=DEVICE).cpu(), torch.randn(4, generator=here))
    state = there.get_state()
    first = torch.randperm(9, generator=there, device=DEVICE)
    there.set_state(state)
    assert torch.equal(torch.randperm(9, generator=there, device=DEVICE), first)
    x = torch.empty(3, device=DEVICE).normal_(generator=there)
    here.set_state(state)
    torch.randperm(9, generator=here)
    assert torch.equal(x.cpu(), torch.empty(3).normal_(generator=here))


def test_a_generator_that_goes_is_dropped_on_the_worker():
    generator = remote.Generator(DEVICE)
    link, number = generator._link, generator._id
    assert link.generator_state(number)
    del generator
    with pytest.raises(RuntimeError, match=f"no generator {number}"):
        link.generator_state(number)


def test_generators_of_other_devices_are_refused():
    with pytest.raises(RuntimeError, match="symm.remote.Generator"):
        torch.rand(3, generator=torch.Generator(), device=DEVICE)


def test_states_of_the_device():
    state = torch.remote.get_rng_state(DEVICE)
    x = torch.rand(5, device=DEVICE)
    torch.remote.set_rng_state(state, DEVICE)
    assert torch.equal(torch.rand(5, device=DEVICE), x)


# Each takes tensors of one shape and returns one of that shape, or changes its first one in place.
STEPS = [
    lambda a, b: a + b,
    lambda a, b: a * 0.5 - b,
    lambda a, b: torch.where(a > b, a, b),
    lambda a, b: (a @ b) / 8,
    lambda a, b: a.t(),
    lambda a, b: a.add_(b, alpha=0.25),
    lambda a, b: a.t().mul_(0.5),
    lambda a, b: (a[::2].copy_(b[1::2]), a)[1],
    lambda a, b: torch.cat([a[:3], b[3:]]),
    lambda a, b: a.softmax(1),
    lambda a, b: a.reshape(4, 16).sin().reshape(8, 8),
    lambda a, b: a.sort(0).values,
    lambda a, b: a.cumsum(1).tanh(),
    lambda a, b: a.masked_fill(b > 0, 0.5),
    lambda a, b: a.index_select(0, b.sum(1).argsort()),
    lambda a, b: a.roll(1, 0).clamp(-1, 1),
    lambda a, b: a.detach().fill_(0.1).add(b),
    lambda a, b: a.unfold(0, 2, 1).mean(-1).new_zeros(8, 8).add_(a),
    lambda a, b: a.expand(2, 8, 8).sum(0),
    lambda a, b: (a - a.mean()) / (a.std() + 1),
]


def program(seed, device):
    choose = random.Random(seed)
    torch.manual_seed(seed)
    tensors = [torch.randn(8, 8).to(device) for _ in range(4)]
    for _ in range(OPS):
        step = choose.choice(STEPS)
        first, second, into = (choose.randrange(4) for _ in range(3))
        if first == second:
            continue
        try:
            result = step(tensors[first], tensors[second])
            tensors[into] = result if result.abs().max() < 100 else result.tanh()
        except RuntimeError as error:
            # Torch refuses to write to a tensor that overlaps what is read.
            assert "single memory location" in str(error)
        yield torch.stack(tensors).cpu()


@pytest.mark.parametrize(
    "seed", [pytest.param(i, marks=pytest.mark.rare if i >= USUAL else []) for i in range(PROGRAMS)]
)
def test_random_programs_step_by_step(seed):
    for step, (found, want) in enumerate(zip(program(seed, DEVICE), program(seed, "cpu"), strict=True)):
        torch.testing.assert_close(found, want, rtol=1e-3, atol=1e-4, msg=lambda text, at=step: f"step {at}: {text}")
