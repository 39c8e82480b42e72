"""Charts as SVG, drawn here: geometry in attributes and colours by class, so that the page needs no style attribute."""
