"""What ``tools/bench.py`` measures: encoders, programs around them, and trainers."""
