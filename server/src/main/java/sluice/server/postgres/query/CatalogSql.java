package sluice.server.postgres.query;

import java.util.List;

/// The text of the catalog queries. Ids are written into the text as numbers, names as literals.
///
/// Nothing here opens a table, so no query waits behind an ALTER TABLE; only {@link #policyTexts} does, and its
/// caller expects that.
final class CatalogSql {
    private CatalogSql() {}

    /// What is read once and what is read each time: the border is the first id of objects users make.
    enum Part {
        BUILT_IN,
        OWN
    }

    private static String border(Part part) {
        return switch (part) {
            case BUILT_IN -> "< 16384";
            case OWN -> ">= 16384";
        };
    }

    /// A list of ids for `ANY`.
    private static String ids(List<Integer> oids) {
        StringBuilder text = new StringBuilder("'{");
        for (Integer oid : oids) {
            text.append(text.length() == 2 ? "" : ",").append(Integer.toUnsignedString(oid));
        }
        return text.append("}'::oid[]").toString();
    }

    private static String names(List<String> names) {
        StringBuilder text = new StringBuilder("ARRAY[");
        for (String name : names) {
            text.append(text.length() == 6 ? "" : ", ").append(SqlText.literal(name));
        }
        return text.append("]::name[]").toString();
    }

    /// The stamp, the server's version and run, and one row with the ids of all published tables; null when the
    /// publication does not exist.
    static String start(String publication) {
        return "SELECT " + ReadTransaction.STAMP + ", pg_catalog.current_setting('server_version_num'), "
                + EarlierVersions.Server.COLUMNS + ";\n"
                + PublicationQuery.members(publication)
                + "SELECT (SELECT true FROM pub), coalesce((SELECT pg_catalog.string_agg(m.relid::text, ' ') FROM"
                + " member m), '')";
    }

    /// One row per table of the list.
    static String relations(String publication, int major, List<Integer> oids) {
        // before 18 generated columns are never sent; from 18 on as the publication says, virtual ones never
        String generated = major >= 18 ? "(pub.pubgencols = 's' AND a.attgenerated = 's')" : "false";
        return PublicationQuery.members(publication)
                + """
                , tree (relid, leaf) AS (
                  SELECT c.oid, c.oid FROM pg_catalog.pg_class c WHERE c.oid = ANY ($IDS$)
                  UNION
                  SELECT t.relid, i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.leaf
                )
                SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition, c.relowner,
                       c.relrowsecurity, c.relforcerowsecurity, c.relreplident,
                       pub.pubinsert, pub.pubupdate, pub.pubdelete, pub.pubtruncate,
                       pr.prqual IS NOT NULL,
                       coalesce((SELECT pg_catalog.string_agg(a.attnum::text, ' ' ORDER BY a.attnum)
                          FROM pg_catalog.pg_attribute a
                         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                           AND CASE WHEN pr.prattrs IS NOT NULL THEN a.attnum = ANY (pr.prattrs::int2[])
                                    ELSE a.attgenerated = '' OR $GENERATED$ END), ''),
                       pg_catalog.concat_ws(' ', c.oid, c.relkind, c.relreplident,
                         pub.pubinsert, pub.pubupdate, pub.pubdelete, pub.pubtruncate),
                       pg_catalog.concat_ws(' ', c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.relacl,
                         n.xmin, n.nspacl,
                         (SELECT pg_catalog.string_agg(a.attnum || ':' || a.attacl::text, ',' ORDER BY a.attnum)
                            FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL),
                         (SELECT pg_catalog.string_agg(p.oid || ':' || p.xmin, ',' ORDER BY p.oid)
                            FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid),
                         (SELECT pg_catalog.string_agg(d.oid || ':' || d.xmin, ',' ORDER BY d.oid)
                            FROM pg_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a
                              ON a.attrelid = d.adrelid AND a.attnum = d.adnum
                           WHERE d.adrelid = c.oid AND a.attgenerated <> '')),
                       $FEED$,
                       $UNEVEN$,
                       $VERSIONS$
                  FROM pub CROSS JOIN pg_catalog.pg_class c
                  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                  LEFT JOIN pg_catalog.pg_publication_rel pr ON pr.prpubid = pub.oid AND pr.prrelid = c.oid
                 WHERE c.oid = ANY ($IDS$)
                 ORDER BY n.nspname, c.relname;
                """.replace("$FEED$", FEED)
                        .replace("$UNEVEN$", UNEVEN)
                        .replace("$VERSIONS$", RIGHT_VERSIONS)
                        .replace("$IDS$", ids(oids))
                        .replace("$GENERATED$", generated);
    }

    /// Three columns: the source, the storage and the versions of the columns of a {@link
    /// sluice.core.catalog.Relation.Feed}.
    ///
    /// TRUNCATE of a leaf is not sent when the publication publishes by the root, so each leaf's storage counts.
    private static final String FEED = """
        pg_catalog.concat_ws(' ', pub.oid, pub.version, c.relpersistence,
          (SELECT pg_catalog.string_agg(r.oid || ':' || r.xmin, ',' ORDER BY r.oid)
             FROM pg_catalog.pg_publication_rel r
            WHERE r.prpubid = pub.oid AND (r.prrelid = c.oid
               OR r.prrelid IN (SELECT a.ancestor FROM ancestors a WHERE a.relid = c.oid))),
          '/',
          (SELECT pg_catalog.string_agg(s.oid || ':' || s.xmin, ',' ORDER BY s.oid)
             FROM pg_catalog.pg_publication_namespace s
            WHERE s.pnpubid = pub.oid AND s.pnnspid = c.relnamespace),
          '/',
          (SELECT pg_catalog.string_agg(i.inhrelid || ':' || i.inhparent || ':' || i.xmin, ','
                                        ORDER BY i.inhrelid)
             FROM pg_catalog.pg_inherits i
            WHERE c.relispartition AND (i.inhrelid = c.oid
               OR i.inhrelid IN (SELECT a.ancestor FROM ancestors a WHERE a.relid = c.oid))),
          '/',
          (SELECT pg_catalog.string_agg(t.leaf || ':' || i.xmin || ':' || l.relfilenode || ':' || l.relkind::text
                                        || l.relpersistence::text, ',' ORDER BY t.leaf)
             FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.leaf
             JOIN pg_catalog.pg_inherits i ON i.inhrelid = t.leaf
            WHERE c.relkind = 'p' AND t.relid = c.oid AND t.leaf <> c.oid)),
        c.relfilenode,
        coalesce((SELECT pg_catalog.string_agg(a.attnum || ':' || a.xmin, ' ' ORDER BY a.attnum)
           FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '')
        """.stripTrailing();

    /// The transaction that wrote each right last: of the table (owner, flags, privileges), its schema, its
    /// columns' privileges, its policies, and the expressions of generated columns.
    ///
    /// Values alone would not tell that a right went and came back. Statistics are written without a new version;
    /// TRUNCATE and ALTER TABLE make one without moving a right.
    private static final String RIGHT_VERSIONS = """
        pg_catalog.concat_ws(' ', 'table:' || c.xmin, 'schema:' || n.xmin,
          (SELECT pg_catalog.string_agg('column' || a.attnum || ':' || a.xmin, ' ' ORDER BY a.attnum)
             FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL),
          (SELECT pg_catalog.string_agg('policy' || p.oid || ':' || p.xmin, ' ' ORDER BY p.oid)
             FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid),
          (SELECT pg_catalog.string_agg('expression' || d.oid || ':' || d.xmin, ' ' ORDER BY d.oid)
             FROM pg_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a
               ON a.attrelid = d.adrelid AND a.attnum = d.adnum
            WHERE d.adrelid = c.oid AND a.attgenerated <> ''))
        """.stripTrailing();

    /// What the functions that know no snapshot answer from, as the snapshot has it: one text.
    ///
    /// What a role may do ({@link #grants}, {@link #allowedRoles}, {@link #functions}) and how a
    /// policy reads ({@link
    /// #policyTexts}) is told as of what is committed when it is asked, so a reading counts only
    /// if a later snapshot says the same here.
    static String standing(List<Integer> oids) {
        return """
            SELECT pg_catalog.concat_ws(' ',
              (SELECT pg_catalog.string_agg(c.oid || ' ' || $VERSIONS$, ',' ORDER BY c.oid)
                 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE c.oid = ANY ($IDS$)),
              (SELECT pg_catalog.string_agg(a.attrelid || ':' || a.attnum || ':' || a.xmin, ','
                                            ORDER BY a.attrelid, a.attnum)
                 FROM pg_catalog.pg_attribute a WHERE a.attrelid = ANY ($IDS$) AND a.attnum > 0),
              $NAMED$,
              (SELECT pg_catalog.string_agg(f.oid || ':' || f.xmin, ',' ORDER BY f.oid)
                 FROM pg_catalog.pg_proc f WHERE f.proacl IS NOT NULL),
              (SELECT pg_catalog.string_agg(m.roleid || ':' || m.member || ':' || m.xmin, ','
                                            ORDER BY m.roleid, m.member, m.xmin::text)
                 FROM pg_catalog.pg_auth_members m),
              (SELECT pg_catalog.string_agg(pg_catalog.concat_ws(':', r.oid, r.rolname, r.rolsuper, r.rolbypassrls,
                                                                 r.rolinherit), ',' ORDER BY r.oid)
                 FROM pg_catalog.pg_roles r));
            """.replace("$NAMED$", NAMED)
                .replace("$VERSIONS$", RIGHT_VERSIONS)
                .replace("$IDS$", ids(oids));
    }

    /// What policies are printed with: the tables and columns they read, the functions they call, the types they
    /// name, and where these are.
    private static final String NAMED = """
        (SELECT pg_catalog.string_agg(
                  pg_catalog.concat_ws(':', d.refobjid, d.refobjsubid, nc.xmin, na.xmin, nf.xmin, nt.xmin), ','
                  ORDER BY d.objid, d.refclassid, d.refobjid, d.refobjsubid)
           FROM pg_catalog.pg_policy p
           JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_policy'::regclass AND d.objid = p.oid
           LEFT JOIN pg_catalog.pg_class nc
             ON d.refclassid = 'pg_catalog.pg_class'::regclass AND nc.oid = d.refobjid
           LEFT JOIN pg_catalog.pg_attribute na ON na.attrelid = nc.oid AND na.attnum = d.refobjsubid
           LEFT JOIN pg_catalog.pg_proc nf
             ON d.refclassid = 'pg_catalog.pg_proc'::regclass AND nf.oid = d.refobjid
           LEFT JOIN pg_catalog.pg_type nt
             ON d.refclassid = 'pg_catalog.pg_type'::regclass AND nt.oid = d.refobjid
          WHERE p.polrelid = ANY ($IDS$)),
        (SELECT pg_catalog.string_agg(n.oid || ':' || n.xmin, ',' ORDER BY n.oid) FROM pg_catalog.pg_namespace n
          WHERE n.nspname !~ '^pg_(temp|toast)')
        """.stripTrailing();

    /// The first leaf of a partition root whose old rows lack a column of the root's identity.
    private static final String UNEVEN = """
        CASE WHEN c.relkind = 'p' THEN (
          SELECT pg_catalog.format('%I.%I', ln.nspname, l.relname)
            FROM tree t JOIN pg_catalog.pg_class l ON l.oid = t.leaf
            JOIN pg_catalog.pg_namespace ln ON ln.oid = l.relnamespace
           WHERE t.relid = c.oid AND l.relkind = 'r' AND l.relreplident <> 'f'
             AND (c.relreplident = 'f' OR EXISTS (
               SELECT FROM pg_catalog.pg_index ri
                 JOIN pg_catalog.pg_attribute ra ON ra.attrelid = c.oid
                  AND ra.attnum = ANY ((ri.indkey::int2[])[0:ri.indnkeyatts - 1])
                WHERE ri.indrelid = c.oid AND ri.indimmediate
                  AND CASE c.relreplident WHEN 'd' THEN ri.indisprimary WHEN 'i' THEN ri.indisreplident END
                  AND NOT EXISTS (
                    SELECT FROM pg_catalog.pg_index li
                      JOIN pg_catalog.pg_attribute la ON la.attrelid = l.oid
                       AND la.attnum = ANY ((li.indkey::int2[])[0:li.indnkeyatts - 1])
                     WHERE li.indrelid = l.oid AND li.indisvalid AND li.indimmediate
                       AND CASE l.relreplident WHEN 'd' THEN li.indisprimary WHEN 'i' THEN li.indisreplident END
                       AND la.attname = ra.attname)))
           ORDER BY 1 LIMIT 1) END
        """.stripTrailing();

    /// Whether a partition stores another value than the root's expression would make, as far as can be
    /// seen without opening it: another text, or columns at other places. A virtual column is made as the
    /// root says in every one.
    private static final String MADE_OTHERWISE_BELOW = """
        a.attgenerated = 's' AND EXISTS (
          WITH RECURSIVE below (oid) AS (
            SELECT i.inhrelid FROM pg_catalog.pg_inherits i
              JOIN pg_catalog.pg_class c ON c.oid = i.inhparent AND c.relkind = 'p'
             WHERE i.inhparent = a.attrelid
            UNION
            SELECT i.inhrelid FROM below b JOIN pg_catalog.pg_inherits i ON i.inhparent = b.oid)
          SELECT FROM below b
            LEFT JOIN pg_catalog.pg_attrdef bd ON bd.adrelid = b.oid AND bd.adnum = a.attnum
           WHERE pg_catalog.regexp_replace(bd.adbin::text, ':location -?[0-9]+', '', 'g')
                   IS DISTINCT FROM pg_catalog.regexp_replace(d.adbin::text, ':location -?[0-9]+', '', 'g')
              OR EXISTS (
                SELECT FROM pg_catalog.pg_attribute ra
                 WHERE ra.attrelid = a.attrelid AND ra.attnum > 0 AND NOT ra.attisdropped
                   AND NOT EXISTS (
                     SELECT FROM pg_catalog.pg_attribute ba
                      WHERE ba.attrelid = b.oid AND ba.attnum = ra.attnum AND ba.attname = ra.attname)))
        """.stripTrailing();

    /// Live columns.
    static String columns(List<Integer> oids) {
        return """
            SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated,
                   a.attcollation, CASE WHEN $OTHERWISE$ THEN NULL ELSE d.adbin::text END
              FROM pg_catalog.pg_attribute a
              LEFT JOIN pg_catalog.pg_attrdef d
                ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated <> ''
             WHERE a.attrelid = ANY ($IDS$) AND a.attnum > 0 AND NOT a.attisdropped
             ORDER BY a.attrelid, a.attnum;
            """.replace("$OTHERWISE$", MADE_OTHERWISE_BELOW).replace("$IDS$", ids(oids));
    }

    /// Valid indexes, the primary key first.
    static String indexes(List<Integer> oids) {
        return """
            SELECT i.indrelid, c.relname,
                   (SELECT pg_catalog.string_agg(k.attnum::text, ' ' ORDER BY k.position)
                      FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY k (attnum, position)
                     WHERE k.position <= i.indnkeyatts),
                   i.indisunique, i.indimmediate, i.indisprimary, i.indisreplident, i.indpred IS NOT NULL
              FROM pg_catalog.pg_index i
              JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
             WHERE i.indrelid = ANY ($IDS$) AND i.indisvalid AND i.indislive
             ORDER BY i.indrelid, NOT i.indisprimary, c.relname;
            """.replace("$IDS$", ids(oids));
    }

    static String policies(List<Integer> oids) {
        return """
            SELECT p.polrelid, p.oid, p.polname, p.polpermissive, p.polcmd,
                   pg_catalog.array_to_string(p.polroles, ' '), p.polqual::text
              FROM pg_catalog.pg_policy p
             WHERE p.polrelid = ANY ($IDS$)
             ORDER BY p.polrelid, p.polname;
            """.replace("$IDS$", ids(oids));
    }

    /// Policies as SQL. Opens each table, so it waits while somebody alters one.
    static String policyTexts(List<Integer> oids) {
        return "SELECT p.oid, pg_catalog.pg_get_expr(p.polqual, p.polrelid) FROM pg_catalog.pg_policy p"
                + " WHERE p.polqual IS NOT NULL AND p.polrelid = ANY (" + ids(oids) + ")";
    }

    /// Whether users have a function or an operator of a name the server has one of.
    static final String SHADOWS = """
        SELECT EXISTS (SELECT FROM pg_catalog.pg_proc u WHERE u.oid >= 16384 AND EXISTS (
                 SELECT FROM pg_catalog.pg_proc b WHERE b.proname = u.proname AND b.oid < 16384))
            OR EXISTS (SELECT FROM pg_catalog.pg_operator u WHERE u.oid >= 16384 AND EXISTS (
                 SELECT FROM pg_catalog.pg_operator b WHERE b.oprname = u.oprname AND b.oid < 16384))
        """.stripTrailing();

    /// Tables that somebody alters, or waits to alter, right now.
    static final String LOCKED =
            "SELECT DISTINCT l.relation FROM pg_catalog.pg_locks l WHERE l.mode = 'AccessExclusiveLock'"
                    + " AND l.locktype = 'relation' AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d"
                    + " WHERE d.datname = pg_catalog.current_database())";

    /// One row per table and allowed role.
    static String grants(List<Integer> oids, List<String> roles) {
        return """
            SELECT c.oid, r.rolname, pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE'),
                   coalesce((SELECT pg_catalog.string_agg(a.attnum::text, ' ' ORDER BY a.attnum)
                      FROM pg_catalog.pg_attribute a
                     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                       AND CASE WHEN whole.granted THEN true
                                ELSE pg_catalog.has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT') END), '')
              FROM pg_catalog.pg_class c
              CROSS JOIN pg_catalog.pg_roles r
              CROSS JOIN LATERAL (
                SELECT pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT') OFFSET 0) whole (granted)
             WHERE c.oid = ANY ($IDS$) AND r.rolname = ANY ($ROLES$);
            """.replace("$IDS$", ids(oids)).replace("$ROLES$", names(roles));
    }

    /// The allowed roles that exist, with every role whose privileges each has.
    static String allowedRoles(List<String> roles) {
        return """
            SELECT r.oid, r.rolname, r.rolsuper, r.rolbypassrls,
                   (SELECT pg_catalog.string_agg(o.oid::text, ' ' ORDER BY o.oid) FROM pg_catalog.pg_roles o
                     WHERE pg_catalog.pg_has_role(r.oid, o.oid, 'USAGE'))
              FROM pg_catalog.pg_roles r WHERE r.rolname = ANY ($ROLES$);
            """.replace("$ROLES$", names(roles));
    }

    /// Functions: all of `pg_catalog` for the part that never changes; each time the others, and the built-in ones
    /// somebody granted, revoked or replaced. The last column is null when everybody may call the function.
    static String functions(Part part, List<String> roles) {
        String which = switch (part) {
            case BUILT_IN -> "p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < 16384";
            case OWN ->
                "p.pronamespace <> 'pg_catalog'::regnamespace OR p.oid >= 16384 OR p.proacl IS NOT NULL OR "
                        + RightsPoll.replacedBuiltIns("p");
        };
        return """
            SELECT p.oid, n.nspname, p.proname, l.lanname, p.provolatile, p.proisstrict, p.prosecdef, p.prorettype,
                   p.proargtypes::text, CASE WHEN l.lanname = 'c' THEN p.probin || ':' || p.prosrc ELSE p.prosrc END,
                      p.prosqlbody::text,
                   (SELECT pg_catalog.substr(s.setting, 13) FROM pg_catalog.unnest(p.proconfig) s (setting)
                     WHERE pg_catalog.starts_with(s.setting, 'search_path=') LIMIT 1),
                   p.xmin,
                   CASE WHEN p.proacl IS NOT NULL THEN coalesce((
                     SELECT pg_catalog.string_agg(r.oid::text, ' ') FROM pg_catalog.pg_roles r
                      WHERE r.rolname = ANY ($ROLES$)
                        AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')), '') END
              FROM pg_catalog.pg_proc p
              JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
              JOIN pg_catalog.pg_language l ON l.oid = p.prolang
             WHERE p.prokind = 'f' AND ($WHICH$);
            """.replace("$ROLES$", names(roles)).replace("$WHICH$", which);
    }

    static String operators(Part part) {
        return """
            SELECT o.oid, n.nspname, o.oprname, o.oprleft, o.oprright, o.oprresult, o.oprcode::oid
              FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
             WHERE o.oid $BORDER$;
            """.replace("$BORDER$", border(part));
    }

    /// Casts that users made, without those that say no more than that the text is taken.
    static final String OWN_CASTS = "SELECT k.castsource, k.casttarget FROM pg_catalog.pg_cast k WHERE k.oid >= 16384"
            + " AND k.castmethod <> 'i';\n";

    /// Collations, the database's own in the place of the default.
    static String collations(Part part, int major) {
        return """
            SELECT c.oid, c.collname, s.provider, c.collisdeterministic,
                   coalesce(s.sorting, ''), coalesce(s.ctype, ''), coalesce(s.locale, ''), n.nspname
              FROM pg_catalog.pg_collation c JOIN pg_catalog.pg_namespace n ON n.oid = c.collnamespace
              JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database()
              CROSS JOIN LATERAL (
                SELECT CASE WHEN c.collprovider = 'd' THEN d.datlocprovider ELSE c.collprovider END,
                       CASE WHEN c.collprovider = 'd' THEN d.datcollate ELSE c.collcollate END,
                       CASE WHEN c.collprovider = 'd' THEN d.datctype ELSE c.collctype END,
                       CASE WHEN c.collprovider = 'd' THEN d.$DATABASE$ ELSE c.$LOCALE$ END
                ) s (provider, sorting, ctype, locale)
             WHERE c.oid $BORDER$;
            """.replace("$DATABASE$", major >= 17 ? "datlocale" : "daticulocale")
                .replace("$LOCALE$", major >= 17 ? "colllocale" : "colliculocale")
                .replace("$BORDER$", border(part));
    }

    private static final String TYPE_COLUMNS = """
        SELECT t.oid, pg_catalog.format_type(t.oid, -1), t.typtype, t.typelem, t.typbasetype, t.typdelim,
               t.typsubscript = 'pg_catalog.array_subscript_handler'::regproc,
                   t.oid >= 16384 AND t.typtype = 'b' AND t.typlen = -1 AND t.typmodin::oid = 0
                     AND t.typcollation <> 0 AND 2 = (
                       SELECT pg_catalog.count(*) FROM pg_catalog.pg_proc f
                         JOIN pg_catalog.pg_language l ON l.oid = f.prolang AND l.lanname = 'internal'
                        WHERE f.oid = t.typinput::oid AND f.prosrc = 'textin'
                           OR f.oid = t.typoutput::oid AND f.prosrc = 'textout')
          FROM pg_catalog.pg_type t
        """;

    /// Types every database has, the row types of the catalogs left out.
    static final String BUILT_IN_TYPES = TYPE_COLUMNS + " WHERE t.oid < 16384 AND t.typtype <> 'c';\n";

    /// Types of the user with what they are made of: types, attributes of composites, labels of enumerations.
    /// Row types of tables only where a column of the list reaches them.
    static String ownTypes(List<Integer> published) {
        String reached = """
            WITH RECURSIVE reached (oid) AS (
              SELECT DISTINCT a.atttypid FROM pg_catalog.pg_attribute a
               WHERE a.attrelid = ANY ($IDS$) AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid >= 16384
              UNION
              SELECT part.oid FROM reached r JOIN pg_catalog.pg_type t ON t.oid = r.oid
               CROSS JOIN LATERAL (
                 SELECT t.typelem WHERE t.typelem <> 0
                 UNION ALL SELECT t.typbasetype WHERE t.typbasetype <> 0
                 UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a
                   WHERE a.attrelid = t.typrelid AND t.typrelid <> 0 AND a.attnum > 0 AND NOT a.attisdropped
               ) part (oid)
            )
            """.replace("$IDS$", ids(published));
        return reached + TYPE_COLUMNS + """
              LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid AND t.typrelid <> 0
              LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typelem <> 0
              LEFT JOIN pg_catalog.pg_class ec ON ec.oid = e.typrelid AND e.typrelid <> 0
             WHERE t.oid >= 16384
               AND (t.oid IN (SELECT r.oid FROM reached r)
                 OR coalesce(c.relkind, 'c') = 'c' AND coalesce(ec.relkind, 'c') = 'c');
            """ + reached + """
            SELECT t.oid, a.attname, a.atttypid
              FROM pg_catalog.pg_type t JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
              JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
             WHERE t.oid >= 16384 AND t.typtype = 'c'
               AND (c.relkind = 'c' OR t.oid IN (SELECT r.oid FROM reached r))
               AND a.attnum > 0 AND NOT a.attisdropped
             ORDER BY t.oid, a.attnum;
            SELECT e.enumtypid, e.oid, e.enumlabel FROM pg_catalog.pg_enum e ORDER BY e.enumtypid, e.enumsortorder;
            """;
    }
}
