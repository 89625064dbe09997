"""Many documents: isolation, resuming, the ledger."""
