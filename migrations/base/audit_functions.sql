-- The audit log can prove itself: its events are sealed into one hash chain for each tenant.

CREATE FUNCTION audit_detail_digest(salt uuid, detail jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE
RETURN sha256(coalesce(uuid_send(salt), ''::bytea) || convert_to(detail::text, 'UTF8'));

-- A UUIDv7, as the service makes them.
CREATE FUNCTION audit_event_id(at timestamptz) RETURNS uuid LANGUAGE sql VOLATILE
RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM at) * 1000)::bigint) FROM 3) FROM 1 FOR 6),
    52, 1), 53, 1), 'hex')::uuid;

CREATE FUNCTION audit_enqueue() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO audit_unsealed (tenant_id, position, event_id) SELECT tenant_id, position, id FROM fresh;
    RETURN NULL;
END $$;

-- Writes what a memory is, where the log says otherwise of it.
CREATE FUNCTION audit_standing() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    one record;
BEGIN
    SELECT m.scope_id, m.status, m.confidence, m.updated_at,
        (SELECT e.detail -> 'status' ->> 1 FROM audit_events e
         WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id AND jsonb_typeof(e.detail -> 'status') = 'array'
         ORDER BY e.position DESC LIMIT 1) AS told_status,
        (SELECT (e.detail -> 'confidence' ->> 1)::float8 FROM audit_events e
         WHERE e.tenant_id = m.tenant_id AND e.memory_id = m.id AND jsonb_typeof(e.detail -> 'confidence') = 'array'
         ORDER BY e.position DESC LIMIT 1) AS told_confidence
    INTO one FROM memories m
    WHERE m.tenant_id = NEW.tenant_id AND m.id = NEW.id;
    IF NOT FOUND THEN
        RETURN NULL; -- it was erased in the same transaction
    END IF;
    IF one.status IS DISTINCT FROM one.told_status OR one.confidence IS DISTINCT FROM one.told_confidence
    THEN
        INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, memory_id, scope_id, detail)
        VALUES (NEW.tenant_id, audit_event_id(one.updated_at), one.updated_at, 'database', 'memory.standing',
            NEW.id, one.scope_id, jsonb_build_object(
                'status', jsonb_build_array(one.told_status, one.status),
                'confidence', jsonb_build_array(one.told_confidence, one.confidence)));
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE FUNCTION audit_only_emptied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.redacted_by IS NULL AND NEW.redacted_by IS NOT NULL AND NEW.detail = '{}' AND NEW.salt IS NULL
        AND NEW.detail_digest = audit_detail_digest(OLD.salt, OLD.detail)
        AND (NEW.tenant_id, NEW.id, NEW.position, NEW.occurred_at, NEW.actor, NEW.action, NEW.memory_id,
             NEW.scope_id) IS NOT DISTINCT FROM
            (OLD.tenant_id, OLD.id, OLD.position, OLD.occurred_at, OLD.actor, OLD.action, OLD.memory_id,
             OLD.scope_id)
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'audit_events is append-only: redact_audit() empties what must go'
        USING ERRCODE = 'insufficient_privilege';
END $$;

-- Appends up to `most` unsealed events to the tenant's hash chain; returns how many.
CREATE FUNCTION seal_audit(tenant uuid, most integer DEFAULT 1000) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    previous bytea := '\x0000000000000000000000000000000000000000000000000000000000000000';
    seq bigint := 0;
    sealed_at timestamptz;
    events uuid[];
    digests bytea;
    pairs bytea;
BEGIN
    IF tenant IS DISTINCT FROM nullif(current_setting('app.tenant_id', true), '')::uuid THEN
        RAISE EXCEPTION 'the tenant is not the one of this transaction' USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('typed-memory audit ' || tenant, 0));
    SELECT s.seq, s.digest INTO seq, previous FROM audit_seals s
    WHERE s.tenant_id = tenant ORDER BY s.seq DESC LIMIT 1;
    seq := coalesce(seq, 0) + 1;
    previous := coalesce(previous, '\x0000000000000000000000000000000000000000000000000000000000000000');
    WITH next AS (
        SELECT q.position, q.event_id, sha256(convert_to(jsonb_build_array(
                e.tenant_id, e.id, (extract(epoch FROM e.occurred_at) * 1000000)::bigint, e.actor, e.action,
                e.memory_id, e.scope_id,
                encode(coalesce(e.detail_digest, audit_detail_digest(e.salt, e.detail)), 'hex')
            )::text, 'UTF8')) AS digest
        FROM audit_unsealed q
        JOIN audit_events e ON e.tenant_id = q.tenant_id AND e.id = q.event_id
        WHERE q.tenant_id = tenant ORDER BY q.position LIMIT most
    ), taken AS (
        DELETE FROM audit_unsealed q USING next
        WHERE q.tenant_id = tenant AND q.position = next.position
    )
    SELECT array_agg(event_id ORDER BY position), string_agg(digest, ''::bytea ORDER BY position),
        string_agg(uuid_send(event_id) || digest, ''::bytea ORDER BY position)
    INTO events, digests, pairs FROM next;
    IF events IS NULL THEN
        RETURN 0;
    END IF;
    sealed_at := clock_timestamp();
    INSERT INTO audit_seals (tenant_id, seq, sealed_at, events, digests, previous, digest)
    VALUES (tenant, seq, sealed_at, events, digests, previous, sha256(previous || uuid_send(tenant)
        || int8send(seq) || int8send((extract(epoch FROM sealed_at) * 1000000)::bigint) || pairs));
    RETURN cardinality(events);
END $$;

-- Empties the details of events about erased memories and scopes; their digests stay, so the chain still verifies.
CREATE FUNCTION redact_audit(
    tenant uuid, memories uuid[], scopes uuid[],
    actor text DEFAULT 'erasure', erased_at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    emptied bigint;
    erasure uuid := audit_event_id(erased_at);
BEGIN
    IF tenant IS DISTINCT FROM nullif(current_setting('app.tenant_id', true), '')::uuid THEN
        RAISE EXCEPTION 'the tenant is not the one of this transaction' USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE audit_events e SET detail = '{}', salt = NULL, redacted_by = erasure,
        detail_digest = audit_detail_digest(e.salt, e.detail)
    WHERE e.tenant_id = tenant AND e.redacted_by IS NULL
      AND (e.memory_id = ANY(memories) OR e.scope_id = ANY(scopes));
    GET DIAGNOSTICS emptied = ROW_COUNT;
    IF emptied > 0 THEN
        INSERT INTO audit_events (tenant_id, id, occurred_at, actor, action, detail)
        VALUES (tenant, erasure, erased_at, redact_audit.actor, 'audit.redacted', jsonb_build_object(
            'events', emptied, 'memories', coalesce(cardinality(memories), 0),
            'scopes', coalesce(cardinality(scopes), 0)));
    END IF;
    RETURN emptied;
END $$;

-- The functions that run as their owner, or as a trigger, find our tables whatever search path the caller has set.
DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY[
        'audit_enqueue()', 'audit_standing()', 'audit_stays()', 'audit_only_emptied()',
        'seal_audit(uuid, integer)', 'redact_audit(uuid, uuid[], uuid[], text, timestamptz)'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %I, pg_temp', one, current_schema());
    END LOOP;
END $$;

CREATE TRIGGER audit_events_enqueue AFTER INSERT ON audit_events REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION audit_enqueue();

CREATE TRIGGER audit_events_only_emptied BEFORE UPDATE ON audit_events
    FOR EACH ROW EXECUTE FUNCTION audit_only_emptied();

CREATE TRIGGER audit_events_stay BEFORE DELETE OR TRUNCATE ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();

CREATE TRIGGER audit_seals_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_seals
    FOR EACH STATEMENT EXECUTE FUNCTION audit_stays();

CREATE CONSTRAINT TRIGGER memories_told AFTER INSERT ON memories DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION audit_standing();

CREATE CONSTRAINT TRIGGER memories_change_told AFTER UPDATE ON memories DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.confidence <> NEW.confidence)
    EXECUTE FUNCTION audit_standing();
