import { createQueries, type LiveUpdate } from "@xo-server/inventory";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { createFakeCatalog, FakeViewTable } from "./fake-view-table.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const CHANGES = 1_000;

t.test(
  "however often the objects of a live query change, no earlier versions are kept",
  async (t) => {
    const table = new FakeViewTable();
    const put = (load: number) => {
      for (const id of ["a", "b", "c"])
        table.put({ id, type: "VM", name_label: id, load });
      table.flush();
    };
    put(0);
    const quiet = () => undefined;
    const queries = createQueries(createFakeCatalog(table), {
      clock: new FakeClock(),
      searchedOf: () => ["name_label"],
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    });
    const sent: WeakRef<Buffer>[] = [];
    const onUpdate = ({ patches }: LiveUpdate) => {
      for (const patch of patches.values()) sent.push(new WeakRef(patch));
    };
    const fields = ["name_label", "load"];
    const request = { type: "VM", offset: 0, limit: 10, fields };
    const live = await queries.live(request, onUpdate);
    for (let i = 1; i <= CHANGES; i++) {
      put(i);
      await table.run(oneStep());
      // References of this turn end with it.
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal(sent.length, 3 * CHANGES);
    collectGarbage();
    const kept = sent.filter((one) => one.deref() !== undefined).length;
    t.ok(kept <= 2 * 3, `${kept} of ${sent.length} patches are in memory`);
    live.close();
    queries.stop();
  },
);

function* oneStep() {
  yield;
}
