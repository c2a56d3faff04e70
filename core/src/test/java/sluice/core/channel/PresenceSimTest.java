package sluice.core.channel;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sluice.core.error.ErrorCode;
import sluice.core.error.RequestException;
import sluice.core.event.PassingEvent;
import sluice.core.stream.ChannelSubscription;

/// Presence against a list kept the plain way: whoever has the `state` of his joining and every difference since
/// holds the list, whatever happened in between.
class PresenceSimTest {
    private static final Duration EVERY = Duration.ofMillis(100);
    private static final List<String> SUBJECTS = List.of("alice", "bob", "carol", "dave");
    private static final int KEYS_MAX = 3;

    /// What one stream holds by what it was told.
    private static final class Client {
        private final ChannelSubscription subscription;
        private final Map<String, JsonNode> members = new LinkedHashMap<>();

        Client(ChannelSubscription subscription) {
            this.subscription = subscription;
        }

        void hear(PassingEvent event) {
            JsonNode data = ChannelStreams.read(subscription, event);
            if (data.path("type").asText().equals("state")) {
                members.clear();
                data.path("members").properties().forEach(member -> members.put(member.getKey(), member.getValue()));
            }
            data.path("joins").properties().forEach(member -> members.put(member.getKey(), member.getValue()));
            data.path("leaves").properties().forEach(member -> members.remove(member.getKey()));
            data.path("joins")
                    .fieldNames()
                    .forEachRemaining(
                            name -> assertThat(data.path("leaves").has(name)).isFalse());
        }
    }

    /// One live entry, the latest last.
    private record Entry(String key, Client by, String meta) {}

    private final List<Client> clients = new ArrayList<>();
    private final List<Entry> entries = new ArrayList<>();
    private final ChannelIndex channels = new ChannelIndex(EVERY, KEYS_MAX);
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private int made;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void state_and_differences_are_the_list(long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < 3000; step++) {
            act(random);
            if (random.nextInt(8) == 0) {
                now = now.plus(EVERY);
                channels.diffs(now, this::deliver);
                for (Client client : clients) {
                    assertThat(shown(client)).as("seed %s step %s", seed, step).isEqualTo(list());
                }
            }
        }
    }

    private void act(Random random) {
        if (clients.isEmpty() || (clients.size() < 8 && random.nextInt(4) == 0)) {
            ChannelSubscription joined =
                    ChannelStreams.join("s" + made++, SUBJECTS.get(random.nextInt(SUBJECTS.size())), "room:1");
            channels.join(joined);
            Client client = new Client(joined);
            client.hear(channels.state(joined));
            clients.add(client);
            return;
        }
        Client client = clients.get(random.nextInt(clients.size()));
        String key = String.valueOf(client.subscription.stream().identity().subject());
        switch (random.nextInt(4)) {
            case 0 -> {
                channels.leave(client.subscription, now);
                clients.remove(client);
                entries.removeIf(entry -> entry.by() == client);
            }
            case 1 -> {
                channels.untrack(key, client.subscription, now);
                entries.removeIf(entry -> entry.by() == client);
            }
            default -> track(client, key);
        }
    }

    private void track(Client client, String key) {
        String meta = String.valueOf(made++);
        boolean full = list().size() >= KEYS_MAX && !list().containsKey(key);
        try {
            channels.track(key, client.subscription, meta.getBytes(StandardCharsets.US_ASCII), now);
            assertThat(full).isFalse();
            entries.removeIf(entry -> entry.by() == client);
            entries.add(new Entry(key, client, meta));
        } catch (RequestException refused) {
            assertThat(full).isTrue();
            assertThat(refused.code()).isEqualTo(ErrorCode.PRESENCE_TOO_MANY_KEYS);
        }
    }

    private void deliver(ChannelSubscription to, PassingEvent event) {
        clients.stream().filter(client -> client.subscription == to).forEach(client -> client.hear(event));
    }

    private Map<String, String> list() {
        Map<String, String> list = new LinkedHashMap<>();
        entries.forEach(entry -> list.put(entry.key(), entry.meta()));
        return list;
    }

    private static Map<String, String> shown(Client client) {
        Map<String, String> shown = new LinkedHashMap<>();
        client.members.forEach(
                (key, member) -> shown.put(key, member.path("meta").asText()));
        return shown;
    }
}
