"""Whether a query reads the texts of entries."""

from __future__ import annotations

from sessions_app.models import Entry
from sessions_app.payload import SIZE_WITHIN


def loads_texts(sql: str) -> bool:
    """Whether a query reads payloads, or anything of them beyond how long they are."""
    column = f'"{Entry._meta.db_table}"."payload"'
    of_size = (f"LENGTH({column})", f"SUBSTR({column}, 1, {SIZE_WITHIN})")
    for part in (*of_size, of_size[1].replace("SUBSTR", "SUBSTRING")):
        sql = sql.replace(part, "")
    return "payload" in sql
