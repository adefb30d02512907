"""Programs that put a part of the product to work and say when something happens; the benchmarks start them."""
