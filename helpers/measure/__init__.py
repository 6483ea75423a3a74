"""What measures: clocks, comparisons, records of measurements, and their charts."""
