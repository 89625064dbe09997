"""Any file → upright pages of square pixels."""
