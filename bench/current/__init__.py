"""A public benchmark: which memory serves the value that is current?"""
