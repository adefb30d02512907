"""What to do: plain asyncio Python that imports neither Qt nor qasync."""
