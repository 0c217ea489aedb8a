"""Lines of code of a program in Python, R or shell."""


def of(text):
    """Lines of code: neither blank, nor comment, nor in a module's opening description."""
    counted, in_description = 0, False
    for line in (line.strip() for line in text.splitlines()):
        if in_description or line.startswith('"""'):
            marks = line.count('"""')
            in_description = in_description != (marks % 2 == 1)
        elif line and not line.startswith("#"):
            counted += 1
    return counted
