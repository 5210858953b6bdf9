-- How many review items are open, by scope and reason, counted as they come and go.
-- A row a scope, not a tenant: writers of a scope take turns anyway, so they never wait for another scope's count.
CREATE TABLE review_counts (
    tenant_id uuid NOT NULL,
    scope_id uuid NOT NULL,
    reason text NOT NULL,
    waiting integer NOT NULL,
    CONSTRAINT pk_review_counts PRIMARY KEY (tenant_id, scope_id, reason),
    CONSTRAINT fk_review_counts_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_review_counts_tenant_id_scope_id FOREIGN KEY (tenant_id, scope_id)
        REFERENCES scopes (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_review_counts_waiting ON review_counts (reason) WHERE waiting > 0;

CREATE FUNCTION count_reviews() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.review_reason IS NOT NULL THEN
        UPDATE review_counts SET waiting = waiting - 1
        WHERE tenant_id = OLD.tenant_id AND scope_id = OLD.scope_id AND reason = OLD.review_reason;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.review_reason IS NOT NULL THEN
        INSERT INTO review_counts (tenant_id, scope_id, reason, waiting)
        VALUES (NEW.tenant_id, NEW.scope_id, NEW.review_reason, 1)
        ON CONFLICT (tenant_id, scope_id, reason) DO UPDATE SET waiting = review_counts.waiting + 1;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER review_counted_in AFTER INSERT ON memories FOR EACH ROW
    WHEN (NEW.review_reason IS NOT NULL) EXECUTE FUNCTION count_reviews();

CREATE TRIGGER review_counted_on AFTER UPDATE ON memories FOR EACH ROW
    WHEN (OLD.review_reason IS DISTINCT FROM NEW.review_reason) EXECUTE FUNCTION count_reviews();

CREATE TRIGGER review_counted_out AFTER DELETE ON memories FOR EACH ROW
    WHEN (OLD.review_reason IS NOT NULL) EXECUTE FUNCTION count_reviews();
