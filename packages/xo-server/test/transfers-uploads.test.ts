import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { PassThrough, pipeline } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import { XoError } from "@xo-server/model";
import { HeldLease } from "../src/cluster/held-lease.js";
import { FakeClock } from "./fake-clock.js";
import { setUp, MiB, subject, sha256 } from "./transfer-server.js";

t.test("an upload streams through, and its result is reported", async (t) => {
  const { transfers, url, outcome } = await setUp(t);
  const bytes = randomBytes(3 * MiB);
  const got: Buffer[] = [];
  const { $sendTo } = await transfers.offerUpload(
    subject,
    async ({ body, length }) => {
      t.equal(length, bytes.length);
      for await (const chunk of body) got.push(chunk as Buffer);
      return "made";
    },
  );
  t.equal((await fetch(url + $sendTo)).status, 404, "it is not a download");
  const answer = await fetch(url + $sendTo, { method: "POST", body: bytes });
  t.same(await answer.json(), { jsonrpc: "2.0", id: 0, result: "made" });
  t.ok(bytes.equals(Buffer.concat(got)));
  t.match((await outcome()).params, { bytes: 3 * MiB });
  const again = await fetch(url + $sendTo, { method: "POST", body: bytes });
  t.equal(again.status, 404);
});

t.test(
  "an upload that its reader refuses in the middle is answered with the reason",
  async (t) => {
    const { transfers, url, outcome } = await setUp(t);
    const { $sendTo } = await transfers.offerUpload(
      subject,
      async ({ body }) => {
        // As a worker does that has read enough: its pipe is closed before its reason is known.
        const input = new PassThrough();
        pipeline(body, input, () => undefined);
        await once(input, "data");
        input.destroy();
        while (!body.closed) await nextTurn();
        throw new XoError("INVALID_PARAMETERS", { reason: "a disk of zeros" });
      },
    );
    const answer = await fetch(url + $sendTo, {
      method: "POST",
      body: randomBytes(3 * MiB),
    });
    t.equal(answer.status, 422);
    t.match(await answer.text(), "a disk of zeros");
    t.match((await outcome()).outcome, {
      error: { code: "INVALID_PARAMETERS" },
    });
  },
);

t.test("an upload that is refused is answered", async (t) => {
  const { transfers, url, outcome } = await setUp(t);
  const { $sendTo } = await transfers.offerUpload(subject, async ({ body }) => {
    await new Promise((resolve) => body.once("readable", resolve));
    throw new Error("no");
  });
  const body = randomBytes(8 * MiB);
  const answer = await fetch(url + $sendTo, { method: "POST", body });
  t.equal(answer.status, 499);
  t.match((await outcome()).outcome, { error: { code: "ABORTED" } });
});

t.test(
  "an upload whose task another server has adopted is not reported as successful",
  async (t) => {
    const fence = { subject: "server/here", owner: "here", epoch: 1 };
    for (const isReceived of [false, true]) {
      const lease = new HeldLease(fence, new FakeClock(), Infinity);
      const { transfers, url, outcome, store, clock } = await setUp(t, lease);
      const { $sendTo } = await transfers.offerUpload(subject, async () => {
        // The database is cut off; later another server has the lease.
        while (store.rows.size === 0) await nextTurn();
        store.isGone = true;
        setImmediate(() => {
          if (!isReceived) lease.lose();
        });
        if (!isReceived) return new Promise(() => undefined);
        return "made";
      });
      const sent = fetch(url + $sendTo, { method: "POST", body: "x" });
      let isAnswered = false;
      void sent.then(() => (isAnswered = true));
      while (!store.isGone) await nextTurn();
      if (isReceived) {
        for (let i = 0; i < 20; i++) {
          await nextTurn();
          clock.pass(100);
        }
        t.notOk(isAnswered, "while its end is not stored");
        lease.lose();
      }
      while (!isAnswered) {
        await nextTurn();
        clock.pass(100);
      }
      const answer = (await (await sent).json()) as object;
      t.match(answer, { error: /^another server has taken over/ });
      t.match((await outcome()).outcome, {
        error: { code: "TASK_TAKEN_OVER" },
      });
    }
  },
);

t.test(
  "an upload cleans up if another server has adopted its task, or its task could not be stored",
  async (t) => {
    const fence = { subject: "server/here", owner: "here", epoch: 1 };
    for (const isStored of [true, false]) {
      const lease = new HeldLease(fence, new FakeClock(), Infinity);
      const { transfers, url, store } = await setUp(t, lease);
      let reason: unknown;
      const { $sendTo } = await transfers.offerUpload(
        subject,
        async (_delivery, work) => {
          while (isStored && store.rows.size === 0) await nextTurn();
          store.isGone = true;
          const persisted = work.persistState({ disk: "d" });
          if (isStored) setImmediate(() => lease.lose());
          await persisted.catch((error: unknown) => {
            reason = error;
            throw error;
          });
        },
      );
      await fetch(url + $sendTo, { method: "POST", body: "x" });
      t.match(
        reason,
        isStored ? { code: "TASK_TAKEN_OVER" } : { message: "gone" },
      );
    }
  },
);

t.test(
  "upload: the response distinguishes received from sent bytes",
  async (t) => {
    const bytes = randomBytes(3 * MiB);
    const digest = `sha-256=:${sha256(bytes).toString("base64")}:`;
    const send = async (
      body: Buffer<ArrayBuffer>,
      headers: Record<string, string>,
    ) => {
      const { transfers, url } = await setUp(t);
      let got = 0;
      const { $sendTo } = await transfers.offerUpload(
        subject,
        async ({ body }) => {
          for await (const chunk of body) got += (chunk as Buffer).length;
          return "made";
        },
      );
      const request = { method: "POST", body, headers };
      const answer = await fetch(url + $sendTo, request);
      return { got, status: answer.status, text: await answer.text() };
    };
    const whole = await send(bytes, { "repr-digest": digest });
    t.match(whole, { status: 200, got: bytes.length });
    const wrong = Buffer.from(bytes);
    wrong[5]! ^= 1;
    const refused = await send(wrong, { "repr-digest": digest });
    t.match(refused, { status: 422, text: /SHA-256/ });
    t.ok(
      refused.got < bytes.length,
      "it cannot be mistaken for a complete one",
    );
    for (const odd of ["md5=:AAAA:", "sha-256=:AAAA:", "x"])
      t.match(await send(bytes, { "repr-digest": odd }), {
        status: 422,
        got: 0,
        text: /sha-256/,
      });
  },
);
