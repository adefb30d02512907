"""How a file is fetched: parallel, hashed, resumable, through one decision about proxy and certificates."""
