import t from "tap";
import { clientOf, startPool } from "./client.js";
import { httpAnswer, poolScript } from "./fake-xapi.js";
import { json } from "./answer-texts.js";

t.test(
  "chunked bodies and bodies ended by closing, as a proxy sends them, are read",
  async (t) => {
    const body = json('["one","two"]');
    const chunks = [...body].map((letter) => `1;x=y\r\n${letter}\r\n`).join("");
    for (const raw of [
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\ncontent-type: application/json\r\n\r\n${chunks}0\r\nTrailer: x\r\n\r\n`,
      `HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${body}`,
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]) {
      const pool = await startPool(
        t,
        poolScript(({ method }) =>
          method === "VM.get_all" ? { raw } : undefined,
        ),
      );
      const xapi = clientOf(t, pool);
      await xapi.connect();
      t.same(await xapi.call("VM.get_all"), ["one", "two"]);
    }
    const pool = await startPool(
      t,
      poolScript(({ method }) =>
        method === "VM.get_all"
          ? {
              raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            }
          : undefined,
      ),
    );
    const xapi = clientOf(t, pool);
    await xapi.connect();
    await t.rejects(xapi.call("VM.get_all"), {
      code: "BAD_ANSWER",
      data: { reason: /chunk/ },
    });
  },
);

t.test("framing of chunks counts as part of the answer", async (t) => {
  const chunks = "1\r\n \r\n".repeat(500);
  const pool = await startPool(
    t,
    poolScript(({ method }) =>
      method === "VM.get_all"
        ? {
            raw: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
          }
        : undefined,
    ),
  );
  const xapi = clientOf(t, pool, { maxValueBytes: 2_000 });
  await xapi.connect();
  await t.rejects(xapi.call("VM.get_all"), {
    code: "ANSWER_TOO_LARGE",
    data: { limit: 2_000 },
  });
});

t.test("an answer that arrives byte by byte is read", async (t) => {
  const answer = httpAnswer(
    json('{"OpaqueRef:1":{"uuid":"ü","name_label":"x"}}'),
  );
  const pool = await startPool(
    t,
    poolScript(({ method, socket }) => {
      if (method !== "VM.get_all_records") return undefined;
      socket.setNoDelay(true);
      const drip = async () => {
        for (const byte of answer) {
          socket.write(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      void drip();
      return { silent: true };
    }),
  );
  const xapi = clientOf(t, pool);
  await xapi.connect();
  t.match(await xapi.listRecords("VM", { onBatch: () => undefined }), {
    records: 1,
  });
});
