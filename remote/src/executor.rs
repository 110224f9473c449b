//! The executor that runs a worker's operations. The worker knows connections, ids and order; the executor hides torch.

use crate::error::Failure;
use crate::memory::Memory;
use crate::message::Verb;
use crate::value::{Dtype, Meta, Value};
use crate::worker::Tensors;

/// What runs operations.
pub trait Executor: Send + Sync + 'static {
    /// A tensor of its own.
    type Tensor: Send + 'static;
    /// An operation that it has found.
    type Op: Send + 'static;

    /// Its device and its version.
    fn about(&self) -> About;

    /// Runs this with all that operations need, such as an interpreter's lock.
    fn enter(&self, work: &mut dyn FnMut());

    /// Runs this, which may wait, within [`Executor::enter`] but without what others may need.
    fn outside(&self, work: &mut (dyn FnMut() + Send));

    /// Finds an operation.
    ///
    /// # Errors
    /// There is none of this name, or clients may not use it.
    fn resolve(&self, name: &str) -> Result<Self::Op, Failure>;

    /// Runs an operation; `wants` says whether its value is looked at.
    ///
    /// # Errors
    /// It has raised an exception.
    fn call(
        &self,
        op: &Self::Op,
        args: &[Value],
        kwargs: &[(String, Value)],
        tensors: &Tensors<Self::Tensor>,
        wants: bool,
    ) -> Result<Produced<Self::Tensor>, Failure>;

    /// Runs a verb.
    ///
    /// # Errors
    /// It has raised an exception, or clients may not do it.
    fn verb(
        &self,
        verb: Verb,
        args: &[Value],
        kwargs: &[(String, Value)],
        tensors: &Tensors<Self::Tensor>,
    ) -> Result<Produced<Self::Tensor>, Failure>;

    /// What a tensor is.
    ///
    /// # Errors
    /// It has no such description.
    fn meta(&self, tensor: &Self::Tensor) -> Result<Meta, Failure>;

    /// A new tensor in memory, contiguous, for bytes to come. Called outside of [`Executor::enter`] too.
    ///
    /// # Errors
    /// There is no memory.
    fn receive(&self, dtype: Dtype, shape: &[i64]) -> Result<(Self::Tensor, Memory), Failure>;

    /// The tensor whose bytes have come, moved to the device.
    ///
    /// # Errors
    /// There is no memory.
    fn received(&self, tensor: Self::Tensor) -> Result<Self::Tensor, Failure>;

    /// A tensor's bytes in memory, contiguous.
    ///
    /// # Errors
    /// It has none that could be sent, or there is no memory.
    fn bytes(&self, tensor: &Self::Tensor) -> Result<(Meta, Memory), Failure>;

    /// Waits for the device.
    ///
    /// # Errors
    /// The device has failed.
    fn synchronize(&self) -> Result<(), Failure>;

    /// A session has ended, and will not use what verbs have made for it.
    fn ended(&self, session: u64);
}

/// An executor's description.
#[derive(Clone, Debug)]
pub struct About {
    /// Its device, such as `cuda:0`.
    pub device: String,
    /// The version of what runs operations.
    pub torch: String,
    /// The name of the host.
    pub host: String,
    /// The rank and the number of ranks, if it was started as one.
    pub rank: Option<(u64, u64)>,
}

/// The result of an operation.
pub struct Produced<T> {
    /// The tensors in it, in order; none where one is not defined.
    pub tensors: Vec<Option<T>>,
    /// The result as a value, if it was wanted; a [`Meta`]'s id is the tensor's place in `tensors`.
    pub value: Value,
}
