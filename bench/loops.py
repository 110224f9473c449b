"""Finds the loops of a kernel's final text, and what one iteration of each takes."""

import dataclasses


@dataclasses.dataclass
class Instruction:
    """One instruction: its text, where it may branch to, and whether it can go on to the next one."""

    text: str
    target: str | None = None
    falls_through: bool = True
    bits: int = 0
    is_store: bool = False
    is_base_load: bool = False


def split(items):
    """Basic blocks, as lists of instructions, and for each the numbers of those that may follow."""
    blocks, starts = [[]], {}
    for item in items:
        if isinstance(item, str):
            if blocks[-1]:
                blocks.append([])
            starts[item] = len(blocks) - 1
            continue
        blocks[-1].append(item)
        if item.target or not item.falls_through:
            blocks.append([])
    successors = []
    for number, block in enumerate(blocks):
        last = block[-1] if block else Instruction("")
        following = [starts[last.target]] if last.target in starts else []
        if last.falls_through and number + 1 < len(blocks):
            following.append(number + 1)
        successors.append(following)
    return blocks, successors


def back_edges(successors):
    """The edges that lead back to a block on the way from the entry."""
    found, state, stack = [], {}, [(0, iter(successors[0]))]
    state[0] = "open"
    while stack:
        block, following = stack[-1]
        for target in following:
            if state.get(target) == "open":
                found.append((block, target))
            elif target not in state:
                state[target] = "open"
                stack.append((target, iter(successors[target])))
                break
        else:
            state[block] = "done"
            stack.pop()
    return found


def iteration(blocks, successors):
    """The instructions of an iteration that does its whole work, by the shortest way.

    These loops store what they load: whole work is the most bytes that are stored and no more than those loaded.
    """
    best = (0, 0, [])
    edges = set(back_edges(successors))
    for header in {target for _, target in edges}:
        # For each block and what has been loaded and stored before it, the shortest way there.
        ways = {header: {(0, 0): (0, [])}}
        for block in order(header, successors, edges):
            bits = [sum(item.bits for item in blocks[block] if item.is_store == kind) for kind in (False, True)]
            for before, (length, way) in ways.get(block, {}).items():
                after = (before[0] + bits[0], before[1] + bits[1])
                here = (length + len(blocks[block]), way + [block])
                for target in successors[block]:
                    if (block, target) not in edges:
                        known = ways.setdefault(target, {})
                        known[after] = min(known.get(after, here), here, key=lambda way: way[0])
                    elif target == header and after[1] <= after[0]:
                        best = max(best, (after[1], -here[0], here[1]), key=lambda way: way[:2])
    return [item for block in best[2] for item in blocks[block]]


def order(header, successors, edges):
    """What can be reached from a block, each after all that lead to it; back edges aside."""
    done, result = set(), []

    def visit(block):
        if block in done:
            return
        done.add(block)
        for target in successors[block]:
            if (block, target) not in edges:
                visit(target)
        result.append(block)

    visit(header)
    return reversed(result)
