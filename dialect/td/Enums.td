// The keywords of the dialect's assembly.
#ifndef SYMM_ENUMS_TD
#define SYMM_ENUMS_TD

include "Dialect.td"

class Symm_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::symm";
}

def Symm_Order : Symm_Enum<"Order", "memory order", [
  I32EnumAttrCase<"Relaxed", 0, "relaxed">,
  I32EnumAttrCase<"Acquire", 1, "acquire">,
  I32EnumAttrCase<"Release", 2, "release">,
  I32EnumAttrCase<"AcqRel", 3, "acq_rel">]>;

def Symm_Scope : Symm_Enum<"Scope", "memory scope, narrowest first", [
  I32EnumAttrCase<"Cta", 0, "cta">,
  I32EnumAttrCase<"Cluster", 1, "cluster">,
  I32EnumAttrCase<"Gpu", 2, "gpu">,
  I32EnumAttrCase<"Sys", 3, "sys">]>;

def Symm_Group : Symm_Enum<"Group", "the threads that take part in one op", [
  I32EnumAttrCase<"Thread", 0, "thread">,
  I32EnumAttrCase<"Warp", 1, "warp">,
  I32EnumAttrCase<"Block", 2, "block">]>;

def Symm_Engine : Symm_Enum<"Engine", "what moves the bytes of a bulk copy", [
  I32EnumAttrCase<"Threads", 0, "threads">,
  I32EnumAttrCase<"Bulk", 1, "bulk">]>;

def Symm_RmwKind : Symm_Enum<"RmwKind", "atomic read-modify-write", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"FAdd", 1, "fadd">,
  I32EnumAttrCase<"Sub", 2, "sub">,
  I32EnumAttrCase<"And", 3, "and">,
  I32EnumAttrCase<"Or", 4, "or">,
  I32EnumAttrCase<"Xor", 5, "xor">,
  I32EnumAttrCase<"Min", 6, "min">,
  I32EnumAttrCase<"Max", 7, "max">,
  I32EnumAttrCase<"UMin", 8, "umin">,
  I32EnumAttrCase<"UMax", 9, "umax">,
  I32EnumAttrCase<"Xchg", 10, "xchg">]>;

def Symm_SignalKind : Symm_Enum<"SignalKind", "what a signal does to the flag", [
  I32EnumAttrCase<"Set", 0, "set">,
  I32EnumAttrCase<"Add", 1, "add">]>;

def Symm_Comparison : Symm_Enum<"Comparison", "comparison of a flag with a value", [
  I32EnumAttrCase<"Eq", 0, "eq">,
  I32EnumAttrCase<"Ne", 1, "ne">,
  I32EnumAttrCase<"Lt", 2, "lt">,
  I32EnumAttrCase<"Le", 3, "le">,
  I32EnumAttrCase<"Gt", 4, "gt">,
  I32EnumAttrCase<"Ge", 5, "ge">]>;

def Symm_Cache : Symm_Enum<"Cache", "cache modifier, as in PTX", [
  I32EnumAttrCase<"Ca", 0, "ca">,
  I32EnumAttrCase<"Cg", 1, "cg">,
  I32EnumAttrCase<"Cs", 2, "cs">,
  I32EnumAttrCase<"Cv", 3, "cv">,
  I32EnumAttrCase<"Wb", 4, "wb">,
  I32EnumAttrCase<"Wt", 5, "wt">]>;

def Symm_Eviction : Symm_Enum<"Eviction", "how soon a cache may give up what was loaded", [
  I32EnumAttrCase<"First", 0, "evict_first">,
  I32EnumAttrCase<"Last", 1, "evict_last">]>;

#endif // SYMM_ENUMS_TD
