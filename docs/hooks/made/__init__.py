"""Numbers, tables, listings and pictures of pages, made by what stands beside them in comments (docs/write-a-number.md)."""
