import { join } from "node:path";
import t from "tap";
import {
  limitConnections,
  readMaxOpenFiles,
} from "../src/limits/open-files.js";

t.test("the limit of open files is read", async (t) => {
  const dir = t.testdir({
    limits:
      "Limit  Soft Limit  Hard Limit  Units\nMax open files            4096                 8192                 files\n",
    none: "Max open files            unlimited            unlimited            files\n",
  });
  t.equal(readMaxOpenFiles(join(dir, "limits")), 4096);
  t.equal(readMaxOpenFiles(join(dir, "none")), undefined);
  t.equal(readMaxOpenFiles(join(dir, "absent")), undefined);
});

t.test("some open files are reserved for the server itself", async (t) => {
  t.equal(limitConnections(20_000, undefined), 20_000);
  t.equal(limitConnections(20_000, 1_000_000), 20_000);
  t.equal(limitConnections(20_000, 4_096), 3_840);
  t.equal(limitConnections(20_000, 256), 128);
  t.equal(limitConnections(10, 256), 10);
});
