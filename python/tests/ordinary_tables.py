"""Ordinary tables for tests: a table with columns of every role, and a function that writes a workbook."""

import zipfile

import numpy as np
import pandas as pd

ROWS = 200


def ordinary_table(seed=0):
    """Returns a table with columns of every role, and two groups that differ in revenue, visits and plan."""
    rng = np.random.default_rng(seed)
    group = np.arange(ROWS) % 2
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, ROWS), unit="D")
    return pd.DataFrame(
        {
            "id": rng.permutation(ROWS) + 1000,
            "revenue": np.exp(rng.normal(4 + 2 * group, 1, ROWS)),
            "visits": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(5 + 4 * group, 1, ROWS)),
            "noise": rng.normal(size=ROWS),
            "plan": np.where(rng.random(ROWS) < 0.1 + 0.8 * group, "gold", "basic"),
            "member": rng.random(ROWS) < 0.5,
            "joined": days,
            "same": 7.0,
            "empty": np.full(ROWS, np.nan),
            "again": np.nan,
        }
    ).assign(again=lambda table: table["noise"])


def write_workbook(path, sheet, rows):
    """Writes a workbook with one sheet: numbers as numbers, other values as text, and no cell for an empty value."""
    cell = {
        True: lambda place, value: f'<c r="{place}"><v>{value!r}</v></c>',
        False: lambda place, value: f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>',
    }
    lines = [
        "".join(cell[isinstance(value, (int, float))](f"{chr(65 + column)}{number}", value) for column, value in enumerate(row) if value is not None)
        for number, row in enumerate(rows, 1)
    ]
    cells = "".join(f'<row r="{number}">{line}</row>' for number, line in enumerate(lines, 1))
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    of_office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>')
        book.writestr("_rels/.rels", f'<Relationships {links}><Relationship Id="r1" Type="{of_office}/officeDocument" Target="xl/workbook.xml"/></Relationships>')
        book.writestr("xl/workbook.xml", f'<workbook {space}><sheets><sheet name="{sheet}" sheetId="1" r:id="r1"/></sheets></workbook>')
        book.writestr("xl/_rels/workbook.xml.rels", f'<Relationships {links}><Relationship Id="r1" Type="{of_office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>')
        book.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}><sheetData>{cells}</sheetData></worksheet>")
