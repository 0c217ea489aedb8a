"""Counts the lines of code of a program in Python, R or shell."""


def of(text):
    """Returns the lines of code, without blank lines, comments, and the module's docstring."""
    counted, in_description = 0, False
    for line in (line.strip() for line in text.splitlines()):
        if in_description or line.startswith('"""'):
            marks = line.count('"""')
            in_description = in_description != (marks % 2 == 1)
        elif line and not line.startswith("#"):
            counted += 1
    return counted
