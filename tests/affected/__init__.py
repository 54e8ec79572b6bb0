"""Which test files a change can affect: the option ``--affected`` runs only those (CONTRIBUTING.md says what counts)."""
