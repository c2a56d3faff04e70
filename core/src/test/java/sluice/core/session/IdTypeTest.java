package sluice.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import sluice.core.value.Oid;
import sluice.core.value.PgType;

class IdTypeTest {
    private static IdType.Reading read(int oid, String text) {
        return RevocationListTest.type(oid).read(text);
    }

    private static IdType.Reading known(String key) {
        return new IdType.Reading.Known(key);
    }

    @Test
    void a_uuid_is_any_spelling_of_it() {
        String key = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        assertThat(read(Oid.UUID, key)).isEqualTo(known(key));
        assertThat(read(Oid.UUID, "{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}")).isEqualTo(known(key));
        assertThat(read(Oid.UUID, "a0eebc999c0b4ef8bb6d6bb9bd380a11")).isEqualTo(known(key));
        assertThat(read(Oid.UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1")).isEqualTo(new IdType.Reading.Impossible());
        assertThat(read(Oid.UUID, "")).isEqualTo(new IdType.Reading.Impossible());
    }

    @Test
    void a_number_is_its_value() {
        assertThat(read(Oid.INT8, " +0042 ")).isEqualTo(known("42"));
        assertThat(read(Oid.INT4, "-7")).isEqualTo(known("-7"));
        assertThat(read(Oid.INT4, "4294967297")).isEqualTo(new IdType.Reading.Impossible());
        assertThat(read(Oid.INT8, "forty")).isEqualTo(new IdType.Reading.Impossible());
        // PostgreSQL reads it from version 16 on
        assertThat(read(Oid.INT8, "0x2A")).isEqualTo(new IdType.Reading.Undecided());
    }

    @Test
    void a_text_is_its_characters_and_blank_padding_is_none_of_them() {
        assertThat(read(Oid.TEXT, "Ab ")).isEqualTo(known("Ab "));
        assertThat(read(Oid.VARCHAR, "ab")).isEqualTo(known("ab"));
        assertThat(read(Oid.BPCHAR, "ab  ")).isEqualTo(known("ab"));
        assertThat(RevocationListTest.type(Oid.BPCHAR).printed("ab      ")).isEqualTo("ab");
        assertThat(read(Oid.TEXT, "a\0b")).isEqualTo(new IdType.Reading.Impossible());
    }

    @Test
    void a_domain_is_compared_as_what_it_is_made_of_and_other_types_are_none_for_ids() {
        PgType domain = new PgType.Domain(99_999, "app.session", new PgType.Base(Oid.UUID, "uuid"));
        assertThat(IdType.of(domain)).isEqualTo(RevocationListTest.type(Oid.UUID));
        assertThat(IdType.of(new PgType.Base(Oid.JSONB, "jsonb"))).isNull();
        assertThat(IdType.of(new PgType.Base(Oid.NUMERIC, "numeric"))).isNull();
        assertThat(IdType.of(new PgType.Base(99_998, "citext"))).isNull();
    }
}
