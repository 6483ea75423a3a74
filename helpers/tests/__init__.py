"""Tests of the helpers and of the course as a whole. Each of them was seen to fail on a fault it is there for."""
