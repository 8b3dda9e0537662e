"""The timeline as one HTML file: no script, no font, no address is loaded."""

from jinja2 import Environment

from truehit.cli.event_lines import EventLine
from truehit.cli.timeline_grid import LEGEND, Grid
from truehit.spec.laws.base import Violation

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{{ title }}</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; color: #1d2330; background: #fff; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; font: 12px/1.6 ui-monospace, monospace; }
th, td { padding: 1px 8px; border: 1px solid #d8dce6; white-space: nowrap; }
th { text-align: left; font-weight: 500; background: #f4f5f8; position: sticky; left: 0; }
td { text-align: right; } .events td { text-align: left; border: 0; }
.scroll { overflow-x: auto; } .sentence { border-left: 4px solid #c62f3b; padding-left: .8rem; }
.null { color: #b6bccb; } .scratch { background: #eef0f4; color: #69718a; }
.running { background: #d5ecf8; } .published { background: #d6f0da; }
.checkpoint { background: #eadcf5; } .broken { background: #c62f3b; color: #fff; font-weight: 700; }
.legend span { padding: 1px 6px; margin-right: .3rem; font-family: ui-monospace, monospace; }
.legend { margin: 1rem 0; } .legend div { display: inline-block; margin-right: 1.2rem; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
{% for one in violations %}
<p class="sentence"><b>{{ one.violation_class }} {{ one.law }}</b>: {{ one.sentence }}</p>
{% endfor %}
{% for note in notes %}<p>{{ note }}</p>
{% endfor %}
{% if grids %}<div class="legend">{% for look, sign, meaning in legend %}
<div><span class="{{ look }}">{{ sign }}</span>{{ meaning }}</div>{% endfor %}</div>{% endif %}
{% for grid in grids %}
<h2>{{ grid.request }}</h2>
<div class="scroll"><table>
{% for row in grid.rows %}<tr><th>{{ row.label }}</th>
{%- for word in row.words %}<td class="{{ word.look }}">{{ word.text }}</td>{% endfor %}</tr>
{% endfor %}</table></div>
{% endfor %}
{% if lines %}<h2>Events</h2>
<div class="scroll"><table class="events">
<tr><th>step</th><th>order</th><th>kind</th><th>request</th><th>group</th><th>what</th></tr>
{% for one in lines %}<tr><td>{{ one.step }}</td><td>{{ one.order }}</td><td>{{ one.kind }}</td>
{#- #}<td>{{ one.request }}</td><td>{{ one.group }}</td><td>{{ one.what }}</td></tr>
{% endfor %}</table></div>{% endif %}
</body>
</html>
"""


def html(
    title: str,
    grids: list[Grid],
    violations: list[Violation],
    lines: list[EventLine],
    notes: list[str],
) -> str:
    """The whole page; every text is escaped."""
    environment = Environment(autoescape=True, trim_blocks=False)
    return environment.from_string(TEMPLATE).render(
        title=title,
        grids=grids,
        violations=violations,
        lines=lines,
        notes=notes,
        legend=LEGEND,
    )
