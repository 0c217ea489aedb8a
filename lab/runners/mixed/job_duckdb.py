"""A messy file of customers as a typed table, with DuckDB: it reads, and does not cluster. Usage: job_duckdb.py FILE NEXT OUT"""

import sys
from pathlib import Path

import duckdb

# The measures, and the columns with a currency or a per cent sign. A person saw this by looking at the file.
MEASURES = ["Umsatz", "Besuche", "Warenkorb", "Rabatt", "Antwortzeit", "Alter"]

file, _, out = sys.argv[1], sys.argv[2], Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
cleaned = ", ".join(f"CAST(replace(regexp_replace(CAST({name} AS VARCHAR), '[^0-9,]', '', 'g'), ',', '.') AS DOUBLE) AS {name}" for name in MEASURES)
duckdb.sql(f"COPY (SELECT * REPLACE ({cleaned}) FROM read_csv('{file}', nullstr = ['', 'N/A', '-'])) TO '{out / 'table.parquet'}'")
print(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM '{out / 'table.parquet'}')"))
