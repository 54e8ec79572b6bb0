"""A report: results as one HTML file that needs no network.

from sojourn import report

report.write("results/piotrowska", "piotrowska.html")
"""

from sojourn.report.page import write, write_result
