import t from "tap";
import type { Steps, StoredObject } from "@xo-server/inventory";
import { HostVersions } from "../src/updates/host-versions.js";

interface Host {
  readonly pool: string;
  readonly ref: string;
  version: string;
  revision: number;
}

/** An inventory with these hosts that counts how many records are read in each step of the slicer. */
class FakeInventory {
  readonly hosts: Host[];
  readsByStep: number[] = [];
  #reads = 0;

  constructor(hosts: readonly Host[]) {
    this.hosts = [...hosts];
  }

  get reads(): number {
    return this.readsByStep.reduce((sum, reads) => sum + reads, 0);
  }

  list(_: string, { poolId }: { readonly poolId?: string } = {}) {
    return this.hosts.filter(
      ({ pool }) => pool === poolId,
    ) as unknown as StoredObject[];
  }

  peek(pool: string, _: string, ref: string) {
    this.#reads++;
    const host = this.hosts.find((one) => one.pool === pool && one.ref === ref);
    return { software_version: { product_version: host?.version } };
  }

  async runInSlices(_: string, steps: Steps): Promise<void> {
    for (let isDone = false; !isDone; this.#reads = 0) {
      isDone = steps.next().done === true;
      this.readsByStep.push(this.#reads);
    }
  }
}

const hostOf = (pool: string, ref: string, version: string): Host => {
  return { pool, ref, version, revision: 1 };
};

t.test("pools whose hosts run different versions are counted", async (t) => {
  const inventory = new FakeInventory([
    hostOf("a", "1", "8.2"),
    hostOf("a", "2", "8.3"),
    hostOf("b", "1", "8.3"),
    hostOf("b", "2", "8.3"),
    hostOf("c", "1", "8.2"),
    hostOf("c", "2", "8.3"),
  ]);
  const versions = new HostVersions(inventory);
  t.equal(await versions.countDifferent(["a", "b"]), 1, "c is not connected");
  t.equal(await versions.countDifferent(["a", "b", "c"]), 2);
  t.equal(await versions.countDifferent([]), 0);
});

t.test("a host is read when it has changed, one in a step", async (t) => {
  const hosts = Array.from({ length: 50 }, (_, i) =>
    hostOf("a", String(i), "8.3"),
  );
  const inventory = new FakeInventory(hosts);
  const versions = new HostVersions(inventory);
  t.equal(await versions.countDifferent(["a"]), 0);
  t.equal(inventory.reads, 50);
  t.equal(Math.max(...inventory.readsByStep), 1);

  inventory.readsByStep = [];
  t.equal(await versions.countDifferent(["a"]), 0);
  t.equal(inventory.reads, 0, "nothing has changed");

  Object.assign(hosts[7]!, { version: "8.4", revision: 2 });
  t.equal(await versions.countDifferent(["a"]), 1);
  t.equal(inventory.reads, 1);

  inventory.hosts.splice(7, 1);
  t.equal(await versions.countDifferent(["a"]), 0, "the host was removed");
});
