"""Write workbooks of Excel and LibreOffice by hand, good ones and hostile ones."""

import io
import struct
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


_REST = '<table:table-cell table:number-columns-repeated="16000"/>'


def ods(sheets: dict[str, list[list[object]] | str]) -> bytes:
    """Return a workbook of LibreOffice with these sheets, each of rows or of the XML of its rows."""
    tables = ""
    for name, rows in sheets.items():
        body = rows if isinstance(rows, str) else _open_rows(rows)
        tables += f'<table:table table:name="{escape(name)}">{body}</table:table>'
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{office}:office:1.0" xmlns:table="{office}:table:1.0" '
        f'xmlns:text="{office}:text:1.0" office:version="1.2"><office:body><office:spreadsheet>{tables}'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{office}:manifest:1.0"/>')
        archive.writestr("content.xml", '<?xml version="1.0" encoding="UTF-8"?>' + content)
    return file.getvalue()


def _open_rows(rows: list[list[object]]) -> str:
    """Return rows as XML of an .ods, with the empty cells that always follow; a day is (ISO 8601,)."""
    lines = []
    for row in rows:
        written = []
        for cell in row:
            kind, value = "string", ""
            if isinstance(cell, bool):
                kind, value = "boolean", f'office:boolean-value="{str(cell).lower()}"'
            elif isinstance(cell, tuple):
                kind, value = "date", f'office:date-value="{cell[0]}"'
            elif isinstance(cell, int | float):
                kind, value = "float", f'office:value="{cell!r}"'
            if cell in ("", None):
                written.append("<table:table-cell/>")
            else:
                shown = escape(str(cell))
                attributes = f'office:value-type="{kind}" {value}'
                written.append(f"<table:table-cell {attributes}><text:p>{shown}</text:p></table:table-cell>")
        lines.append(f"<table:table-row>{''.join(written)}{_REST}</table:table-row>")
    rest = f'<table:table-row table:number-rows-repeated="1048000">{_REST}</table:table-row>'
    return "".join(lines) + rest


def _record(kind: int, content: bytes = b"") -> bytes:
    """Return a record of an .xlsb: its kind and its length in groups of seven bits, then its content."""
    written = b""
    for number, most in ((kind, 2), (len(content), 4)):
        for _ in range(most):
            more = number >> 7
            written += bytes([number & 0x7F | (0x80 if more else 0)])
            number = more
            if not more:
                break
    return written + content


def _wide(text: str) -> bytes:
    """Return a text as an .xlsb has it, its length first."""
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def xlsb(rows: list[list[object]], first_row: int = 0, first_column: int = 0) -> bytes:
    """Return a binary workbook of one sheet, whose cells begin at this place; equal texts are shared."""
    texts, lines = dict[str, int](), []
    for i, row in enumerate(rows, first_row):
        lines.append(_record(0, struct.pack("<I", i) + bytes(13)))
        for j, cell in enumerate(row, first_column):
            place = struct.pack("<II", j, 0)
            if isinstance(cell, str) and cell:
                index = texts.setdefault(cell, len(texts))
                lines.append(_record(7, place + struct.pack("<I", index)))
            elif isinstance(cell, int | float):
                lines.append(_record(5, place + struct.pack("<d", cell)))
    sheet = (
        _record(129) + _record(148, bytes(16)) + _record(145) + b"".join(lines) + _record(146) + _record(130)
    )
    named = struct.pack("<II", 0, 1) + _wide("rId1") + _wide("Data")
    workbook = _record(131) + _record(143) + _record(156, named) + _record(144) + _record(157) + _record(132)
    shared = _record(159, struct.pack("<II", len(texts), len(texts)))
    shared += b"".join(_record(19, b"\0" + _wide(text)) for text in texts) + _record(160)
    relation = f'<Relationship Id="rId1" Type="{_KIND}/worksheet" Target="worksheets/sheet1.bin"/>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.bin", workbook)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
        archive.writestr("xl/sharedStrings.bin", shared)
        archive.writestr(
            "xl/_rels/workbook.bin.rels", f"<Relationships {_RELATIONS}>{relation}</Relationships>"
        )
    return file.getvalue()
