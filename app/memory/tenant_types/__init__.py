"""Types that tenants define: their definitions, and the compiler to memory types. See docs/tenant-types.md."""
