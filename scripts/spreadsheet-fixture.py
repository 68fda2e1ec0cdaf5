#!/usr/bin/env python3
"""Makes testdata/spreadsheets/ and examples/rechnungen.xlsx: tables as workbooks, as openpyxl and LibreOffice write them.

Needs openpyxl, and LibreOffice's `soffice` for the .ods files. Run in the folder of the project.
"""

import csv
import datetime
import pathlib
import subprocess

import openpyxl
from openpyxl.comments import Comment

HERE = pathlib.Path("testdata/spreadsheets")


def orders():
    """Rows of which every column holds something that spreadsheets store in their own way."""
    start = datetime.datetime(2024, 1, 2, 8, 15)
    cities = ["Zürich", "Genève", "Bern, Stadt", 'the "old" town']
    for i in range(120):
        yield {
            "price": round(12.5 + i * i * 0.37 + (i % 7) * 1000, 2),
            "pieces": 1 + i * 13 % 40,
            "discount": [0, 0.05, 0.125, None][i % 4],
            "balance": None if i % 11 == 3 else round((i % 9 - 4) * 1234.56, 2),
            "ordered": start + datetime.timedelta(hours=31 * i, minutes=i % 60, milliseconds=500 * (i % 2)),
            "due": (start + datetime.timedelta(days=i + 30)).date(),
            "express": i % 3 == 0,
            "city": cities[i % 4],
            "class": "late" if i * 7 % 10 < 3 else "in time",
        }


def plain(value):
    """As a plain table has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
    return str(value)


def write_orders():
    rows = list(orders())
    with open(HERE / "orders.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([plain(value) for value in row.values()] for row in rows)

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Orders"
    sheet["B1"] = "Orders of 2024"
    sheet["B1"].font = openpyxl.styles.Font(bold=True, size=16)
    formats = {
        "price": '#,##0.00 "CHF"',
        "discount": "0.0%",
        "balance": "#,##0.00;(#,##0.00)",
        "ordered": "dd.mm.yyyy hh:mm",
        "due": "dd.mm.yyyy",
        # So that LibreOffice, too, takes it as a truth value.
        "express": "BOOLEAN",
    }
    for column, name in enumerate(rows[0], start=2):
        sheet.cell(3, column, name)
    for number, row in enumerate(rows, start=4):
        for column, (name, value) in enumerate(row.items(), start=2):
            cell = sheet.cell(number, column, value)
            if name in formats:
                cell.number_format = formats[name]
            if name == "balance" and value is None:
                # What a formula gives where it finds nothing.
                cell.value = "#N/A"
                cell.data_type = "e"
    sheet["L8"] = "checked"
    sheet["B4"].comment = Comment("the first order", "office")
    sheet.freeze_panes = "B4"
    hidden = book.create_sheet("Lists")
    hidden["A1"], hidden["B1"], hidden["A2"], hidden["B2"] = "city", "class", "Bern", "late"
    hidden.sheet_state = "hidden"
    notes = book.create_sheet("Prices")
    for row in [["pieces", "class"], *[[i * 7 % 30, "late" if i % 2 else "in time"] for i in range(30)]]:
        notes.append(row)
    book.save(HERE / "orders.xlsx")
    book.move_sheet("Lists", -1)
    book.save(HERE / "hidden-first.xlsx")


def write_invoices():
    with open("examples/rechnungen.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Rechnungen"
    sheet.append(["Offene Rechnungen 2024"])
    sheet.append([])
    sheet.append(header)
    for number, date, amount, discount, branch, reminders, regular, paid in rows:
        sheet.append([
            number,
            datetime.datetime.strptime(date, "%d.%m.%Y").date() if date else None,
            decimal(amount.removesuffix(" €")),
            discount if "." in discount else decimal(discount.removesuffix(" %"), 100),
            branch,
            decimal(reminders),
            regular,
            paid,
        ])
        for column, style in [(2, "dd.mm.yyyy"), (3, "#,##0.00 €"), (4, "0.0%")]:
            sheet.cell(sheet.max_row, column).number_format = style
    book.create_sheet("Kunden").append(["Kunde", "Ort"])
    book.save("examples/rechnungen.xlsx")


def decimal(text, parts=1):
    """A number with a decimal comma, of so many parts."""
    if not text or text == "k. A.":
        return text or None
    return float(text.replace(".", "").replace(",", ".")) / parts


HERE.mkdir(exist_ok=True)
write_orders()
write_invoices()
for book in ["orders", "hidden-first"]:
    subprocess.run(["soffice", "--headless", "--convert-to", "ods", "--outdir", HERE, HERE / f"{book}.xlsx"], check=True)
