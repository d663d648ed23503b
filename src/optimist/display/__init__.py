"""Display of objects: as a line of text, as HTML in a notebook, and drawn by matplotlib."""
