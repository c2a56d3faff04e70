package sluice.core.datum;

import sluice.core.value.Oid;

/// `json`: the text as it was written. It has no order, not even equality.
final class JsonType extends CharactersType {
    JsonType() {
        super(Oid.JSON, 199, "pg_catalog.json", Storage.variable());
    }

    @Override
    public String input(String text) {
        JsonReader.read(text, JsonReader.Escapes.SKIPPED);
        return text;
    }

    @Override
    public boolean isOrdered() {
        return false;
    }

    @Override
    public int compare(String left, String right) {
        throw new UndecidableException();
    }
}
