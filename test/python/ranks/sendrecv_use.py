"""Transports, all-to-all, kernels of one's own, and what messages do not take."""

import numpy as np
import symm
import torch
import triton
import triton.language as tl
from message_hooks import twice
from raising import raises
from symm import errors
from symm.comm import (
    LinkKind,
    MeshTransport,
    NetworkTransport,
    NodeTransport,
    all_to_all,
    check_transfer,
    recv,
    send,
    sendrecv,
)
from symm.comm.device import NODE, Lane, Message
from symm.comm.device import sendrecv as both
from triton.experimental import gluon

WORLD = symm.init(heap_size=64 << 20)
ME, RANKS = WORLD.get_rank(), WORLD.get_num_ranks()
AFTER, BEFORE = (ME + 1) % RANKS, (ME - 1) % RANKS
LINK = NodeTransport(WORLD, blocks=2, channels=2, staging=(512 << 10) * RANKS, landing=40_000)


def data(rank, count, dtype=torch.float32):
    return ((torch.arange(count) * 7 + 13 * rank) % 101).to(dtype)


@triton.jit
def plus_part(c, value):
    tl.store(c.outputs(), value + c.shard_idx, c.mask())


def everybody():
    for dtype, count in ((torch.float32, 1), (torch.int8, 1001), (torch.bfloat16, 9000), (torch.float64, 0)):
        given = [data(rank, RANKS * count, dtype) for rank in range(RANKS)]
        wanted = torch.cat([each[ME * count : (ME + 1) * count] for each in given])
        assert torch.equal(all_to_all(LINK, given[ME]), wanted), (dtype, count)
        landed = all_to_all(LINK, given[ME], zero_copy=True) if count * dtype.itemsize <= 40_000 else None
        assert landed is None or torch.equal(landed.reshape(-1), wanted), (dtype, count)
    given = [data(rank, RANKS * 700) for rank in range(RANKS)]
    parts = torch.stack([2 * each.view(RANKS, 700)[ME] for each in given])
    got = all_to_all(LINK, given[ME], produce=twice, consume=plus_part, channel=1)
    assert torch.equal(got.view(RANKS, 700), parts + torch.arange(RANKS)[:, None])
    assert torch.equal(all_to_all(LINK, given[ME], produce=twice, zero_copy=True), parts)


def turned():
    """Each part is transposed on the way; columns become rows of another tensor."""
    for rows, columns in ((3, 50), (65, 40)):
        given = [data(rank, RANKS * rows * columns, torch.int32).view(RANKS, rows, columns) for rank in range(RANKS)]
        out = torch.zeros(RANKS, columns, rows, dtype=torch.int32)
        all_to_all(LINK, given[ME], out=out.transpose(1, 2), rows=rows)
        assert torch.equal(out, torch.stack([each[ME].t() for each in given])), (rows, columns)
        # A matrix of many columns, of which each rank gets some.
        wide = given[ME].permute(1, 0, 2).reshape(rows, RANKS * columns)
        got = all_to_all(LINK, wide.view(rows, RANKS, columns).permute(1, 0, 2), rows=rows)
        assert torch.equal(got, torch.stack([each[ME] for each in given])), (rows, columns)
        landed = all_to_all(LINK, given[ME], rows=rows, zero_copy=True)
        assert torch.equal(landed, torch.stack([each[ME] for each in given])), (rows, columns)


def meshes():
    """Peers of my half are reached through one transport, the others through another one."""
    far = NodeTransport(WORLD, blocks=2, channels=2, staging=(512 << 10) * RANKS)
    mesh = MeshTransport(LINK, far, max(RANKS // 2, 1))
    out = torch.zeros(5000)
    for shift in range(1, RANKS):
        to, source = (ME + shift) % RANKS, (ME - shift) % RANKS
        assert torch.equal(sendrecv(mesh, data(ME, 5000), to, out, source), data(source, 5000)), shift
    wanted = torch.cat([data(rank, RANKS * 60)[ME * 60 : (ME + 1) * 60] for rank in range(RANKS)])
    assert torch.equal(all_to_all(mesh, data(ME, RANKS * 60)), wanted)
    assert {mesh.link_kind(rank) for rank in range(RANKS)} == {LinkKind.NODE}
    network = NetworkTransport(WORLD, blocks=2, channels=2, staging=(512 << 10) * RANKS)
    mesh = MeshTransport(LINK, network, max(RANKS // 2, 1))
    for rank in range(RANKS):
        near = rank // max(RANKS // 2, 1) == ME // max(RANKS // 2, 1)
        assert mesh.link_kind(rank) is (LinkKind.NODE if near else LinkKind.NETWORK)
    raises(errors.ArgumentError, "differ in blocks", MeshTransport, LINK, NodeTransport(WORLD, blocks=1), 2)
    raises(errors.ArgumentError, "local_domain_size must be", MeshTransport, LINK, far, 0)
    raises(errors.ArgumentError, "inter must be a transport", MeshTransport, LINK, 3, 1)


@triton.jit
def pass_on(
    table, send_dst, recv_src, signal_dst, to_src, from_src, to_cursors, from_cursors, to, source, inp, out, count,
    TILE: tl.constexpr, BLOCKS: tl.constexpr, RING: tl.constexpr, OPS: tl.constexpr, OTHERS: tl.constexpr,
):  # fmt: skip
    """A kernel of one's own, which has another seam for each direction."""
    there = Lane(table, send_dst, signal_dst, to_src, to_cursors, to, BLOCKS, RING)
    here = Lane(table, recv_src, signal_dst, from_src, from_cursors, source, BLOCKS, RING)
    both(there, Message(inp, count, TILE), here, Message(out, count, TILE), tl.program_id(0), tl.num_programs(0), OPS,
         OTHERS, twice, plus_part)  # fmt: skip


@triton.jit
def put_more(table, dst, value, rank, mask):
    NODE_PUT(table, dst, value + 100, rank, mask)


NODE_PUT = NODE.put


def own_kernels():
    to, source = (LINK.endpoint(rank, torch.float32, channel=1) for rank in (AFTER, BEFORE))
    assert to.rank == AFTER and to.send_dst.dtype == torch.float32
    for count in (10, 5000, 9001):
        out = torch.zeros(count)
        geometry = LINK.get_geometry()
        pass_on[(2,)](
            WORLD.get_device_context(), to.send_dst, source.recv_src, to.signal_dst, to.signal_src, source.signal_src,
            to.cursors, source.cursors, AFTER, BEFORE, data(ME, count), out, count, TILE=512, **geometry,
            OPS=NODE._replace(put=put_more), OTHERS=NODE,
        )  # fmt: skip
        assert torch.equal(out, 2 * data(BEFORE, count) + 100), count


@triton.jit
def one_for_all(c):
    return tl.load(c.extra[0])


@triton.jit
def too_few(c):
    return tl.load(c.in_ptr + tl.arange(0, 16))


@triton.jit
def addresses(c):
    return c.inputs()


@triton.jit
def nothing(c):
    c.mask()


@triton.jit
def a_pair(c):
    return tl.load(c.inputs(), c.mask()), 1


@triton.jit
def scaled(c):
    return tl.load(c.inputs(), c.mask()) * c.extra[0]


# Packets, with a tile that is full and one that is not, and rings.
LENGTHS = (100, 256, 40_000)


def what_hooks_return():
    """A value for each element, or one for all; all else is an error before anything is sent."""
    seven = torch.tensor(7.0)
    for count in LENGTHS:
        out, call = torch.zeros(count), (sendrecv, LINK, torch.ones(count), AFTER, torch.zeros(count), BEFORE)
        sendrecv(LINK, torch.ones(count), AFTER, out, BEFORE, produce=one_for_all, extra=(seven,))
        assert out.tolist() == [7] * count, count
        pointers = "a block of pointer<fp32>"
        for produce, found in ((too_few, "shape [16]"), (addresses, pointers), (nothing, "None"), (a_pair, "a tuple")):
            try:
                sendrecv(*call[1:], produce=produce)
            except errors.CompileError as error:
                assert "symm produce: it must return a block of shape [" in str(error), error
                assert f"that of c.inputs(), not {found}" in str(error) and error.file == __file__, error
            else:
                raise AssertionError(f"taken: {produce.fn.__name__}")
    whole = torch.zeros(RANKS * 100)
    assert all_to_all(LINK, whole, produce=one_for_all, extra=(seven,)).tolist() == [7] * RANKS * 100


def what_hooks_get():
    """Tensors of any type that kernels have, and numbers; booleans are numbers, too."""
    out = torch.zeros(100)
    for given, factor in ((3, 3), (2.5, 2.5), (True, 1), (False, 0), (1 << 40, 1 << 40), (np.float32(0.5), 0.5),
                          (np.int64(-3), -3)):  # fmt: skip
        sendrecv(LINK, torch.ones(100), AFTER, out, BEFORE, produce=scaled, extra=(given,))
        assert out.tolist() == [factor] * 100, given
    kinds = torch.bool, torch.float8_e5m2, torch.uint16
    unused = *(torch.ones(2).to(each) for each in kinds), torch.ones(0), torch.nn.Parameter(out.clone())
    sendrecv(LINK, torch.ones(100), AFTER, out, BEFORE, extra=unused)
    call, kind = (sendrecv, LINK, torch.ones(100), AFTER, out, BEFORE), errors.ArgumentError
    for wrong in (None, "x", [1], (2, 3), 1j, torch.float16, WORLD, LINK):
        raises(kind, f"extra[1] must be a tensor or a number, not {wrong!r}", *call, extra=(1, wrong))
    for wrong in (1 << 64, -(1 << 63) - 1):
        raises(kind, f"extra[0] must fit in 64 bits, but is {wrong}", *call, extra=(wrong,))
    raises(kind, "extra[0] is on meta, but the ranks' memory is on cpu", *call, extra=(out.to("meta"),))
    raises(kind, "extra[0] must be strided", *call, extra=(out.to_sparse(),))
    raises(kind, "extra[0] is zeros without memory", *call, extra=(torch._efficientzerotensor((2,)),))
    turned = torch.ones(2, dtype=torch.complex64)
    raises(kind, "give extra[0].resolve_neg()", *call, extra=(turned.conj().imag,))
    raises(errors.DtypeError, "no elements of torch.complex64", *call, extra=(turned,))
    raises(kind, "produce must be a function of (c), not of (c, value)", *call, produce=plus_part)
    raises(kind, "consume must be a function of (c, value), not of (c)", *call, consume=twice)


def wrong():
    good, kind = torch.zeros(6 * RANKS), errors.ArgumentError
    other = (ME + 1) % RANKS if RANKS > 1 else 0
    raises(errors.RankRangeError, f"rank {RANKS} out of range [0, {RANKS})", send, LINK, good, RANKS)
    raises(errors.RankRangeError, "rank -1 out of range", recv, LINK, good, -1)
    raises(kind, "peer must be an integer, not 'all'", send, LINK, good, "all")
    raises(kind, "is this rank: use sendrecv", send, LINK, good, ME)
    raises(kind, "transport must be a NodeTransport", send, WORLD, good, other)
    call = (sendrecv, LINK, good, other, good.clone(), other)
    raises(kind, "there is no channel 2: this transport has 2; make it with channels=3", *call, channel=2)
    raises(kind, "3 blocks, but the channels have flags and rings for 2: give fewer", *call, blocks=3)
    raises(kind, "blocks must be at least 1, not 0", *call, blocks=0)
    raises(kind, "produce must be a function with @triton.jit or @gluon.jit", *call, produce=print)
    raises(kind, "interpreter has no Gluon: give hooks with @triton.jit", *call, consume=gluon.jit(plus_part.fn))
    raises(kind, "rows must be a number of rows, at least 1", *call, rows=0)
    raises(kind, "is not a matrix of 7 rows", *call, rows=7)
    raises(kind, "extra must be a tuple", *call, extra=3)
    raises(kind, "tensor must be a tensor, not [1]", sendrecv, LINK, [1], other, good, other)
    elsewhere = "tensor is on meta, but the ranks' memory is on cpu"
    raises(kind, elsewhere, sendrecv, LINK, good.to("meta"), other, good, other)
    raises(kind, "must be strided", sendrecv, LINK, good.to_sparse(), other, good, other)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    raises(kind, "tensor must be strided, not nested", sendrecv, LINK, nested, other, good, other)
    raises(kind, "tensor must be strided, not nested", all_to_all, LINK, nested)
    raises(kind, "out must be strided, not nested", sendrecv, LINK, good, other, nested, other)
    zeros = torch._efficientzerotensor((RANKS,))
    raises(kind, "tensor is zeros without memory: clone() it", sendrecv, LINK, zeros, other, good, other)
    raises(kind, "requires grad", sendrecv, LINK, good.clone().requires_grad_(), other, good, other)
    complex_ones = good.to(torch.complex64)
    raises(errors.DtypeError, "no elements of torch.complex64", sendrecv, LINK, complex_ones, other, good, other)
    raises(errors.DtypeError, "no elements of torch.complex64", *call, wire=torch.complex64)
    raises(errors.DtypeError, "dtype must be a torch dtype", *call, wire="float16")
    if RANKS > 1:
        raises(kind, f"does not have {RANKS} equal parts", all_to_all, LINK, torch.zeros(RANKS + 1))
        raises(kind, "receives from itself", sendrecv, LINK, good, ME, good, other)
    seven = torch.zeros(7 * RANKS)
    raises(kind, "a part of the tensor has 6 elements, one of out 7", all_to_all, LINK, good, out=seven)
    raises(errors.DtypeError, "out is torch.int32: give `wire`", all_to_all, LINK, good, out=good.int())
    raises(kind, "give no out", all_to_all, LINK, good, out=good, zero_copy=True)
    raises(errors.StagingError, "make it with landing=80000 or more", all_to_all, LINK, torch.zeros(20_000 * RANKS),
           zero_copy=True)  # fmt: skip
    raises(errors.StagingError, "is too small", NodeTransport, WORLD, staging=1000)
    raises(kind, "blocks must be a number from 1 to 1024", NodeTransport, WORLD, blocks=2000)
    raises(kind, "world must be what symm.init returns", NodeTransport, None)
    raises(kind, "staging must be a number of bytes", NodeTransport, WORLD, staging=-1)
    check_transfer(LINK, 1 << 40, torch.float16, 2)
    raises(kind, "blocks, but the channels", check_transfer, LINK, 5, torch.float16, 3)
    raises(kind, "blocks must be at least 1, not 0", check_transfer, LINK, 5, torch.float16, 0)
    raises(kind, "numel must be a number", check_transfer, LINK, -1, torch.float16, 1)
    raises(errors.DtypeError, "no elements of", check_transfer, LINK, 5, torch.complex128, 1)
    raises(kind, "there is no channel", LINK.endpoint, other, torch.float16, 7)


for part in (everybody, turned, meshes, own_kernels, what_hooks_return, what_hooks_get, wrong):
    part()
    WORLD.barrier()
LINK.close()
raises(errors.ClosedError, "has been closed: make another one", sendrecv, LINK, torch.ones(1), ME, torch.ones(1), ME)
raises(errors.ClosedError, "has been closed", LINK.endpoint, 0, torch.float16)
LATER = NodeTransport(WORLD, blocks=1)
WORLD.close()
raises(errors.ClosedError, "World has been closed", all_to_all, LATER, torch.ones(RANKS))
raises(errors.ClosedError, "NodeTransport: this World has been closed", NodeTransport, WORLD)
