"""What notebooks show of models and explanations: plain tables and bars, for light and dark pages, without a network.

Names and values come from anybody's tables: every one of them goes through `text`.
"""

import html
import math

STYLE = """<style>
.priory{font-size:13px;line-height:1.4;color:inherit;max-width:100%;overflow-x:auto}
.priory table{border-collapse:collapse;font-size:inherit;margin:.4em 0 .8em 0;background:none;color:inherit}
.priory th,.priory td{padding:2px 10px 2px 0;border:0;border-bottom:1px solid rgba(128,128,128,.25);text-align:left;
vertical-align:top;background:none;color:inherit;white-space:nowrap}
.priory th{font-weight:600;opacity:.75}
.priory td.number,.priory th.number{text-align:right;font-variant-numeric:tabular-nums}
.priory .faint{opacity:.6}
.priory .bar{display:inline-block;height:.75em;vertical-align:baseline;border-radius:1px}
.priory .for{background:rgb(66,133,194)}
.priory .against{background:rgb(224,122,41)}
.priory td.left{text-align:right;padding-right:0;width:120px;border-right:1px solid rgba(128,128,128,.7)}
.priory td.right{width:120px}
</style>"""

MOST_CLASSES, MOST_COLUMNS, MOST_TERMS, MOST_ROWS = 6, 40, 12, 5


def plain(value, longest=60):
    """Anything as text of bounded length that moves no cursor and turns no line around."""
    value = str(value)
    value = value if len(value) <= longest else value[: longest - 1] + "…"
    return "".join(character if character.isprintable() else "�" for character in value)


def text(value, longest=60):
    """The same as HTML."""
    return html.escape(plain(value, longest), quote=True)


def page(*parts):
    """Parts of HTML as one."""
    return f'<div class="priory">{STYLE}{"".join(parts)}</div>'


def table(head, lines):
    """A table; each of its cells is HTML, or a pair of the class of the cell and HTML."""
    cell = lambda tag, of: f"<{tag}>{of}</{tag}>" if isinstance(of, str) else f'<{tag} class="{of[0]}">{of[1]}</{tag}>'  # noqa: E731
    line = lambda tag, cells: f"<tr>{''.join(cell(tag, of) for of in cells)}</tr>"  # noqa: E731
    head = f"<thead>{line('th', head)}</thead>" if head else ""
    return f"<table>{head}<tbody>{''.join(line('td', cells) for cells in lines)}</tbody></table>"


def bar(share, kind="for", width=100):
    """A bar of this share of the width."""
    pixels = 0 if math.isnan(share) else round(min(max(share, 0.0), 1.0) * width)
    return f'<span class="bar {kind}" style="width:{pixels}px"></span>'


def number(x):
    """A number to the digits that mean something."""
    if x is None:
        return ""
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    is_long = 1e4 <= abs(x) < 1e15
    shown = f"{x:,.0f}" if is_long or float(x).is_integer() and abs(x) < 1e15 else f"{x:.4g}"
    return shown.replace("-", "−")


def plural(n, one, many=None):
    """So many of something."""
    return f"{number(n)} {one if n == 1 else many or one + 's'}"


# Models


def model(name, summary):
    """What was learnt, by the summary that `show` gives."""
    classes, features, judgement = summary["classes"], summary["features"], summary.get("judgement")
    judged = f"judged ({text(judgement['tier'])})" if judgement else "not judged"
    facts = [plural(summary["rows"], "row"), plural(len(classes), "class", "classes"), plural(len(features), "column"), judged]
    head = f"<p><b>{text(name)}</b>: {', '.join(facts)}</p>"
    parts = [head, _classes(classes), _features(classes, features, judgement)]
    if summary["left_out"]:
        parts.append(f'<p class="faint">not used: {", ".join(map(text, summary["left_out"][:MOST_COLUMNS]))}</p>')
    return page(*parts)


def _classes(classes):
    lines = [
        [text(of["name"]), ("number", number(of["weight"])), ("number", f"{of['prior']:.4f}"), bar(of["prior"])]
        for of in classes[: 3 * MOST_CLASSES]
    ]
    if len(classes) > 3 * MOST_CLASSES:
        lines.append([("faint", f"… and {len(classes) - 3 * MOST_CLASSES} more"), "", "", ""])
    return table(["class", ("number", "rows"), ("number", "P(class)"), ""], lines)


def _features(classes, features, judgement):
    names = [of["name"] for of in classes[:MOST_CLASSES]]
    weights = {of["name"]: of["alone"] for of in judgement["columns"]} if judgement else {}
    most = max(weights.values(), default=0) or 1
    head = ["column", "kind", "family"] + ([("number", "weight"), ""] if judgement else []) + [f"in {text(name, 20)}" for name in names]
    lines = []
    for feature in features[:MOST_COLUMNS]:
        line = [f"<b>{text(feature['name'])}</b>", text(feature["kind"]), text(feature["family"])]
        if judgement:
            weight = weights.get(feature["name"])
            line += [("number", "" if weight is None else f"{weight:.2f}"), bar((weight or 0) / most, width=50)]
        lines.append(line + [_typical(feature, name) for name in names])
    if len(features) > MOST_COLUMNS:
        lines.append([("faint", f"… and {len(features) - MOST_COLUMNS} more")] + [""] * (len(head) - 1))
    return table(head, lines)


def _typical(feature, name):
    """What is typical of a class: the mean of numbers, the most probable values, the most telling words."""
    if feature.get("text"):
        return ", ".join(text(word["token"], 20) for word in feature["text"]["telling"][name][:5])
    parameters = feature["parameters"]
    if "mean" in parameters:
        spread = parameters.get("standard_deviation")
        mean = number(parameters["mean"].get(name))
        return mean if spread is None else f'{mean} <span class="faint">± {number(spread.get(name))}</span>'
    values = sorted(feature["values"], key=lambda of: -of["probability"].get(name, 0))[:3]
    return ", ".join(f'{text(of["value"], 20)} <span class="faint">{of["probability"].get(name, 0):.2f}</span>' for of in values)


# Explanations


def explanation(told):
    """Bars for the first rows."""
    parts = [_row(told, row) for row in range(min(len(told), MOST_ROWS))]
    if len(told) > MOST_ROWS:
        parts.append(f'<p class="faint">… and {plural(len(told) - MOST_ROWS, "more row")}</p>')
    return page(*parts)


def _row(told, row):
    best, other, terms = told.evidence(row)
    probability = told.probabilities[row].max()
    head = f"<p>row {row}: <b>{text(best)}</b>, P = {probability:.4f}"
    head += f' <span class="faint">nats for {text(best)} rather than {text(other)}</span></p>'
    shown, rest = terms[:MOST_TERMS], terms[MOST_TERMS:]
    if rest:
        shown = [*shown, (f"{len(rest)} others", None, sum(nats for _, _, nats in rest))]
    finite = [abs(nats) for _, _, nats in shown if math.isfinite(nats)]
    most = max(finite, default=0) or 1
    return head + table(None, [_term(name, value, nats, most) for name, value, nats in shown])


def _term(name, value, nats, most):
    length = bar(abs(nats) / most, "for" if nats > 0 else "against", width=110)
    value = "" if value is None else text(value, 40)
    sides = [("left", length if nats < 0 else ""), ("right", length if nats > 0 else "")]
    signed = ("+" if nats > 0 else "−" if nats < 0 else "") + ("∞" if math.isinf(nats) else f"{abs(nats):.3f}")
    return [text(name), value, ("number", signed), *sides]
