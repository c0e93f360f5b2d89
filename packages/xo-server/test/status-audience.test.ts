import t from "tap";
import type { Predicate } from "@xo-server/inventory";
import { createAudiences } from "../src/boot/status-audience.js";
import type { Client } from "../src/auth/sessions/client.js";
import type { PoolStatus, Status } from "../src/status/status.js";

const POOLS = 100;

function createStatus(): Status {
  const pools = Array.from({ length: POOLS }, (_, i) => {
    const id = `pool-${i}`;
    return [id, { id, pool: id } as PoolStatus] as const;
  });
  return { pools: Object.fromEntries(pools) } as unknown as Status;
}

t.test("readers with equal rights share one look at the pools", async (t) => {
  const even: Predicate = () => true;
  const odd: Predicate = () => true;
  let rights = (index: number): Predicate => (index % 2 === 0 ? even : odd);
  let looks = 0;
  const audienceOf = createAudiences({
    demo: false,
    readablePools: ({ client }) =>
      rights((client as unknown as { index: number }).index),
    matches(uuid, test) {
      looks++;
      return Number(uuid.slice("pool-".length)) % 2 === (test === even ? 0 : 1);
    },
  });
  const readers = Array.from({ length: 1_000 }, (_, index) => ({
    client: { index, session: {} } as unknown as Client,
  }));
  const keysOf = (status: Status) =>
    readers.map((reader) => audienceOf(reader, status).key);
  const status = createStatus();
  const keys = keysOf(status);
  t.equal(looks, 2 * POOLS);
  t.match(keys[0], /pool-0 .*pool-98/);
  t.match(keys[1], /pool-1 .*pool-99/);
  t.equal(new Set(keys).size, 2);

  rights = () => odd;
  t.same(new Set(keysOf(status)), new Set([keys[1]]), "changed rights count");

  keysOf(createStatus());
  t.equal(looks, 3 * POOLS, "a later status is looked through again");
});
