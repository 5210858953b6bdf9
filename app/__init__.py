"""Typed Memory: a multi-tenant memory service for agents."""
