package sluice.testkit.rules;

import com.sun.source.tree.CaseTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ConstantCaseLabelTree;
import com.sun.source.tree.DefaultCaseLabelTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.PatternCaseLabelTree;
import com.sun.source.tree.SwitchExpressionTree;
import com.sun.source.tree.SwitchTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/// Rules that need the syntax tree. Only parsed, not attributed: what a name refers to is judged from its own file.
final class SyntaxRules {
    static final int METHOD_LINES_MAX = 60;

    private SyntaxRules() {}

    static List<Violation> check(SourceFile file) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavacTask task = (JavacTask)
                compiler.getTask(null, null, diagnostic -> {}, List.of("-proc:none"), null, List.of(unit(file)));
        List<Violation> violations = new ArrayList<>();
        try {
            for (CompilationUnitTree tree : task.parse()) {
                Set<String> constants = new HashSet<>();
                new ConstantNames().scan(tree, constants);
                new Scanner(file, tree, Trees.instance(task).getSourcePositions(), constants, violations)
                        .scan(tree, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return violations;
    }

    private static JavaFileObject unit(SourceFile file) {
        URI uri = URI.create("string:///" + file.path().getFileName());
        return new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return file.text();
            }
        };
    }

    /// Names of variables declared in the file: a case label of such a name is a number or a text, not an enum.
    private static final class ConstantNames extends TreeScanner<@Nullable Void, Set<String>> {
        @Override
        public @Nullable Void visitVariable(VariableTree variable, Set<String> names) {
            if (variable.getInitializer() != null && variable.getType() != null) {
                names.add(variable.getName().toString());
            }
            return super.visitVariable(variable, names);
        }
    }

    private static final class Scanner extends TreeScanner<@Nullable Void, @Nullable Void> {
        private final SourceFile file;
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final Set<String> constants;
        private final List<Violation> violations;

        Scanner(
                SourceFile file,
                CompilationUnitTree unit,
                SourcePositions positions,
                Set<String> constants,
                List<Violation> violations) {
            this.file = file;
            this.unit = unit;
            this.positions = positions;
            this.constants = constants;
            this.violations = violations;
        }

        @Override
        public @Nullable Void visitMethod(MethodTree method, @Nullable Void nothing) {
            Tree body = method.getBody();
            if (body != null && lastLine(method) - firstLine(body) >= METHOD_LINES_MAX) {
                report(method, "a method has at most " + METHOD_LINES_MAX + " lines: " + method.getName());
            }
            return super.visitMethod(method, null);
        }

        @Override
        public @Nullable Void visitSwitch(SwitchTree tree, @Nullable Void nothing) {
            checkDefault(tree.getCases());
            return super.visitSwitch(tree, null);
        }

        @Override
        public @Nullable Void visitSwitchExpression(SwitchExpressionTree tree, @Nullable Void nothing) {
            checkDefault(tree.getCases());
            return super.visitSwitchExpression(tree, null);
        }

        private void checkDefault(List<? extends CaseTree> cases) {
            boolean closed = cases.stream().flatMap(c -> c.getLabels().stream()).anyMatch(this::isPatternOrEnum);
            if (!closed) {
                return;
            }
            for (CaseTree branch : cases) {
                if (branch.getLabels().stream().anyMatch(DefaultCaseLabelTree.class::isInstance)) {
                    report(branch, "a switch over a sealed type or an enum names every case and has no default");
                }
            }
        }

        private boolean isPatternOrEnum(Tree label) {
            if (label instanceof PatternCaseLabelTree) {
                return true;
            }
            return label instanceof ConstantCaseLabelTree constant
                    && constant.getConstantExpression() instanceof IdentifierTree identifier
                    && !constants.contains(identifier.getName().toString());
        }

        private void report(Tree tree, String rule) {
            violations.add(new Violation(file.path(), firstLine(tree), rule));
        }

        private int firstLine(Tree tree) {
            return file.lineAt((int) positions.getStartPosition(unit, tree));
        }

        private int lastLine(Tree tree) {
            return file.lineAt((int) positions.getEndPosition(unit, tree));
        }
    }
}
