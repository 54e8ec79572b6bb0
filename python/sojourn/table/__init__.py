"""Tables: one description of columns and rows, printed for a width, as JSON or as CSV."""

from sojourn.table.data import write_csv, write_json
from sojourn.table.frame import of_frame, to_frame
from sojourn.table.model import MOST_ROWS, Column, Content, Frame, Row, Rows, Table, Tables, label, measured, number, text
from sojourn.table.terminal import OF_COMMANDS, print_table, render, width
