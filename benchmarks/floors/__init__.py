"""The least anything could cost: what each budget is measured against."""
