package sluice.server.postgres.query;

/// Which tables a publication holds, from the catalogs alone.
///
/// `pg_get_publication_tables` says the same but opens each table, so it would wait behind every ALTER TABLE; a test
/// compares the two.
final class PublicationQuery {
    private PublicationQuery() {}

    /// A `WITH RECURSIVE` prefix that defines `pub` (the publication), `ancestors (relid,
    /// ancestor)` of partitions and
    /// `member (relid)`.
    static String members(String publication) {
        return MEMBERS.replace("$PUBLICATION$", SqlText.literal(publication));
    }

    private static final String MEMBERS = """
            WITH RECURSIVE pub AS MATERIALIZED (
              SELECT p.*, p.xmin AS version FROM pg_catalog.pg_publication p WHERE p.pubname = $PUBLICATION$
            ), ancestors (relid, ancestor) AS (
              SELECT i.inhrelid, i.inhparent
                FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
               WHERE c.relispartition
              UNION
              SELECT a.relid, i.inhparent
                FROM ancestors a
                JOIN pg_catalog.pg_inherits i ON i.inhrelid = a.ancestor
                JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
               WHERE c.relispartition
            ), named (relid) AS MATERIALIZED (
              SELECT r.prrelid FROM pg_catalog.pg_publication_rel r JOIN pub ON pub.oid = r.prpubid
              UNION
              SELECT c.oid FROM pub, pg_catalog.pg_class c
               WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND c.oid >= 16384
                 AND (pub.puballtables OR c.relnamespace IN (
                   SELECT n.pnnspid FROM pg_catalog.pg_publication_namespace n WHERE n.pnpubid = pub.oid))
            ), member (relid) AS MATERIALIZED (
              SELECT n.relid FROM named n, pub
               WHERE pub.pubviaroot
                 AND NOT EXISTS (SELECT FROM ancestors a JOIN named m ON m.relid = a.ancestor WHERE a.relid = n.relid)
              UNION
              SELECT c.oid FROM pub, pg_catalog.pg_class c
               WHERE NOT pub.pubviaroot AND c.relkind <> 'p'
                 AND (c.oid IN (SELECT n.relid FROM named n)
                   OR c.oid IN (SELECT a.relid FROM ancestors a JOIN named m ON m.relid = a.ancestor))
            )
            """;
}
