"""The plot of docs/performance.md: ns per call in a loop, as an SVG."""
from html import escape
from math import floor, ceil, log10

WIDTH, LEFT, RIGHT, TOP = 860, 250, 90, 70
BAR, GAP = 14, 9
COLOURS = {
    "base": "#8c8c8c",
    "window": "#1a7f4b",
    "literal": "#c77700",
    "map": "#3b6fb6",
    "shared": "#7b52ab",
    "stream": "#b3323a",
}


def text(x, y, words, anchor="start", size=12, colour="#222"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">{escape(words)}</text>'


def line(x1, y1, x2, y2, colour, width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'


def svg(results):
    rows = [row for row in results["rows"] if row["mode"] == "loop"]
    crowd = {row["name"]: row["median"] for row in results["rows"] if row["mode"] == "all"}
    values = [row["p10"] for row in rows] + [row["p90"] for row in rows] + list(crowd.values())
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    bottom = TOP + len(rows) * (BAR + GAP)
    height = bottom + 46

    def x(value):
        return LEFT + (log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        text(16, 24, "Counting, ns per call in a loop inside one program run", size=15),
        text(16, 44, "bar: one CPU, median, with p10 to p90; ring: all CPUs at once. Logarithmic. Compares code: not what an event costs.", size=11, colour="#555"),
    ]
    for decade in range(low, high + 1):
        out.append(line(x(10**decade), TOP - 8, x(10**decade), bottom, "#ddd"))
        out.append(text(x(10**decade), bottom + 16, f"{10**decade:g}", "middle", 11, "#555"))
    out.append(text((LEFT + WIDTH - RIGHT) / 2, bottom + 34, "ns", "middle", 11, "#555"))
    for index, row in enumerate(rows):
        y = TOP + index * (BAR + GAP)
        middle = y + BAR / 2
        colour = COLOURS[row["family"]]
        out.append(text(LEFT - 8, middle + 4, row["title"], "end"))
        out.append(f'<rect x="{LEFT}" y="{y}" width="{x(row["median"]) - LEFT:.1f}" height="{BAR}" fill="{colour}" fill-opacity="0.85"/>')
        out.append(line(x(row["p10"]), middle, x(row["p90"]), middle, "#111", 1.2))
        if row["name"] in crowd:
            out.append(f'<circle cx="{x(crowd[row["name"]]):.1f}" cy="{middle}" r="4.5" fill="none" stroke="#111" stroke-width="1.4"/>')
        figure = f'{row["median"]:.2f}' if row["median"] < 100 else f'{row["median"]:.0f}'
        out.append(text(WIDTH - RIGHT + 12, middle + 4, figure, size=11))
    out.append("</svg>\n")
    return "\n".join(out)
