"""Measures what is promised of a base of 200,000 fragments; its databases are kept between runs."""
