"""Generate the parts of the clients that follow from the contract (openapi/openapi.json)."""
