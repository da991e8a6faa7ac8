"""Charts drawn by the server: series become SVG paths of no more points than there are pixels.

Pure geometry in per mille of the plot: x and y run from 0 to 1000, y downwards, whatever the size on
the screen. Templates write the elements, the style sheet gives them colours.
"""
