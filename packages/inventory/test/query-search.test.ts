import t from "tap";
import { createQueries } from "@xo-server/inventory";
import { createFakeCatalog, FakeViewTable } from "./fake-view-table.js";

t.test("ids are found by eight characters, not by two", async (t) => {
  const table = new FakeViewTable();
  const id = "64f47184-802c-48bd-a62f-84a1ac1a33db";
  for (const object of [
    { id, type: "VM", name_label: "web" },
    { id: "0", type: "VM", name_label: "db" },
  ])
    table.put(object);
  table.flush();
  const queries = createQueries(createFakeCatalog(table), {
    searchedOf: () => ["id", "name_label"],
  });
  t.teardown(() => {
    queries.stop();
  });
  const found = async (search: string) =>
    (await queries.page({ type: "VM", search })).ids;
  t.same(await found("db"), ["0"]);
  t.same(await found("64f47184"), [id]);
  t.same(await found("web 1ac1a33db"), [id]);
});
