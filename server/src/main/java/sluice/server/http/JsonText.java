package sluice.server.http;

import com.fasterxml.jackson.core.io.JsonStringEncoder;

/// Text as JSON, for the few short members written by hand.
final class JsonText {
    private JsonText() {}

    static String quote(String text) {
        return "\"" + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + "\"";
    }
}
