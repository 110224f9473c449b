"""MkDocs hook: the book's pages outside of docs/, and links to them.

A page links to other files of the tree as they lie there, so that its links work in the repository too. Here each file
that a page links to becomes a page of the book: Markdown as it is, anything else as a listing of its source. A link to
what does not exist is an error.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[3]
LINK = re.compile(r"(\]\()([^)\s]+?)(#[^)]*)?(\))")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
# Code in a line of text, and its words with hyphens that fit on a line of a phone.
INLINE_CODE = re.compile(r"<code>[^<\n]*</code>")
HYPHENATED = re.compile(r"(?<![^\s>])[^\s<>]*-[^\s<>]*(?![^\s<])")
LONGEST = 36
LANGUAGES = {".rs": "rust", ".py": "python", ".c": "c", ".h": "c", ".cu": "cuda", ".json": "json"}
# The book has a front page of its own.
RENAMED = {"README.md": "overview.md"}
# What is looked for is seldom a source.
LESS_FOUND = "---\nsearch:\n  boost: 0.1\n---\n"
# Where `./x docs` puts what rustdoc makes, as rust.md names it.
RUSTDOC = "<code>rust/</code>"


def uri(path):
    """Where the book has a file of the tree: by its path, without docs/; sources as Markdown."""
    if path in RENAMED:
        return RENAMED[path]
    path = path.removeprefix("docs/")
    return path if is_asset(path) else path + ".md"


def is_asset(path):
    return path.endswith((".md", ".svg", ".png"))


def tree_path(src_uri):
    """The file of the tree that a page was made from."""
    for path, renamed in RENAMED.items():
        if src_uri == renamed:
            return path
    if (ROOT / "docs" / src_uri).exists():
        return "docs/" + src_uri
    return src_uri if (ROOT / src_uri).exists() else src_uri.removesuffix(".md")


def targets(path, text):
    """The files of the tree that a page links to."""
    for match in LINK.finditer(FENCE.sub("", text)):
        target = resolve(path, match[2])
        if target is not None:
            yield target


def resolve(path, link):
    """The path from the root of what a page links to; none for an address or an anchor of the same page."""
    if link.startswith("#") or re.match(r"[a-z]+:", link):
        return None
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    if (ROOT / target).is_dir() and (ROOT / target / "README.md").exists():
        target += "/README.md"
    return target


def listing(path):
    """The page of a source file or of a folder."""
    if (ROOT / path).is_dir():
        names = sorted(entry.name + "/" * entry.is_dir() for entry in (ROOT / path).iterdir())
        return f"{LESS_FOUND}# {path}\n\n" + "".join(f"- `{name}`\n" for name in names)
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"{LESS_FOUND}# {path}\n\n````{language}\n{(ROOT / path).read_text()}\n````\n"


def on_files(files, config):
    waiting = [tree_path(file.src_uri) for file in files.documentation_pages()]
    waiting += [path for path in ("CONTRIBUTING.md", "runtime/include/symm.h") if path not in waiting]
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen or not (ROOT / path).exists():
            continue
        seen.add(path)
        if files.get_file_from_path(uri(path)) is None:
            content = {"abs_src_path": str(ROOT / path)} if is_asset(path) else {"content": listing(path)}
            files.append(File.generated(config, uri(path), **content))
        if path.endswith(".md"):
            waiting.extend(targets(path, (ROOT / path).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    path = tree_path(page.file.src_uri)
    here = posixpath.dirname(page.file.src_uri)

    def rewrite(match):
        target = resolve(path, match[2])
        if target is None:
            return match[0]
        return match[1] + posixpath.relpath(uri(target), here or ".") + (match[3] or "") + match[4]

    pieces, end = [], 0
    for fence in FENCE.finditer(markdown):
        pieces += [LINK.sub(rewrite, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join(pieces) + LINK.sub(rewrite, markdown[end:])


def on_page_content(html, page, config, files):
    """A browser may end a line after a hyphen: keep an option or a pass's name in one piece."""

    def keep(word):
        return f'<span class="word">{word[0]}</span>' if len(word[0]) <= LONGEST else word[0]

    html = html.replace(RUSTDOC, f'<a href="rust/index.html">{RUSTDOC}</a>')
    return INLINE_CODE.sub(lambda code: HYPHENATED.sub(keep, code[0]), html)
