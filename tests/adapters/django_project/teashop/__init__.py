"""A small shop: a real project for the tests of the adapters for Django."""
