# SPDX-License-Identifier: Apache-2.0
"""Reads a recording sheet aloud with flite, one file a row: read_aloud.py SHEET.csv FOLDER"""

import concurrent.futures
import csv
import pathlib
import subprocess
import sys


def main():
    sheet, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    # Another page may have read the same sheet.
    folder.mkdir(exist_ok=True)
    rows = list(csv.DictReader(sheet.open(encoding="utf-8")))

    def read(row):
        subprocess.run(["flite", "-voice", "slt", "-t", row["text"], "-o", str(folder / f"{row['file']}.wav")], check=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(read, rows))


if __name__ == "__main__":
    main()
