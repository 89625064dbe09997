"""Synthetic fax purchase orders whose truth and damage are known."""
