package sluice.core.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NodeTreeTest {
    private static final String OWNER = "{OPEXPR :opno 2972 :opfuncid 2956 :opresulttype 16 :opretset false :opcollid 0"
            + " :inputcollid 0 :args ({VAR :varno 1 :varattno 3 :vartype 2950 :vartypmod -1 :varcollid 0"
            + " :varnullingrels (b) :varlevelsup 0 :varreturningtype 0 :varnosyn 1 :varattnosyn 3 :location -1}"
            + " {CONST :consttype 25 :consttypmod -1 :constcollid 100 :constlen -1 :constbyval false"
            + " :constisnull false :location -1 :constvalue 6 [ 24 0 0 0 -61 -87 ]}) :location -1}";

    @Test
    void fields_are_found_by_name_whatever_else_the_version_prints() {
        Node.Struct node = (Node.Struct) NodeTree.read(OWNER);

        assertThat(node.tag()).isEqualTo("OPEXPR");
        assertThat(node.integer("opno")).isEqualTo(2972);
        assertThat(node.flag("opretset")).isFalse();
        Node.Struct column = (Node.Struct) node.list("args").getFirst();
        assertThat(column.integer("varattno")).isEqualTo(3);
        assertThat(column.list("varnullingrels")).containsExactly(new Node.Token("b"));
        Node.Struct constant = (Node.Struct) node.list("args").getLast();
        assertThat(constant.field("constvalue")).isEqualTo(new Node.Datum(new byte[] {24, 0, 0, 0, -61, -87}));
    }

    @Test
    void an_unknown_node_is_read_like_any_other() {
        Node node = NodeTree.read("{NEWTHING :a <> :b \"x\\ y\" :c \\<> :d (i 1 2) :e {INNER} :f 1 2 3 :g \"\"}");

        Node.Struct struct = (Node.Struct) node;
        assertThat(struct.absent("a")).isTrue();
        assertThat(struct.field("b")).isEqualTo(new Node.Quoted("x y"));
        assertThat(struct.field("c")).isEqualTo(new Node.Token("<>"));
        assertThat(struct.list("d")).hasSize(3);
        assertThat(struct.struct("e").tag()).isEqualTo("INNER");
        assertThat(struct.list("f")).hasSize(3);
        assertThat(struct.token("g")).isEmpty();
        assertThat(struct.absent("never printed")).isTrue();
    }

    @Test
    void bytes_are_read_signed_and_unsigned_alike() {
        assertThat(NodeTree.read("{C :v 2 [ -1 -128 ]}")).isEqualTo(NodeTree.read("{C :v 2 [ 255 128 ]}"));
    }

    @Test
    void every_cut_of_a_tree_is_refused() {
        for (int end = 0; end < OWNER.length(); end++) {
            String cut = OWNER.substring(0, end);
            assertThatThrownBy(() -> NodeTree.read(cut)).isInstanceOf(NodeTreeException.class);
        }
    }

    @Test
    void any_damage_is_refused_or_read_and_never_another_failure() {
        Random random = new Random(4);
        for (int i = 0; i < 100_000; i++) {
            char[] damaged = OWNER.toCharArray();
            for (int j = 0; j <= random.nextInt(3); j++) {
                damaged[random.nextInt(damaged.length)] = "(){}[]:<> \\\"0x-".charAt(random.nextInt(15));
            }
            PolicyTree tree = PolicyTree.read(new String(damaged));
            assertThat(tree.columns()).hasSizeLessThan(3);
        }
    }

    @Test
    void nesting_of_five_hundred_is_refused_and_does_not_overflow() {
        String deep = "{NOT :args (".repeat(500) + "{VAR :varno 1}" + ")}".repeat(500);

        assertThatThrownBy(() -> NodeTree.read(deep))
                .isInstanceOf(NodeTreeException.class)
                .hasMessage("expression nests too deep");
        assertThat(PolicyTree.read(deep).columns()).isEqualTo(List.of(PolicyTree.WHOLE_ROW));
    }

    @Test
    void a_hundred_thousand_open_brackets_are_refused() {
        assertThatThrownBy(() -> NodeTree.read("(".repeat(100_000))).isInstanceOf(NodeTreeException.class);
    }
}
