"""Builds the same pages as GitHub shows: with the same paths, links, anchors and lists.

Paths on the site are those of the project, so that links between `docs` and the pages outside of it work in both places.
"""

import re
from collections import Counter
from pathlib import Path

from markdown.blockprocessors import ListIndentProcessor
from markdown.extensions import Extension
from markdown.extensions.sane_lists import SaneOListProcessor, SaneUListProcessor
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

# The pages outside of docs.
OUTSIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md", "fuzz/README.md"]
ITEM = re.compile(r" *([-*+]|1\.) +\S")
ANY_ITEM = re.compile(r" *([-*+]|\d+\.) +\S")
EXTERNAL = re.compile(r"<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=[\"']?(?:https?:)?//", re.IGNORECASE)


def on_config(config):
    root = Path(config.config_file_path).parent
    listed = set(paths(config.nav))
    config.nav = [expanded(entry, root, listed) for entry in config.nav]
    config.markdown_extensions.append(ShortIndents())
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files, config):
    root = Path(config.config_file_path).parent

    def page(path, inclusion=None):
        more = {} if inclusion is None else {"inclusion": inclusion}
        return File(path, str(root), config.site_dir, config.use_directory_urls, **more)

    inside = [file for file in files if file.src_dir == config.docs_dir]
    others = [file for file in files if file.src_dir != config.docs_dir]
    folder = Path(config.docs_dir).relative_to(root).as_posix()
    moved = [page(f"{folder}/{file.src_uri}", file.inclusion) for file in inside]
    outside = [page(path) for path in OUTSIDE if (root / path).exists()]
    return Files([*outside, *moved, *others])


def on_page_markdown(markdown, page, config, files):
    anchors.clear()
    return as_on_github(markdown)


def on_post_page(output, page, config):
    external = EXTERNAL.search(output)
    if external:
        raise PluginError(f"{page.file.src_uri} loads something from another server: {external[0]}")
    return output


def paths(nav):
    """All paths of the navigation."""
    for entry in nav:
        values = entry.values() if isinstance(entry, dict) else [entry]
        for value in values:
            yield from paths(value) if isinstance(value, list) else [value]


def expanded(entry, root, listed):
    """An entry with its patterns replaced by the pages that are not listed."""
    if isinstance(entry, dict):
        return {title: within(value, root, listed) if isinstance(value, list) else value for title, value in entry.items()}
    return entry


def within(entries, root, listed):
    found = []
    for entry in entries:
        if isinstance(entry, str) and "*" in entry:
            pages = sorted(path.relative_to(root).as_posix() for path in root.glob(entry))
            found += [page for page in pages if page not in listed]
        else:
            found.append(expanded(entry, root, listed))
    return found


# How often each anchor was given on the present page.
anchors = Counter()


def anchor(title, separator):
    """The anchor that GitHub gives to a heading."""
    name = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", separator)
    count = anchors[name]
    anchors[name] += 1
    return f"{name}-{count}" if count else name


def as_on_github(markdown):
    """Lists and tables may follow a paragraph directly, and `|` is escaped in tables also within code."""
    lines = []
    code = False
    block = []
    for line in markdown.split("\n"):
        fence = re.match(r" *```", line)
        if fence:
            # `rust,no_run` and `console no-run`: a language with options.
            line = line if code else re.sub(r"(``` *\w+)[ ,].*", r"\1", line)
            code = not code
        elif not code:
            if block and interrupts(line, block):
                lines.append("")
                block = []
            if line.startswith("|"):
                line = re.sub(r"`[^`]*`", lambda span: span[0].replace(r"\|", "|"), line)
        block = [*block, line] if line.strip() and not (code or fence) else []
        lines.append(line)
    return "\n".join(lines)


def interrupts(line, block):
    """Whether a line begins a list or a table after the lines of a paragraph."""
    if line.startswith("|"):
        return not any(line.startswith("|") for line in block)
    # Within an item any number begins the next one, elsewhere a sentence may begin with a number.
    item = ANY_ITEM if block[0].startswith(" ") else ITEM
    return bool(item.match(line)) and not any(ANY_ITEM.match(line) for line in block)


class ShortIndents(Extension):
    """Lists inside of lists are indented by two blanks or more, not by four."""

    def extendMarkdown(self, md):  # noqa: N802
        processors = md.parser.blockprocessors
        usual, md.tab_length = md.tab_length, 2
        for kind, name, priority in [
            (ListIndentProcessor, "indent", 90),
            (SaneOListProcessor, "olist", 40),
            (SaneUListProcessor, "ulist", 30),
        ]:
            processors.register(kind(md.parser), name, priority)
        md.tab_length = usual
