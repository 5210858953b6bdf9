"""Types that tenants define: what a definition may say, and what it is made into. See docs/tenant-types.md."""
