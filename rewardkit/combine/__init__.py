"""Rewards that combine other rewards: means, gates, routes, products, extremes, fallbacks, monitors, and caches."""
