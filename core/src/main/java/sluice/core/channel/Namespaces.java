package sluice.core.channel;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.session.Identity;

/// The declared namespaces. A channel of any other is refused, never public.
public final class Namespaces {
    /// Longest channel name, in characters.
    public static final int NAME_CHARS_MAX = 256;

    private final Map<String, Namespace> byName;

    public Namespaces(List<Namespace> declared) {
        Map<String, Namespace> map = new LinkedHashMap<>();
        for (Namespace namespace : declared) {
            map.put(namespace.name(), namespace);
        }
        byName = Collections.unmodifiableMap(map);
    }

    /// What is known about a join without asking anybody.
    public sealed interface Decision {
        record Admitted() implements Decision {}

        record Ask(HookKey key) implements Decision {}
    }

    /// Everything before the first `:`, null without one.
    public static @Nullable String namespace(String channel) {
        int colon = channel.indexOf(':');
        return colon < 0 ? null : channel.substring(0, colon);
    }

    /// The namespace's name if it is declared: what may name a metric.
    public @Nullable String declared(String channel) {
        String name = namespace(channel);
        return name != null && byName.containsKey(name) ? name : null;
    }

    /// @throws RequestException `UNKNOWN_NAMESPACE`, `INVALID_SUBSCRIPTION` or `CHANNEL_NOT_AUTHORIZED`
    public Decision decide(String channel, Identity caller) {
        String name = namespace(channel);
        Namespace namespace = name == null ? null : byName.get(name);
        if (name == null || namespace == null) {
            throw new RequestException(
                    ErrorCode.UNKNOWN_NAMESPACE,
                    name == null
                            ? "a channel is written namespace:name"
                            : "namespace \"" + name + "\" is not declared");
        }
        if (channel.length() == name.length() + 1) {
            throw new RequestException(ErrorCode.INVALID_SUBSCRIPTION, "the channel has no name after its namespace");
        }
        return switch (namespace.admission()) {
            case Namespace.Admission.Everyone() -> new Decision.Admitted();
            case Namespace.Admission.Owner() -> owned(channel, caller);
            case Namespace.Admission.Hook(var url) -> new Decision.Ask(HookKey.of(url, channel, caller));
        };
    }

    private static Decision owned(String channel, Identity caller) {
        String subject = caller.subject();
        if (subject == null || subject.isEmpty() || !channel.endsWith(":" + subject)) {
            throw new RequestException(ErrorCode.CHANNEL_NOT_AUTHORIZED, "the channel belongs to another subject");
        }
        return new Decision.Admitted();
    }
}
