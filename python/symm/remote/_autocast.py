"""`torch.autocast("remote")`: which ops run in the lower precision, and which in float32.

The lists are CUDA's for the ops that have a meaning on both kinds of worker.
"""

import torch

_LOWER = """
    mm bmm addmm addmv addr baddbmm addbmm mv matmul linear conv1d conv2d conv3d conv_transpose1d convolution
    chain_matmul linalg_vecdot linalg_multi_dot scaled_dot_product_attention prelu _thnn_fused_lstm_cell
    _thnn_fused_gru_cell
"""
_FLOAT = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan softplus layer_norm
    native_layer_norm group_norm nuclear_norm cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss
    nll_loss2d hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss
    multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits
    dist pdist cdist renorm logsumexp softmax.int log_softmax.int cumprod cumsum prod sum norm.Scalar
"""
_WIDEST = "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add cat stack"


def _casting(op, dtype_of):
    autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)

    def run(*args, **kwargs):
        dtype = dtype_of(args)
        with torch._C._ExcludeDispatchKeyGuard(autocast):
            return op(*[_cast(value, dtype) for value in args], **{n: _cast(v, dtype) for n, v in kwargs.items()})

    return run


def _cast(value, dtype):
    if isinstance(value, torch.Tensor):
        fits = value.device.type == "remote" and value.is_floating_point() and value.dtype is not torch.float64
        return value.to(dtype) if fits else value
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(part, dtype) for part in value)
    return value


def _lower(args):
    return torch.get_autocast_dtype("remote")


def _float(args):
    return torch.float32


def _widest(args):
    tensors = [part for value in args for part in (value if isinstance(value, (list, tuple)) else [value])]
    dtypes = {tensor.dtype for tensor in tensors if isinstance(tensor, torch.Tensor)}
    return torch.float32 if torch.float32 in dtypes else torch.get_autocast_dtype("remote")


def register() -> list[torch.library.Library]:
    """Registers the lists; the libraries have to live as long as they count."""
    # Every other op runs as without autocast, those that make tensors too.
    others = torch.library.Library("_", "IMPL")
    others.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    library = torch.library.Library("aten", "IMPL")
    for names, dtype_of in ((_LOWER, _lower), (_FLOAT, _float), (_WIDEST, _widest)):
        for name in names.split():
            name, _, overload = name.partition(".")
            packet = getattr(torch.ops.aten, name, None)
            if packet is None:
                continue
            for overload in [overload] if overload else packet.overloads():
                if overload == "out" or overload.endswith("_out") or "Dimname" in overload or "dimname" in overload:
                    continue
                op = getattr(packet, overload)
                library.impl(op, _casting(op, dtype_of), "AutocastPrivateUse1")
    return [others, library]
