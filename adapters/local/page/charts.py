"""Charts as SVG, drawn here: geometry in attributes and colours by class, so that the page needs no style attribute."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup


def columns(values: Sequence[float], *, name: str, width: int = 170, height: int = 30) -> Markup:
    """Return a small chart of columns, the last one marked."""
    step, top = width / max(1, len(values)), max([*values, 0.0]) or 1.0
    bars = Markup("").join(
        Markup(
            '<rect class="b{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="1.5"/>'
        ).format(
            " last" if number == len(values) - 1 else "",
            number * step + 1,
            height - 2 - (height - 4) * value / top,
            step - 2.5,
            max(1.5, (height - 4) * value / top),
        )
        for number, value in enumerate(values)
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">{}</svg>'
    ).format(width, height, width, height, name, bars)
