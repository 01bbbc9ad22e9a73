"""An endpoint that speaks OpenAI's protocol: one client, its limits, its retries, and what its answers mean."""
