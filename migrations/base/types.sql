-- Memory types: the built-in ones stand under the nil tenant, with version 0.

CREATE TABLE memory_types (
    name text NOT NULL,
    description text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    version integer NOT NULL DEFAULT 0,
    CONSTRAINT pk_memory_types PRIMARY KEY (tenant_id, name),
    CONSTRAINT ck_memory_types_version CHECK (
        (tenant_id = '00000000-0000-0000-0000-000000000000') = (version = 0)
    )
);

CREATE TABLE memory_type_versions (
    tenant_id uuid NOT NULL,
    name text NOT NULL,
    version integer NOT NULL,
    definition json NOT NULL,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    CONSTRAINT pk_memory_type_versions PRIMARY KEY (tenant_id, name, version),
    CONSTRAINT fk_memory_type_versions_tenant_id FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT fk_memory_type_versions_tenant_id_name FOREIGN KEY (tenant_id, name)
        REFERENCES memory_types (tenant_id, name) ON DELETE CASCADE,
    CONSTRAINT ck_memory_type_versions_version CHECK (version > 0)
);
