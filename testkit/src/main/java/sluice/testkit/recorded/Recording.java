package sluice.testkit.recorded;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.jsontype.BasicPolymorphicTypeValidator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/// What a real database did once: the bytes of its log, and after every commit its catalog and what each caller could
/// select. One line of JSON, compressed.
///
/// @param about how it was made
/// @param dictionary types, roles, functions and operators, the same throughout
/// @param catalogs tables and their rights, as they were one after the other
/// @param rows every version of every row; others name them by their place
/// @param folds parts of rules that read no row, as PostgreSQL evaluated them for a caller
/// @param states the first before any commit, then one after each
/// @param fork another way it went on, or null
public record Recording(
        String about,
        List<Caller> callers,
        List<Table> tables,
        JsonNode dictionary,
        List<JsonNode> catalogs,
        List<Row> rows,
        List<Fold> folds,
        List<State> states,
        @Nullable Fork fork) {
    /// Somebody who asks.
    ///
    /// @param org of the token, which the subject may have others of
    public record Caller(String subject, String org, String role) {}

    /// @param filters in the form of a subscription's filter
    public record Table(int oid, String name, List<String> filters) {}

    /// What a standby did that had not all commits when it was promoted.
    ///
    /// @param after the place of the last state that it had
    /// @param leftAt where its history leaves the other
    /// @param states the first when it was promoted, then one after each commit
    public record Fork(int after, String leftAt, List<State> states) {}

    /// One version of a row.
    ///
    /// @param texts in PostgreSQL's output format, in the order of the columns
    /// @param json as `to_jsonb` writes it
    /// @param admittedBy places of the filters that admit it
    public record Row(int id, List<@Nullable String> texts, String json, List<Integer> admittedBy) {}

    /// @param caller the place of whom it was evaluated for
    /// @param raised the SQLSTATE, when there is no value
    public record Fold(
            int caller,
            String sql,
            @Nullable String text,
            @Nullable String raised) {}

    /// After a commit.
    ///
    /// @param xid the lower 32 bits of the commit's
    /// @param snapshot as `pg_current_snapshot()` prints it
    /// @param rights the answer of the rights poll
    /// @param catalog the place of the catalog
    /// @param tables by name
    /// @param messages of the commit, in hexadecimal; none when it changed no published table and said nothing
    public record State(
            int xid,
            String snapshot,
            String insertLsn,
            String rights,
            int catalog,
            Map<String, TableState> tables,
            List<String> messages) {}

    /// @param rows places of the versions there are, by id
    /// @param rightsSerial counts the moves of the table's rights
    /// @param views by caller
    public record TableState(List<Integer> rows, int rightsSerial, List<View> views) {}

    /// What a caller could select.
    ///
    /// @param columns those it may read; with none it may read nothing
    /// @param ids of the rows it sees
    public record View(List<String> columns, List<Integer> ids) {}

    /// For recordings and all that is in them: records by their components, sealed types with the name of their
    /// class.
    public static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.setVisibility(PropertyAccessor.ALL, Visibility.NONE);
        mapper.setVisibility(PropertyAccessor.FIELD, Visibility.ANY);
        mapper.setVisibility(PropertyAccessor.CREATOR, Visibility.ANY);
        mapper.disable(SerializationFeature.FAIL_ON_EMPTY_BEANS);
        mapper.setDefaultTyping(new SealedTypes()
                .init(JsonTypeInfo.Id.CLASS, null)
                .inclusion(JsonTypeInfo.As.PROPERTY)
                .typeProperty("is"));
        return mapper;
    }

    private static final class SealedTypes extends ObjectMapper.DefaultTypeResolverBuilder {
        private static final long serialVersionUID = 1;

        SealedTypes() {
            super(
                    ObjectMapper.DefaultTyping.NON_FINAL,
                    BasicPolymorphicTypeValidator.builder()
                            .allowIfBaseType("sluice.")
                            .build());
        }

        @Override
        public boolean useForType(JavaType type) {
            return type.getRawClass().isSealed();
        }
    }

    public static Recording read(InputStream compressed) throws IOException {
        try (InputStream in = new GZIPInputStream(compressed)) {
            return mapper().readValue(in, Recording.class);
        }
    }

    public void write(Path file) throws IOException {
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            mapper().writeValue(out, this);
        }
    }
}
