package sluice.core.dispatch;

/// Takes the engine's effects, on the engine's thread; must never wait.
@FunctionalInterface
public interface EffectSink {
    void emit(Effect effect);
}
