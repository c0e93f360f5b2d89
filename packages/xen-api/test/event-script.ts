import type { XapiEvents } from "../src/index.js";
import { poolScript, type FakeCall, type FakeReply } from "./fake-xapi.js";

export const tokenOf = (n: number) =>
  `${String(n).padStart(20, "0")},${"0".repeat(20)}`;

export function answer(
  n: number,
  counts: object = { vm: 1 },
  refs: readonly string[] = [],
): FakeReply {
  const events = refs.map((ref) => ({
    id: String(n),
    timestamp: "0.0",
    class: "vm",
    operation: "mod",
    ref,
    snapshot: { uuid: ref },
  }));
  return { value: { events, valid_ref_counts: counts, token: tokenOf(n) } };
}

/** Answers event.from with each item in turn, then not at all. */
export function eventScript(
  replies: readonly (FakeReply | ((call: FakeCall) => FakeReply))[],
  more: (call: FakeCall) => FakeReply | undefined = () => undefined,
) {
  const left = [...replies];
  return poolScript((call) => {
    const special = more(call);
    if (special !== undefined || call.method !== "event.from") return special;
    const reply = left.shift() ?? { silent: true };
    return typeof reply === "function" ? reply(call) : reply;
  });
}

/** Collects the items of a stream in the background. */
export function follow(events: AsyncIterable<XapiEvents>) {
  const items: XapiEvents[] = [];
  const ended = (async () => {
    for await (const item of events) items.push(item);
  })();
  return { items, ended };
}
