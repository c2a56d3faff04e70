package sluice.server.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sluice.core.channel.Namespace;

/// `SLUICE_CHANNELS`: `name:public`, `name:owner` and `name:hook:url`, comma-separated.
final class NamespaceList {
    private static final String HOW = "write name:public, name:owner or name:hook:https://host/path, comma-separated";

    private NamespaceList() {}

    /// @param problems what is wrong goes here; nothing of a value is repeated, since a URL may hold a secret
    static List<Namespace> read(String text, Problems problems) {
        List<Namespace> namespaces = new ArrayList<>();
        Set<String> names = new LinkedHashSet<>();
        for (String part : text.split(",", -1)) {
            Namespace namespace = namespace(part.strip());
            if (namespace == null) {
                problems.add(Setting.CHANNELS, "holds an entry that declares no namespace", HOW);
            } else if (!names.add(namespace.name())) {
                problems.add(Setting.CHANNELS, "declares a namespace twice", "declare each namespace once");
            } else {
                namespaces.add(namespace);
            }
        }
        return namespaces;
    }

    private static @Nullable Namespace namespace(String entry) {
        String[] parts = entry.split(":", 3);
        if (parts.length < 2 || !parts[0].matches("[A-Za-z0-9_.-]{1,64}")) {
            return null;
        }
        Namespace.Admission admission = switch (parts[1]) {
            case "public" -> parts.length == 2 ? new Namespace.Admission.Everyone() : null;
            case "owner" -> parts.length == 2 ? new Namespace.Admission.Owner() : null;
            case "hook" -> parts.length == 3 && isWebAddress(parts[2]) ? new Namespace.Admission.Hook(parts[2]) : null;
            default -> null;
        };
        return admission == null ? null : new Namespace(parts[0], admission);
    }

    private static boolean isWebAddress(String text) {
        try {
            URI uri = new URI(text);
            boolean web = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            return web && uri.getHost() != null && uri.getUserInfo() == null && uri.getFragment() == null;
        } catch (URISyntaxException e) {
            return false;
        }
    }
}
