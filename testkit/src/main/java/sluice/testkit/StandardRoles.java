package sluice.testkit;

import java.util.List;

/// The roles and helper functions that applications with row-level security usually have, and the product's own
/// accounts.
final class StandardRoles {
    static final String WITH_PASSWORD = "sluice_repl,sluice_authz";

    /// Every sign that a URL must escape.
    static final String PASSWORD = "pa:ss@w/rd%?#&+";

    private StandardRoles() {}

    /// Roles belong to the whole cluster, so each is made only if it is absent.
    static List<String> roles() {
        String password = " PASSWORD " + PostgresDatabase.literal(PASSWORD);
        return List.of(
                role("anon", "NOLOGIN NOINHERIT"),
                role("authenticated", "NOLOGIN NOINHERIT"),
                role("service_role", "NOLOGIN NOINHERIT BYPASSRLS"),
                role("sluice_repl", "LOGIN REPLICATION" + password),
                role("sluice_authz", "LOGIN NOINHERIT" + password),
                "GRANT anon, authenticated TO sluice_authz");
    }

    private static String role(String name, String options) {
        return """
                DO $$ BEGIN
                  CREATE ROLE %s %s;
                EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
                END $$""".formatted(name, options);
    }

    /// Schema `auth` in the form that reads the claims of a request from a setting of the transaction.
    static List<String> auth() {
        return List.of(
                "CREATE SCHEMA auth",
                """
                CREATE FUNCTION auth.uid() RETURNS uuid LANGUAGE sql STABLE AS $$
                  SELECT coalesce(
                    nullif(current_setting('request.jwt.claim.sub', true), ''),
                    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub')
                  )::uuid
                $$""",
                """
                CREATE FUNCTION auth.role() RETURNS text LANGUAGE sql STABLE AS $$
                  SELECT coalesce(
                    nullif(current_setting('request.jwt.claim.role', true), ''),
                    (nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role')
                  )::text
                $$""",
                """
                CREATE FUNCTION auth.jwt() RETURNS jsonb LANGUAGE sql STABLE AS $$
                  SELECT coalesce(
                    nullif(current_setting('request.jwt.claim', true), ''),
                    nullif(current_setting('request.jwt.claims', true), '')
                  )::jsonb
                $$""",
                "GRANT USAGE ON SCHEMA auth TO anon, authenticated, service_role",
                "GRANT USAGE ON SCHEMA public TO anon, authenticated, service_role",
                "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO anon, authenticated, service_role",
                "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON SEQUENCES TO anon, authenticated, service_role");
    }
}
