/// Channels: who may join one, who is present in it, and what is said in it. Takes joins, messages and verdicts;
/// gives decisions and encoded events. Never decides by anything but the declared namespace.
@NullMarked
package sluice.core.channel;

import org.jspecify.annotations.NullMarked;
