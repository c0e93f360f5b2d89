import t from "tap";
import type {
  EventAnswer,
  EventRelay,
  FollowedEvents,
  RelayRequest,
} from "../src/index.js";
import { clientOf, startPool } from "./client.js";
import { answer, eventScript, follow, tokenOf } from "./event-script.js";
import { until } from "./fake-clock.js";
import type { FakeCall, FakeReply, FakeXapi } from "./fake-xapi.js";
import { readBatch } from "./read-batch.js";

const HOST = "OpaqueRef:4057aaaa-0000-4000-8000-000000000001";
const ISSUER = `${HOST} 1.`;

/** A pool that says when XAPI was started. */
function poolOf(
  replies: readonly FakeReply[],
  startedAt: string | undefined = "1.",
) {
  return eventScript(replies, ({ method }: FakeCall) => {
    switch (method) {
      case "event.inject":
        return { value: tokenOf(300) };
      case "pool.get_master":
        return { value: HOST };
      case "host.get_other_config":
        return { value: { agent_start_time: startedAt } };
      default:
        return undefined;
    }
  });
}

const isAborted = ({ signals }: RelayRequest) =>
  signals.some(({ aborted }) => aborted);

/** Answers `next` with each item in turn, then not until the request is aborted. */
function fakeRelay(
  answers: readonly (EventAnswer | undefined)[],
  atTheEnd: "wait" | "ask XAPI" = "wait",
) {
  const left = [...answers];
  const requests: RelayRequest[] = [];
  const published: [EventAnswer, FollowedEvents][] = [];
  const applied: string[] = [];
  let breaks = 0;
  const relay: EventRelay = {
    async next(request) {
      requests.push(request);
      if (left.length > 0) return left.shift();
      if (atTheEnd === "wait" && !isAborted(request))
        await new Promise((resolve) => {
          for (const signal of request.signals)
            signal.addEventListener("abort", resolve);
        });
      return undefined;
    },
    onAnswer: (given, followed) => published.push([given, followed]),
    onApplied: (token) => applied.push(token),
    onBreak: () => void breaks++,
  };
  return {
    relay,
    requests,
    published,
    applied,
    get breaks() {
      return breaks;
    },
  };
}

const idle = (n: number): EventAnswer => ({
  batches: [],
  token: tokenOf(n),
  validRefCounts: new Map([["VM", 1]]),
});

function polled({ calls }: FakeXapi) {
  return calls
    .filter(({ method }) => method === "event.from")
    .map(({ params }) => params[2]);
}

t.test(
  "a client takes the answers that another one has received, and sends no event.from",
  async (t) => {
    const pool = await startPool(t, poolOf([answer(201, { vm: 1 }, ["r1"])]));
    const first = fakeRelay([], "ask XAPI");
    const sender = clientOf(t, pool, { relay: first.relay, throttleMs: 0 });
    await sender.connect();
    const from = { from: tokenOf(200), issuer: ISSUER };
    const sent = follow(sender.events(from));
    await until(() => sent.items.length === 1);
    const [[published, followed]] = first.published as [
      [EventAnswer, FollowedEvents],
    ];
    t.same(followed, { issuer: ISSUER, classes: ["*"] });

    const second = fakeRelay([published, idle(202)]);
    const other = await startPool(t, poolOf([]));
    const receiver = clientOf(t, other, { relay: second.relay });
    await receiver.connect();
    const { items } = follow(receiver.events(from));
    await until(() => items.length === 2);
    t.match(items, [
      { kind: "changes", token: tokenOf(201) },
      { kind: "changes", token: tokenOf(202), batches: [] },
    ]);
    const [item] = items;
    if (item?.kind === "changes")
      t.match(item.batches.flatMap(readBatch), [
        { className: "VM", ref: "r1", record: { uuid: "r1" } },
      ]);
    await until(() => second.requests.length === 3);
    t.match(
      second.requests.map(({ token, issuer }) => [token, issuer]),
      [200, 201, 202].map((n) => [tokenOf(n), ISSUER]),
    );
    t.same(polled(other), []);
    t.same(second.published, [], "they are not passed on again");
    t.same(second.applied, [tokenOf(201), tokenOf(202)]);
    t.same(first.applied, [tokenOf(201)]);
  },
);

t.test(
  "a client requests events from XAPI from the last token when the relay has no answer",
  async (t) => {
    const pool = await startPool(t, poolOf([answer(203)]));
    const { relay, published } = fakeRelay([idle(201), undefined]);
    const xapi = clientOf(t, pool, { relay, throttleMs: 0 });
    await xapi.connect();
    const { items } = follow(
      xapi.events({ from: tokenOf(200), issuer: ISSUER }),
    );
    await until(() => items.length === 2);
    t.same(polled(pool), [tokenOf(201)]);
    t.match(items[1], { kind: "changes", token: tokenOf(203) });
    t.match(published, [[{ token: tokenOf(203) }, { issuer: ISSUER }]]);
  },
);

t.test(
  "a caller that waits for its own change does not wait for the relay",
  async (t) => {
    const pool = await startPool(t, poolOf([answer(301)]));
    const { relay, requests } = fakeRelay([]);
    const xapi = clientOf(t, pool, { relay, throttleMs: 0 });
    await xapi.connect();
    const { items } = follow(
      xapi.events({ from: tokenOf(200), issuer: ISSUER }),
    );
    await until(() => requests.length === 1);
    t.same(polled(pool), []);
    t.equal(await xapi.injectToken(), tokenOf(300));
    await until(() => items.length === 1);
    t.same(polled(pool), [tokenOf(200)]);
    t.ok(isAborted(requests[0]!));
    await until(() => requests.length === 2);
    t.equal(requests[1]!.token, tokenOf(301));
    t.notOk(isAborted(requests[1]!), "the change has been received");
  },
);

t.test(
  "a token whose issuer is not known is not passed to other clients",
  async (t) => {
    const pool = await startPool(t, poolOf([answer(201), answer(202)], ""));
    const { relay, requests, published } = fakeRelay([idle(201)]);
    const xapi = clientOf(t, pool, { relay, throttleMs: 0 });
    await xapi.connect();
    const { items } = follow(xapi.events({ from: tokenOf(200) }));
    await until(() => items.length === 2);
    t.same([requests.length, published.length], [0, 0]);
  },
);

t.test(
  "the relay is notified when a poll fails and when a stream ends",
  async (t) => {
    const pool = await startPool(
      t,
      poolOf([{ value: "not events" }, { error: ["EVENTS_LOST"] }]),
    );
    const lost = fakeRelay([undefined, undefined]);
    const xapi = clientOf(t, pool, { relay: lost.relay, throttleMs: 0 });
    await xapi.connect();
    const from = { from: tokenOf(200), issuer: ISSUER };
    const { items, ended } = follow(xapi.events(from));
    await ended;
    t.match(items, [{ kind: "lost", reason: "events-lost" }]);
    t.equal(lost.breaks, 3, "failed, lost and ended");
    const { length } = lost.requests;
    const abort = new AbortController();
    const { signal } = abort;
    const aborted = follow(xapi.events({ ...from, signal }));
    await until(() => lost.requests.length === length + 1);
    abort.abort();
    await aborted.ended;
    t.equal(lost.breaks, 4);
  },
);
