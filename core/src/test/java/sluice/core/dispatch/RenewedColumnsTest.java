package sluice.core.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.core.wal.Lsn;

class RenewedColumnsTest {
    @Test
    void every_column_is_known_from_where_the_last_of_them_is() {
        RenewedColumns renewed = new RenewedColumns();
        assertThat(renewed.areKnown(Lsn.ZERO)).isTrue();

        renewed.add(List.of(2), new Lsn(20));
        renewed.add(List.of(3), new Lsn(10));

        assertThat(renewed.areKnown(new Lsn(10))).isFalse();
        assertThat(renewed.areKnown(new Lsn(19))).isFalse();
        assertThat(renewed.areKnown(new Lsn(20))).isTrue();
    }
}
