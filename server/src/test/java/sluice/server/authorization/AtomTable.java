package sluice.server.authorization;

import sluice.testkit.PostgresDatabase;

/// Tables as applications have them, with the helper functions policies call, and rows with values at the edges.
final class AtomTable {
    static final String ALICE = "00000000-0000-0000-0000-00000000000a";
    static final String BOB = "00000000-0000-0000-0000-00000000000b";
    static final String CLAIMS = "{\"sub\":\"" + ALICE + "\",\"role\":\"authenticated\",\"email\":\"AB\","
            + "\"app_metadata\":{\"org_id\":\"" + BOB + "\"},\"roles\":[\"a\",\"red\"]}";

    private AtomTable() {}

    static PolicyTable create(PostgresDatabase database) {
        database.withStandardRoles();
        database.execute(TABLES);
        database.execute(FUNCTIONS);
        database.execute(ROWS);
        database.execute(
                "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
                "CREATE PUBLICATION " + PolicyTable.PUBLICATION + " FOR TABLE t");
        return new PolicyTable(database);
    }

    private static final String[] TABLES = {
        "CREATE TYPE status AS ENUM ('draft', 'published', 'archived')",
        "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%')",
        """
        CREATE TABLE t (
          id bigint PRIMARY KEY, project_id int, owner_id uuid, title text, body varchar(200), st status,
          amount numeric(10,2), created_at timestamptz, expires timestamp, d date, tags text[], meta jsonb, em email,
          vis boolean, code char(4), f8 double precision, i2 smallint, members uuid[], org_id uuid, ip inet,
          title_c text COLLATE "C")\
        """,
        "CREATE TABLE members (project_id int, user_id uuid, role text, PRIMARY KEY (project_id, user_id))",
        "CREATE TABLE projects (id int PRIMARY KEY, org_id uuid, public boolean)",
        "CREATE TABLE org_members (org_id uuid, user_id uuid, role status, PRIMARY KEY (org_id, user_id))",
        "ALTER TABLE members ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY own ON members FOR SELECT USING (user_id = auth.uid())"
    };

    private static final String[] FUNCTIONS = {"""
        CREATE FUNCTION is_member(p int) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
          SELECT EXISTS (SELECT 1 FROM public.members m WHERE m.project_id = p AND m.user_id = auth.uid()) $$\
        """, """
            CREATE FUNCTION is_member_inv(p int) RETURNS boolean LANGUAGE sql STABLE AS $$
              SELECT EXISTS (SELECT 1 FROM members m WHERE m.project_id = p AND m.user_id = auth.uid()) $$\
            """, """
                CREATE FUNCTION is_member_atomic(p int) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER BEGIN ATOMIC
                  SELECT EXISTS (SELECT 1 FROM public.members m WHERE m.project_id = p AND m.user_id = auth.uid()); END\
                """, """
                    CREATE FUNCTION is_member_pl(p int) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = ''
                      AS $$ BEGIN
                        RETURN EXISTS (SELECT 1 FROM public.members m WHERE m.project_id = p AND m.user_id = auth.uid());
                      END $$\
                    """, """
                        CREATE FUNCTION my_projects() RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER SET search_path = '' AS $$
                          SELECT project_id FROM public.members WHERE user_id = auth.uid() $$\
                        """};

    private static final String[] ROWS = {
        "INSERT INTO members VALUES (1, '" + ALICE + "', 'admin'), (3, '" + ALICE + "', NULL), (2, '" + BOB
                + "', 'member')",
        "INSERT INTO projects VALUES (1, '" + BOB + "', true), (2, NULL, false), (3, '" + ALICE + "', NULL)",
        "INSERT INTO org_members VALUES ('" + BOB + "', '" + ALICE + "', 'draft')",
        """
        INSERT INTO t VALUES
        (1, 1, '%1$s', 'x', 'a/x/c', 'draft', 5, now(), '2020-01-01', '2024-06-01', '{x,y,red}',
          '{"public": true, "k": 1, "n": 5, "a": [1, 2], "x": 1}', 'a@b.c', true, 'ab', 1, 1, '{%1$s}', '%2$s', '10.0.0.1', 'x'),
        (2, 2, '%2$s', 'ab', '%1$s/x', 'published', 10.50, now() - interval '8 days', '2999-01-01', '2025-06-02', '{red}',
          '{"public": false, "a": {"b": "c"}, "n": "4"}', 'q@corp.com', false, 'ab ', 1.5, 3, '{%2$s}', '%1$s', '10.0.0.2', 'y'),
        (3, 3, NULL, 'AxC', 'X_', 'archived', 10.51, '2031-01-01', localtimestamp + interval '1 day', current_date, '{}',
          '[1, "k"]', NULL, NULL, 'abc', 'NaN', 2, '{}', NULL, '::1', 'a'),
        (4, NULL, '%1$s', '', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'A@B.C', true, NULL, NULL, NULL, NULL, NULL,
          NULL, NULL),
        (9000000001, 5, '%2$s', NULL, NULL, 'published', -1, 'infinity', '-infinity', '2026-01-01', '{NULL,x}', 'null', NULL,
          false, '', '-0', -3, '{NULL,%1$s}', NULL, '10.1.2.3/8', NULL),
        (6, 2147483647, NULL, 't%%', 'q', 'archived', 99999999.99, '-infinity', 'infinity', 'infinity', '{a,b,y}',
          '{"n": 4.0, "public": "yes", "k": null}', 'x@y', NULL, 'zzzz', 'Infinity', 32767, NULL, '%2$s', NULL, 'é'),
        (7, -1, '%1$s', 'red', 'é', 'draft', 1, '2024-01-01 00:00:00+02', '2024-01-01', '2024-01-01', '{{x,y},{red,b}}',
          '"k"', NULL, true, 'AB', '1e-320', 0, '{%2$s,%1$s}', '%2$s', NULL, 'b'),
        (8, 4, NULL, 'a-', 'b', 'published', 0, now(), now(), current_date - 1, '{x}', '{"k": {"z": []}, "x": "1"}', NULL,
          false, 'ab', '-Infinity', 2, NULL, NULL, NULL, 'X')\
        """.formatted(ALICE, BOB)
    };
}
