"""The report as a page for a browser."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .. import _symm
from ..errors import ArgumentError
from ._report import name_of, named


def write(path, report, pictures, program, title):
    """Writes the page of a report."""
    drawn = [_picture(picture, program) for picture in json.loads(pictures)]
    found = [(finding, "") for finding in report.findings]
    found += [(each.finding, f"{each.reason} ({each.stands})") for each in report.allowed]
    sections = [
        _section(*each, report.again(each[0]), picture, program) for each, picture in zip(found, drawn, strict=True)
    ]
    findings = len(report.findings)
    page = {"title": title, "summary": report.summary(), "repairs": [], "unused": report.unused}
    page |= {"findings": sections[:findings], "allowed": sections[findings:]}
    try:
        Path(path).write_text(_symm.check_page(json.dumps(page)), encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"symm.check: html: {error}") from None


def _section(finding, reason, again, picture, program):
    fields = {name: getattr(finding, name) for name in ("kind", "rule", "severity", "help")}
    places = [_place(place, program) for place in finding.places]
    return {**fields, "places": places, "again": again, "reason": reason, "picture": picture}


def _place(place, program):
    who = f"rank {place.rank}, {name_of(place)}"
    site = f"{place.file}:{place.line}:{place.column}"
    return {"who": who, "site": site, "end": program.sites.ends.get(site, place.column), "what": _short(place.what)}


def _picture(picture, program):
    boxes = [{**step, "detail": _short(named(step["detail"], program))} for step in picture["boxes"]]
    return {**picture, "rows": [named(row, program) for row in picture["rows"]], "boxes": boxes}


def _short(text):
    return text.replace(f"{os.getcwd()}/", "")
