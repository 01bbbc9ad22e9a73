"""Rewards made of rewards: means, gates, routes, products, extremes, fallbacks, monitors, caches."""
