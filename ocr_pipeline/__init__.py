"""Faxed Japanese purchase orders become checked orders: pages, engines, tables, orders, export."""

__version__ = "0.1.0"
