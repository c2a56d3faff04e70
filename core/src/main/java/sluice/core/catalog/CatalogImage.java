package sluice.core.catalog;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.value.PgType;

/// What the catalog said at one moment. Immutable; safe to hand to any thread.
public final class CatalogImage {
    private final Stamp stamp;
    private final Map<Integer, Relation> relationsByOid;
    private final Map<String, Integer> relationOidsByName = new HashMap<>();
    private final Dictionary dictionary;
    private final @Nullable String rights;
    private final Succession succession;

    /// @param relations every published table, in the order messages should list them
    public CatalogImage(Stamp stamp, Collection<Relation> relations, Dictionary dictionary) {
        this(stamp, relations, dictionary, null);
    }

    /// @param rights what the rights poll says in the same snapshot; null when it was not asked
    public CatalogImage(Stamp stamp, Collection<Relation> relations, Dictionary dictionary, @Nullable String rights) {
        this(stamp, relations, dictionary, rights, Succession.UNKNOWN);
    }

    /// @param succession what is known of the versions before those of `relations`
    public CatalogImage(
            Stamp stamp,
            Collection<Relation> relations,
            Dictionary dictionary,
            @Nullable String rights,
            Succession succession) {
        this.stamp = stamp;
        Map<Integer, Relation> byOid = new LinkedHashMap<>();
        for (Relation relation : relations) {
            byOid.put(relation.oid(), relation);
            relationOidsByName.put(joined(relation.schema(), relation.name()), relation.oid());
        }
        this.relationsByOid = Collections.unmodifiableMap(byOid);
        this.dictionary = dictionary;
        this.rights = rights;
        this.succession = succession;
    }

    /// Everything besides tables.
    ///
    /// @param serverMajor 15 to 18; on another major nothing is decided in process
    /// @param rolesByName the allowed roles
    /// @param functionsByOid every function of `pg_catalog` plus those any policy calls
    /// @param ownCasts the casts the server did not come with
    public record Dictionary(
            int serverMajor,
            Map<Integer, PgType> typesByOid,
            Map<String, Role> rolesByName,
            Map<Integer, Function> functionsByOid,
            Map<Integer, Operator> operatorsByOid,
            Map<Integer, Collation> collationsByOid,
            List<Cast> ownCasts) {
        public Dictionary {
            ownCasts = List.copyOf(ownCasts);
        }

        /// Without casts of users.
        public Dictionary(
                int serverMajor,
                Map<Integer, PgType> typesByOid,
                Map<String, Role> rolesByName,
                Map<Integer, Function> functionsByOid,
                Map<Integer, Operator> operatorsByOid,
                Map<Integer, Collation> collationsByOid) {
            this(serverMajor, typesByOid, rolesByName, functionsByOid, operatorsByOid, collationsByOid, List.of());
        }
    }

    /// A row of `pg_cast`: how a value of the one type becomes one of the other.
    public record Cast(int sourceType, int targetType) {}

    public Stamp stamp() {
        return stamp;
    }

    /// What the rights poll says of exactly this state of the catalog, null when it was not asked.
    public @Nullable String rights() {
        return rights;
    }

    /// How the rights came to be what this reading says, as far as is known.
    public Succession succession() {
        return succession;
    }

    public Collection<Relation> relations() {
        return relationsByOid.values();
    }

    public @Nullable Relation relation(int oid) {
        return relationsByOid.get(oid);
    }

    public @Nullable Relation relation(String schema, String name) {
        Integer oid = relationOidsByName.get(joined(schema, name));
        return oid == null ? null : relationsByOid.get(oid);
    }

    /// No name holds the sign between, while a dot may be part of either.
    private static String joined(String schema, String name) {
        return schema + '\0' + name;
    }

    /// The type, or a plain text base type for an oid the catalog did not name.
    public PgType type(int oid) {
        PgType type = dictionary.typesByOid().get(oid);
        return type != null ? type : new PgType.Base(oid, "unknown");
    }

    public @Nullable Role role(String name) {
        return dictionary.rolesByName().get(name);
    }

    public @Nullable Function function(int oid) {
        return dictionary.functionsByOid().get(oid);
    }

    public @Nullable Operator operator(int oid) {
        return dictionary.operatorsByOid().get(oid);
    }

    public @Nullable Collation collation(int oid) {
        return dictionary.collationsByOid().get(oid);
    }

    public Dictionary dictionary() {
        return dictionary;
    }

    /// This image with some tables read again: those of `asked` replaced by what `reloaded` says, or gone.
    ///
    /// Tables this image does not know are added. An answer older than this image leaves the dictionary alone.
    public CatalogImage with(CatalogImage reloaded, List<Integer> asked) {
        Map<Integer, Relation> merged = new LinkedHashMap<>(relationsByOid);
        for (Integer oid : asked) {
            merged.remove(oid);
        }
        for (Relation relation : reloaded.relations()) {
            if (asked.contains(relation.oid()) || !relationsByOid.containsKey(relation.oid())) {
                merged.put(relation.oid(), relation);
            }
        }
        return reloaded.stamp().isOlderThan(stamp)
                ? new CatalogImage(stamp, merged.values(), dictionary)
                : new CatalogImage(reloaded.stamp(), merged.values(), reloaded.dictionary());
    }
}
