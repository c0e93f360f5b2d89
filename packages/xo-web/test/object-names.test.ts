import type { Json } from "@xo-server/kit";
import t from "tap";
import { ObjectNames } from "../src/objects/use-name.js";
import { settled } from "./fake-server.js";

function startNames() {
  const calls: { type: string; answer: (rows: Json) => Promise<void> }[] = [];
  const names = new ObjectNames(
    (_method, params) =>
      new Promise((resolve, reject) => {
        calls.push({
          type: (params as { type: string }).type,
          answer(rows) {
            if (rows === null) reject(new Error("disconnected"));
            else resolve({ rows });
            return settled();
          },
        });
      }),
  );
  const request = async (type: string, id: string) => {
    names.request(type, id);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { names, calls, request };
}

t.test("a name is pending until each type has answered", async (t) => {
  const { names, calls, request } = startNames();
  await request("VM", "a");
  await request("host", "a");
  t.ok(names.isPending("VM", "a"));
  await calls[0]!.answer([]);
  t.notOk(names.isPending("VM", "a"));
  t.ok(names.isHidden("VM", "a"));
  t.ok(names.isPending("host", "a"), "it may be a host");
  t.notOk(names.isHidden("host", "a"));
  await calls[1]!.answer([{ id: "a", name_label: "\u202eh1" }]);
  t.equal(names.get("a"), "h1", "without direction controls");
  t.notOk(names.isPending("host", "a"));
});

t.test("without an answer the id is shown, not a hidden object", async (t) => {
  const { names, calls, request } = startNames();
  await request("VM", "a");
  await calls[0]!.answer(null);
  t.notOk(names.isPending("VM", "a"));
  t.notOk(names.isHidden("VM", "a"));
});
