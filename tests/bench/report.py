#!/usr/bin/env python3
"""Makes the plot and the tables of docs/performance.md from results.json.

report.py RESULTS.json... [--races FILE] [--plot FILE.svg] [--tables FILE.md]
          [--page FILE.md]

--page replaces, in an existing page, what stands between `<!-- bench:NAME -->` and
`<!-- end -->` by the table of that name; --races is the output of test_race, the
table `races`. Several results are merged; the machine is that of the first (a run in
a VM stands beside one on the machine).
"""
import argparse
import json
import re

import plot

# name of a table: heading of its last column, number format
MODES = {
    "loop": ("to the floor", "{:.2f}"),
    "all": ("to one CPU", "{:.2f}"),
    "event": ("", "{:.1f}"),
    "reading": ("to reading an interval", "{:.1f}"),
    "sizes": ("of which copying", "{:.0f}"),
    "feature": ("to nothing attached", "{:.1f}"),
    "vmread": ("", "{:.0f}"),
}


def load(paths):
    merged = {"machine": [], "rows": [], "proofs": []}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        merged["rows"] += result["rows"]
        merged["proofs"] += result.get("proofs", [])
        merged["machine"] = merged["machine"] or result["machine"]
    return merged


def table(heads, lines, numbers="---:"):
    align = ["---"] + [numbers] * (len(heads) - 1)
    lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heads, align, *lines])


def mode_table(results, mode):
    ratio_head, form = MODES[mode]
    rows = [row for row in results["rows"] if row["mode"] == mode]
    if not rows:
        return "*Not measured in this run.*"
    lines = []
    for row in rows:
        last = [f"× {row['ratio']:.2f}"] if "ratio" in row else []
        last += [row["verdict"]] if "verdict" in row else []
        last += [f"dropped {100 * row['drops']:.2g} %"] if "drops" in row else []
        lines.append([row["title"], *(form.format(row[key]) for key in ("median", "p10", "p90")), ", ".join(last)])
    return table([rows[0]["unit"], "median", "p10", "p90", ratio_head], lines)


def machine_table(results):
    return table(["machine", ""], [[name, value] for name, value in results["machine"]], "---")


def proof_table(proofs):
    return table(
        ["promised", "found", "bound", ""],
        [
            [p["title"], f"{p['value']:.2f} {p['unit']}", f"{'≤' if p['relation'] == '<=' else '≥'} {p['bound']:g}", p["verdict"]]
            for p in proofs
        ],
    )


def races(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip() for line in file if re.match("#|ok|not ok", line)]
    return "\n".join(["```", *lines, "```"])


def is_feature(proof):
    return re.match("(lsm|fentry|syscall): ", proof["title"])


def tables(results):
    made = {mode: mode_table(results, mode) for mode in MODES}
    made["machine"] = machine_table(results)
    made["featureproofs"] = proof_table([p for p in results["proofs"] if is_feature(p)])
    made["proofs"] = proof_table([p for p in results["proofs"] if not is_feature(p)])
    return made


def fill_page(path, made):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    for name, text in made.items():
        page = re.sub(
            rf"(<!-- bench:{name} -->\n).*?(<!-- end -->)",
            lambda match, text=text: match[1] + text + "\n" + match[2],
            page,
            flags=re.DOTALL,
        )
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+")
    parser.add_argument("--plot")
    parser.add_argument("--tables")
    parser.add_argument("--page")
    parser.add_argument("--races")
    arguments = parser.parse_args()
    results = load(arguments.results)
    made = tables(results)
    if arguments.races:
        made["races"] = races(arguments.races)
    if arguments.plot:
        with open(arguments.plot, "w", encoding="utf-8") as file:
            file.write(plot.svg(results))
    if arguments.tables:
        with open(arguments.tables, "w", encoding="utf-8") as file:
            for name, text in made.items():
                file.write(f"## {name}\n\n{text}\n\n")
    if arguments.page:
        fill_page(arguments.page, made)


if __name__ == "__main__":
    main()
