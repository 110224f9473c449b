// The symm dialect: everything, in the order a reader wants it.
#ifndef SYMM_TD
#define SYMM_TD

include "Dialect.td"
include "Enums.td"
include "Context.td"
include "Translation.td"
include "Data.td"
include "Atomics.td"
include "Order.td"
include "Packets.td"
include "Host.td"
include "Safety.td"
include "Trace.td"

#endif // SYMM_TD
