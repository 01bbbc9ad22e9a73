"""A client for OpenAI-compatible endpoints, with rate limits, retries, and a circuit breaker."""
