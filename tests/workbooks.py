"""Write workbooks of Excel by hand, good ones and hostile ones."""

import io
import zipfile
from xml.sax.saxutils import escape

_NAMESPACES = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
_RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def letters(column: int) -> str:
    """Return the name of a column, counted from 0."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def cells(rows: list[list[object]], shared: list[str]) -> str:
    """Return rows as XML; a text is added to the shared ones, a day is written as (serial number,)."""
    lines = []
    for i, row in enumerate(rows, 1):
        written = []
        for j, cell in enumerate(row):
            place = f'r="{letters(j)}{i}"'
            if isinstance(cell, bool):
                written.append(f'<c {place} t="b"><v>{int(cell)}</v></c>')
            elif isinstance(cell, tuple):
                written.append(f'<c {place} s="1"><v>{cell[0]}</v></c>')
            elif isinstance(cell, str) and cell:
                shared.append(cell)
                written.append(f'<c {place} t="s"><v>{len(shared) - 1}</v></c>')
            elif cell not in ("", None):
                written.append(f"<c {place}><v>{cell!r}</v></c>")
        lines.append(f'<row r="{i}">{"".join(written)}</row>')
    return "".join(lines)


def xlsx(sheets: dict[str, list[list[object]] | str], shared: list[str] | None = None) -> bytes:
    """Return a workbook with these sheets, each of rows or of the XML of its rows.

    shared: the shared texts, for sheets of XML.
    """
    texts = list(shared or ())
    parts = {}
    for i, rows in enumerate(sheets.values(), 1):
        body = rows if isinstance(rows, str) else cells(rows, texts)
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f"<worksheet {_NAMESPACES}><sheetData>{body}</sheetData></worksheet>"
        )
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(sheets, 1)
    )
    parts["xl/workbook.xml"] = f"<workbook {_NAMESPACES}><sheets>{listed}</sheets></workbook>"
    relations = [
        f'<Relationship Id="rId{i}" Type="{_KIND}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    ]
    relations += [
        f'<Relationship Id="rIdS" Type="{_KIND}/sharedStrings" Target="sharedStrings.xml"/>',
        f'<Relationship Id="rIdT" Type="{_KIND}/styles" Target="styles.xml"/>',
    ]
    parts["xl/_rels/workbook.xml.rels"] = f"<Relationships {_RELATIONS}>{''.join(relations)}</Relationships>"
    parts["xl/sharedStrings.xml"] = (
        f"<sst {_NAMESPACES}>{''.join(f'<si><t>{escape(text)}</t></si>' for text in texts)}</sst>"
    )
    parts["xl/styles.xml"] = (
        f'<styleSheet {_NAMESPACES}><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'
    )
    parts["_rels/.rels"] = (
        f'<Relationships {_RELATIONS}><Relationship Id="rId1" Type="{_KIND}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    )
    parts["[Content_Types].xml"] = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + text)
    return file.getvalue()
