"""A client for endpoints that speak the OpenAI protocol, with rate limits, retries and a circuit breaker."""
