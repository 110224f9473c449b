"""Recurrent networks: the fused cells of LSTM and GRU, which torch has for CUDA only, on other workers in single ops.

Torch takes the fused cells for every device that is not the CPU, so a worker on a CPU is asked for them too. They leave
in `workspace` what the backward pass needs.
"""

import torch

from ._run import run
from ._tensor import RemoteTensor


def lstm(func, args, kwargs):
    """`_thnn_fused_lstm_cell`: hy, cy and the gates after their functions."""
    input_gates, hidden_gates, cx, *biases = args
    if cx._handle.worker.kind == "cuda":
        return run(func, args, kwargs)
    gates = _sum(input_gates, hidden_gates, *biases)
    chunks = gates.chunk(4, 1)
    entered, forgot, cell, out = chunks[0].sigmoid(), chunks[1].sigmoid(), chunks[2].tanh(), chunks[3].sigmoid()
    cy = forgot * cx + entered * cell
    return out * cy.tanh(), cy, torch.cat([entered, forgot, cell, out], 1)


def lstm_backward(func, args, kwargs):
    """`_thnn_fused_lstm_cell_backward_impl`: gradients of the gates, of cx and of the biases."""
    grad_hy, grad_cy, cx, cy, workspace, has_bias = args
    if cx._handle.worker.kind == "cuda":
        return run(func, args, kwargs)
    entered, forgot, cell, out = workspace.chunk(4, 1)
    tanh_cy = cy.tanh()
    grad_hy = torch.zeros_like(cx) if grad_hy is None else grad_hy
    total = grad_hy * out * (1 - tanh_cy * tanh_cy)
    total = total if grad_cy is None else total + grad_cy
    parts = [
        total * cell * entered * (1 - entered),
        total * cx * forgot * (1 - forgot),
        total * entered * (1 - cell * cell),
        grad_hy * tanh_cy * out * (1 - out),
    ]
    gates = torch.cat(parts, 1)
    return gates, total * forgot, gates.sum(0) if has_bias else None


def gru(func, args, kwargs):
    """`_thnn_fused_gru_cell`: hy, and the gates after their functions with hx and the hidden part of the new gate."""
    input_gates, hidden_gates, hx, *biases = args
    if hx._handle.worker.kind == "cuda":
        return run(func, args, kwargs)
    if biases and biases[0] is not None:
        input_gates, hidden_gates = input_gates + biases[0], hidden_gates + biases[1]
    (ir, ii, inn), (hr, hi, hn) = input_gates.chunk(3, 1), hidden_gates.chunk(3, 1)
    reset, update = (ir + hr).sigmoid(), (ii + hi).sigmoid()
    new = (inn + reset * hn).tanh()
    return new + update * (hx - new), torch.cat([reset, update, new, hx, hn], 1)


def gru_backward(func, args, kwargs):
    """`_thnn_fused_gru_cell_backward`: gradients of both kinds of gates, of hx and of the biases."""
    grad_hy, workspace, has_bias = args
    if grad_hy._handle.worker.kind == "cuda":
        return run(func, args, kwargs)
    reset, update, new, hx, hn = workspace.chunk(5, 1)
    grad_new = grad_hy * (1 - update) * (1 - new * new)
    grad_update = grad_hy * (hx - new) * update * (1 - update)
    grad_reset = grad_new * hn * reset * (1 - reset)
    input_gates = torch.cat([grad_reset, grad_update, grad_new], 1)
    hidden_gates = torch.cat([grad_reset, grad_update, grad_new * reset], 1)
    biases = (input_gates.sum(0), hidden_gates.sum(0)) if has_bias else (None, None)
    return input_gates, hidden_gates, grad_hy * update, *biases


def pack_padded_sequence(func, args, kwargs):
    """`_pack_padded_sequence`: the steps of all sequences in order of time. The lengths are here, on the CPU."""
    steps, lengths, batch_first = args
    if not isinstance(steps, RemoteTensor) or isinstance(lengths, RemoteTensor):
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor")
    steps = steps.transpose(0, 1) if batch_first else steps
    _, counts = func(torch.empty(steps.shape[0], steps.shape[1], 1), lengths, False)
    return torch.cat([steps[time, :count] for time, count in enumerate(counts.tolist())]), counts


def _sum(*parts):
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total
