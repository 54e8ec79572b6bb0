"""What a row of ``transfers`` is of, in the order that the arrays of an observation count them."""

#: All data of a connection, a request with its response, a page with its objects, a message.
KINDS = ("transfer", "request", "page", "report")
