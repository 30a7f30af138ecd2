"""Settings, the thread pool, progress of a fit, and warnings at the user's line."""
