# SPDX-License-Identifier: BSD-3-Clause
"""A drawing as SVG, built as a tree so that it is well-formed whatever the
texts hold. Colours and letters of all pictures are here."""

import xml.etree.ElementTree as ElementTree

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
INK = "#24292f"
FAINT = "#6e7781"
GRID = "#d8dee4"
BAND = "#f6f8fa"
BETTER = "#2a8c82"
WORSE = "#d1663d"
LINES = ["#2a8c82", "#d1663d", "#5b6bbf", "#b08800", "#8a4f9e", "#57606a"]


def number(value):
    """Short, and without a sign of zero."""
    text = "%.1f" % value
    return text[:-2] if text.endswith(".0") else text


class Drawing:
    def __init__(self, width, height, title):
        self.root = ElementTree.Element("svg", {
            "xmlns": "http://www.w3.org/2000/svg", "role": "img",
            "viewBox": "0 0 %d %d" % (width, height),
            "width": str(width), "height": str(height),
            "font-family": FONT, "font-size": "11", "fill": INK})
        ElementTree.SubElement(self.root, "title").text = title
        self.rect(0, 0, width, height, "#ffffff")

    def add(self, tag, **attributes):
        return ElementTree.SubElement(self.root, tag, {
            name.replace("_", "-"): number(value)
            if isinstance(value, (int, float)) else value
            for name, value in attributes.items()})

    def rect(self, x, y, width, height, fill, opacity=None):
        extra = {"opacity": "%.2f" % opacity} if opacity else {}
        self.add("rect", x=x, y=y, width=max(width, 0), height=height,
                 fill=fill, **extra)

    def line(self, x1, y1, x2, y2, colour=INK, width=1.0, dashes=None):
        extra = {"stroke-dasharray": dashes} if dashes else {}
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour,
                 stroke_width=width, **extra)

    def path(self, points, colour, width=1.6):
        self.add("polyline", fill="none", stroke=colour, stroke_width=width,
                 stroke_linejoin="round",
                 points=" ".join("%s,%s" % (number(x), number(y))
                                 for x, y in points))

    def polygon(self, points, fill):
        self.add("polygon", fill=fill, points=" ".join(
            "%s,%s" % (number(x), number(y)) for x, y in points))

    def circle(self, x, y, radius, fill):
        self.add("circle", cx=x, cy=y, r=radius, fill=fill)

    def text(self, x, y, words, anchor="start", colour=None, size=None,
             bold=False):
        extra = {"text-anchor": anchor}
        if colour:
            extra["fill"] = colour
        if size:
            extra["font-size"] = str(size)
        if bold:
            extra["font-weight"] = "bold"
        self.add("text", x=x, y=y, **extra).text = words

    def xml(self):
        ElementTree.indent(self.root, " ")
        return ElementTree.tostring(self.root, encoding="unicode") + "\n"
