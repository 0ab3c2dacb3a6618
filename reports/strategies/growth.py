#!/usr/bin/env python3
"""Draws growth.csv: growth.py growth.csv > growth.svg

Three panels over the number of memories (logarithmic): CPU of a whole hook call beside its floor, time of a search by
strategy, peak memory. Standard library only.
"""
import csv
import html
import math
import sys

COLOURS = ["#0072b2", "#b34a00", "#007a5a", "#a0457a", "#7a6a00", "#2b6f99", "#444444"]
DASHES = ["", "6 3", "2 3"]
WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND = 330, 300, 56, 44, 76, 18


def read(path):
    """figure -> subject -> [(records, value)]"""
    figures = {}
    for row in csv.DictReader(open(path, encoding="utf-8")):
        of_figure = figures.setdefault(row["figure"], {})
        of_figure.setdefault(row["subject"], []).append((int(row["records"]), float(row["value"])))
    return figures


def ticks(low, high, logarithmic):
    if logarithmic:
        return [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10(high / 3))
    step *= next(part for part in (1, 2, 5, 10) if high / (part * step) <= 6)
    return [step * n for n in range(int(high / step) + 2)]


def panel(at, title, lines, logarithmic):
    """One panel; `lines` is name -> points."""
    out = []
    sizes = sorted({x for points in lines.values() for x, _ in points})
    values = [y for points in lines.values() for _, y in points]
    marks = ticks(max(min(values), 0.1), max(values), logarithmic)
    scale = math.log10 if logarithmic else float
    low, high = scale(marks[0]), scale(marks[-1])

    def place(x, y):
        part = math.log10(x / sizes[0]) / math.log10(sizes[-1] / sizes[0])
        level = (scale(max(y, marks[0])) - low) / (high - low)
        return at + part * WIDTH, TOP + HEIGHT * (1 - level)

    out.append(f'<text x="{at}" y="{TOP - 16}" font-size="13" fill="#111">{html.escape(title)}</text>')
    for mark in marks:
        y = place(sizes[0], mark)[1]
        out.append(f'<path d="M{at} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        out.append(f'<text x="{at - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#333">{mark:,.10g}</text>')
    for size in sizes:
        x = place(size, marks[0])[0]
        out.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle" fill="#333">{size:,}</text>')
    for nth, (name, points) in enumerate(lines.items()):
        colour, dash = COLOURS[nth % len(COLOURS)], DASHES[nth // len(COLOURS)]
        style = f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dash}" fill="none"'
        path = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in points)
        out.append(f'<path d="M{path}" {style}/>')
        for x, y in points:
            cx, cy = place(x, y)
            text = html.escape(f"{name}: {y:g} at {x:,}")
            out.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3" fill="{colour}"><title>{text}</title></circle>')
        y = TOP + HEIGHT + 46 + LEGEND * nth
        out.append(f'<path d="M{at} {y - 4}h24" {style}/>')
        out.append(f'<text x="{at + 32}" y="{y}" fill="#111">{html.escape(name)}</text>')
    return out


def main():
    figures = read(sys.argv[1])
    calls = figures["call_cpu_ms"]
    bound = [(x, 4 * y) for x, y in calls["floor"]]
    usual = {"best-record": "5", "bm25-max": "5"}
    searches = {
        name: points
        for name, points in figures["search_us"].items()
        if "@" not in name or name.split("@")[1] == usual.get(name.split("@")[0], "3")
    }
    peaks = figures["peak_mib"]
    panels = [
        ("CPU of a whole hook call, ms",
         {"recall": calls["recall"], "floor (/bin/true)": calls["floor"], "4 × floor": bound}, False),
        ("search of a hook call, cold, µs (logarithmic)", searches, True),
        ("peak memory, MiB (logarithmic)",
         {"hookbench corpus synth": peaks["synth"], "hookmem import": peaks["import"]}, True),
    ]
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + 56 + LEGEND * max(len(lines) for _, lines, _ in panels)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
          'font-family="system-ui, sans-serif" font-size="11">')
    print("<title>Cost by number of memories</title>")
    print(f'<rect width="{width}" height="{height}" fill="#fff"/>')
    for nth, (title, lines, logarithmic) in enumerate(panels):
        print("\n".join(panel(LEFT + nth * (WIDTH + GAP), title, lines, logarithmic)))
    print("</svg>")


if __name__ == "__main__":
    main()
