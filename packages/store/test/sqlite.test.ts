import t from "tap";
import { testStore } from "@xo-server/store/conformance";
import { migratedSqliteHarness } from "./sqlite-harness.js";

t.test("SQLite", (t) => testStore(t, migratedSqliteHarness));
